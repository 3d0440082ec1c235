"""Caches that stop growing: who stands in which slot, and how far the outputs move."""

from dataclasses import dataclass
from functools import cached_property

from torch import Tensor

from explainers.attention.cache.windows import sinks_and_window, slot_of
from explainers.chapters.kv_cache.reading import CAUSAL, DrawnText, make_reader, measure_gap
from explainers.charts.matrix import Matrix, Values
from explainers.charts.theme import TOKEN_AXIS
from explainers.messages import ngettext
from explainers.translations import _
from explainers.ui.figure.panels import Figure, Panel
from explainers.ui.text.numbers import bound_rounding


def trace_slots(words: int, sinks: int, window: int) -> list[list[float | None]]:
    """A row per slot, a column per word read: the number of the word whose row stands there."""
    held: list[float | None] = [None] * (sinks + window)
    columns = []
    for word in range(words):
        held[slot_of(word, sinks, window)] = word + 1.0
        columns.append(list(held))
    return [list(row) for row in zip(*columns, strict=True)]


@dataclass(frozen=True)
class BoundedCaches:
    """A text read with a ring of slots, alone and beside slots for the first words."""

    run: DrawnText
    window: int
    sinks: int

    @property
    def slots(self) -> int:
        """Of the ring and of the first words."""
        return self.sinks + self.window

    @cached_property
    def full(self) -> Tensor:
        """The outputs with every row stored (tokens, d_model)."""
        return self.run.compute_outputs(CAUSAL)

    @cached_property
    def rings(self) -> tuple[Tensor, Tensor]:
        """The outputs with the ring alone, and with the first words beside it."""
        return self.run.compute_ring_outputs(self.window, 0), self.run.compute_ring_outputs(
            self.slots, self.sinks
        )

    @property
    def lost(self) -> list[list[float]]:
        """By word: how far both are from the outputs with every row."""
        return [_measure_loss(ring, self.full) for ring in self.rings]

    def ask_slot(self) -> tuple[str, list[str], dict[str, object]]:
        """Where the ring's next row goes, some answers, and the numbers of the question."""
        window = self.window
        slot = f"{slot_of(window, 0, window)}"
        named = {"window": window, "last": window - 1, "next": window + 1, "slot": slot}
        return slot, ["0", f"{window - 1}", f"{window}"], named

    def name_sizes(self) -> dict[str, object]:
        """What the caches hold and what they lose, for a text."""
        rules = (make_reader(sinks_and_window(sinks, self.window)) for sinks in (0, self.sinks))
        pairs = zip(self.rings, map(self.run.compute_outputs, rules), strict=True)
        without, with_sinks = ((ring - self.full).abs().max().item() for ring in self.rings)
        return {
            "rows": _(ngettext("{count:,} row", "{count:,} rows", self.window)),
            "slots": self.slots,
            "same": bound_rounding(max(measure_gap(ring, masked) for ring, masked in pairs)),
            "without": f"{without:.2f}",
            "sinks": _(ngettext("{count:,} first word", "{count:,} first words", self.sinks)),
            "with_sinks": f"{with_sinks:.2f}",
        }


def draw_slots(caches: BoundedCaches) -> Figure:
    """Whose row is in which slot of both caches."""
    run, window, sinks = caches.run, caches.window, caches.sinks
    alone = _("ring of {window}", window=window)
    beside = _(
        "{sinks} + ring of {window}",
        sinks=_(ngettext("{count:,} sink", "{count:,} sinks", sinks)),
        window=window,
    )
    panels = [
        Panel("ring", _make_slot_matrix(run, alone, 0, window)),
        Panel("sinks", _make_slot_matrix(run, beside, sinks, window)),
    ]
    alt = _("Which word's row stands in which slot, word by word.")
    return Figure(panels, alt)


def _make_slot_matrix(run: DrawnText, name: str, sinks: int, window: int) -> Matrix:
    words = len(run.tokens)
    values: Values = trace_slots(words, sinks, window)
    rows = [_("{n}: sink", n=n) if n < sinks else f"{n}" for n in range(sinks + window)]
    formula = _("{slots} rows of memory for any text; a number names a word", slots=sinks + window)
    axes = _("slot"), TOKEN_AXIS
    return Matrix(name, formula, values, rows, run.tokens, *axes, limit=words, decimals=0)


def _measure_loss(outputs: Tensor, full: Tensor) -> list[float]:
    return [float(each) for each in (outputs - full).abs().amax(dim=-1)]
