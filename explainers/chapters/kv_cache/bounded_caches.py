"""Caches that stop growing: who stands in which slot, and how far the outputs move."""

from torch import Tensor

from explainers.attention.cache.step_costs import cache_bytes
from explainers.attention.cache.windows import put, read_ring, sinks_and_window, slot_of
from explainers.chapters.common.number_words import bound_rounding
from explainers.chapters.kv_cache import takeaway as taken
from explainers.chapters.kv_cache.cost_curves import LENGTHS, origin
from explainers.chapters.kv_cache.reading import CAUSAL, Written, gap, reading
from explainers.charts.matrix import Matrix, Values
from explainers.charts.theme import TOKEN_AXIS
from explainers.messages import ngettext
from explainers.translations import _
from explainers.ui.figure.chart import show_chart
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Figure, Panel
from explainers.ui.page import Prose
from explainers.ui.page_parts.veil import ask_veiled
from explainers.ui.source import show_source


def slots_over_time(words: int, sinks: int, window: int) -> list[list[float | None]]:
    """A row per slot, a column per word read: the number of the word whose row stands there."""
    held: list[float | None] = [None] * (sinks + window)
    columns = []
    for word in range(words):
        held[slot_of(word, sinks, window)] = word + 1.0
        columns.append(list(held))
    return [list(row) for row in zip(*columns, strict=True)]


def show_windows(text: Prose, run: Written, window: int, sinks: int) -> None:
    """Where a row is written, veiled; then two caches of fixed size, and what they lose."""
    words, slots = len(run.tokens), sinks + window
    answer = f"{slot_of(window, 0, window)}"
    options = ["0", f"{window - 1}", f"{window}"]
    ask_veiled(
        text,
        "windows",
        answer,
        options,
        window=window,
        last=window - 1,
        next=window + 1,
        slot=answer,
    )
    full = run.outputs(CAUSAL)
    ring, with_sinks = run.ring_outputs(window, 0), run.ring_outputs(slots, sinks)
    lost = {_("window"): _lost(ring, full), _("with sinks"): _lost(with_sinks, full)}
    taken.take_windows(run, window, sinks, [*lost.values()])
    alone = _("ring of {window}", window=window)
    beside = _(
        "{sinks} + ring of {window}",
        sinks=_(ngettext("{count:,} sink", "{count:,} sinks", sinks)),
        window=window,
    )
    panels = [
        Panel("ring", _slots(run, alone, 0, window), heading=_("Whose row is where")),
        Panel("sinks", _slots(run, beside, sinks, window)),
        Panel("lost", _losses(run, lost), heading=_("What is lost")),
    ]
    alt = _("Which word's row stands in which slot, word by word, and how far the outputs move.")
    show_figure(Figure(panels, alt), run.origin, "slots")
    masked = run.outputs(reading(sinks_and_window(0, window)))
    masked_sinks = run.outputs(reading(sinks_and_window(sinks, window)))
    text(
        "windows_seen",
        rows=_(ngettext("{count:,} row", "{count:,} rows", window)),
        slots=slots,
        full=words,
        same=bound_rounding(max(gap(ring, masked), gap(with_sinks, masked_sinks))),
        without=f"{ring.sub(full).abs().max().item():.2f}",
        sinks=_(ngettext("{count:,} first word", "{count:,} first words", sinks)),
        with_sinks=f"{with_sinks.sub(full).abs().max().item():.2f}",
    )
    _show_held(text, run, slots)
    show_source(slot_of, put, read_ring, sinks_and_window)


def _show_held(text: Prose, run: Written, slots: int) -> None:
    import pandas as pd

    from explainers.charts.curves import Axis, draw_curve

    text("held")
    series = _("every row kept"), _("sinks and window")
    points = [
        (length, sum(cache_bytes(rows, layer) for layer in run.layers), name, False)
        for length in LENGTHS
        for name, rows in zip(series, (length, min(length, slots)), strict=True)
    ]
    rows = pd.DataFrame(points, columns=["x", "y", "series", "reference"])
    alt = _("Bytes held: they grow with the text, or stay at those of {slots} rows.", slots=slots)
    axes = {"x": Axis(_("words"), is_logarithmic=True), "y": Axis(_("bytes"), is_logarithmic=True)}
    show_chart(draw_curve, rows, alt, "held", origin(), series=series, **axes)


def _slots(run: Written, name: str, sinks: int, window: int) -> Matrix:
    words = len(run.tokens)
    values: Values = slots_over_time(words, sinks, window)
    rows = [_("{n}: sink", n=n) if n < sinks else f"{n}" for n in range(sinks + window)]
    formula = _("{slots} rows of memory for any text; a number names a word", slots=sinks + window)
    axes = _("slot"), TOKEN_AXIS
    return Matrix(name, formula, values, rows, run.tokens, *axes, limit=words, decimals=0)


def _lost(outputs: Tensor, full: Tensor) -> list[float]:
    return [float(each) for each in (outputs - full).abs().amax(dim=-1)]


def _losses(run: Written, lost: dict[str, list[float]]) -> Matrix:
    name, formula = _("lost"), _("largest difference of an output from full causal attention")
    axes = _("cache"), TOKEN_AXIS
    return Matrix(name, formula, [*lost.values()], [*lost], run.tokens, *axes)
