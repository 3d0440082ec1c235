"""One step as five matrices, what a cache saves, what spoils it, and caches that stop growing."""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from random import Random

import torch
from torch import Tensor

from explainers import arithmetic
from explainers.arithmetic import Arithmetic
from explainers.attention.cache.faults import LOST
from explainers.attention.cache.step_costs import Work, cache_bytes, with_cache, without_cache
from explainers.attention.cache.windows import sinks_and_window, slot_of
from explainers.chapters.common.score_matrix import ROUNDING, write_word_count
from explainers.chapters.kv_cache import reading
from explainers.chapters.kv_cache.reading import (
    CAUSAL,
    LAYERS,
    DrawnText,
    ModelText,
    make_reader,
    measure_gap,
)
from explainers.charts.matrix import Matrix, Values
from explainers.charts.theme import FEATURE_AXIS, KEY_AXIS, QUERY_AXIS, TOKEN_AXIS
from explainers.messages import N_, ngettext
from explainers.takeaway.recipe import Recipe
from explainers.translations import _
from explainers.ui.figure.chart import show_chart, tabulate
from explainers.ui.figure.linked_matrices import show_clickable_figure
from explainers.ui.figure.panels import Cell, Figure, Panel
from explainers.ui.page_parts.check_yourself import Recall
from explainers.ui.provenance import formula
from explainers.ui.takeaway_files import hand_over, take
from explainers.ui.text.numbers import bound_rounding
from explainers.ui.untrusted_text import verbatim

LENGTHS = tuple(2**power for power in range(11))
ANSWERS = N_("it stays the same"), N_("it doubles"), N_("about four times as much")
GROWTH = dict(zip((1, 2, 4), ANSWERS, strict=True))
POWERS = {2: "T", 4: "T²", 8: "T³"}
"""What work grows like that becomes 2, 4 or 8 times as much when the text becomes twice as long."""


@functools.cache
def count_work() -> dict[int, tuple[Work, Work]]:
    """With and without a cache, for texts of each length, in one layer of the page."""
    layer = reading.make_counted_layer()
    return {length: (with_cache(length, layer), without_cache(length, layer)) for length in LENGTHS}


def name_count_origin() -> str:
    """The badge of the pictures."""
    return formula(_("counted step by step"), torch.device("cpu"))


def compute_growth(of: Callable[[Work], int], way: int) -> int:
    """How many times the work a long text is when it becomes twice as long."""
    half, whole = (of(count_work()[length][way]) for length in LENGTHS[-2:])
    return round(whole / half)


def show_work() -> None:
    """The work of one layer over the length of a text: four lines on logarithmic axes."""
    from explainers.charts.curves import Axis, draw_work

    hand_over("costs", _("What a cache saves"), reading.count_costs, lengths=[*LENGTHS])
    axes = {
        "x": Axis(_("words"), is_logarithmic=True),
        "y": Axis(_("multiply-adds, in total"), is_logarithmic=True),
    }
    cached, again = count_work()[LENGTHS[-1]]
    alt = _(
        "Multiply-adds for {longest:,} words: projections {projections:,} with the cache and "
        "{projections_again:,} without; scores {scores:,} with it and {scores_again:,} without.",
        longest=LENGTHS[-1],
        projections=cached.projections,
        projections_again=again.projections,
        scores=cached.scores,
        scores_again=again.scores,
    )
    points, series = [], name_lines()
    for length, (cached, again) in count_work().items():
        amounts = again.scores, cached.scores, again.projections, cached.projections
        points += [(length, each, name) for each, name in zip(amounts, series, strict=True)]
    rows = tabulate(points, ["x", "y", "series"])
    show_chart(draw_work, rows, alt, "work", name_count_origin(), series=series, **axes)


def name_lines() -> tuple[str, ...]:
    """What the lines are called: both kinds of work, without the cache and with it."""
    scores, projections = (
        [POWERS[compute_growth(kind, way)] for way in (1, 0)]
        for kind in (lambda work: work.scores, lambda work: work.projections)
    )
    return (
        _("scores, without a cache: like {power}", power=scores[0]),
        _("scores, with the cache: like {power}", power=scores[1]),
        _("projections, without a cache: like {power}", power=projections[0]),
        _("projections, with the cache: like {power}", power=projections[1]),
    )


def name_costs() -> dict[str, str]:
    """The numbers of the longest text, for a text."""
    cached, again = count_work()[LENGTHS[-1]]
    return {
        "length": f"{LENGTHS[-1]:,}",
        "rows": f"{cached.rows:,}",
        "rows_again": f"{again.rows:,}",
        "scores": f"{cached.scores:,}",
        "scores_again": f"{again.scores:,}",
        "ratio": f"{again.scores / cached.scores:,.0f}",
    }


def name_growth() -> dict[str, str]:
    """How the scores grow with a cache where a long text becomes twice as long, for a text."""
    half, whole = (count_work()[length][0].scores for length in LENGTHS[-2:])
    return {"times": f"{whole / half:.1f}"}


def name_memory(run: DrawnText) -> dict[str, str]:
    """What the caches of both layers hold of a text, and whose they are, for a text."""
    words = len(run.tokens)
    held = LAYERS * cache_bytes(words, run.layers[0])
    return {
        "words": write_word_count(words),
        "layers": run.name_layers(),
        "held": f"{held:,}",
        "each": f"{held // words:,}",
    }


def recall_stored_queries(draw: Random) -> Recall:
    """None, however long the text: a query is used once."""
    given = {"tokens": f"{draw.randint(20, 90)}", "kv_heads": f"{draw.choice([2, 4, 8])}"}
    return Recall(0, given)


def hand_over_steps(run: DrawnText, layer: int, words: int) -> None:
    """The steps, as far as the reader has gone; of a model, those of one head."""
    title = _("Read word by word, with a cache")
    if isinstance(run, ModelText):
        block, done = run.layers[layer], run.steps[words - 1].reads[layer]
        x = torch.stack([run.compute_input(layer, word) for word in range(words)])
        given = {"x": x, "layer": block.first_head, "longest": block.longest, "words": words}
        shown = {"K": done.cache.key[0], "V": done.cache.value[0], "weights": done.weights[0]}
        take("decoding", Recipe(title, reading.read_in_one_head, given, shown))
    else:
        hand_over("decoding", title, reading.read_words, run=run, words=words)


def show_one_step(run: DrawnText, layer: int, place: int) -> None:
    """One step of one layer: a query, what it reads, and the output that it mixes."""
    hand_over_steps(run, layer, place + 1)
    panels = draw_one_step(run, layer, place)
    alt = _("One step: the query, the stored keys and values, the weights, the output.")
    explained = partial(explain_one_step, run, panels, layer, place)
    show_clickable_figure(panels, explained, run.origin, "one step", alt)


def draw_one_step(run: DrawnText, layer: int, place: int) -> list[Panel]:
    """The five matrices of a step: what it has, and what it computes of that."""
    done, read = run.steps[place].reads[layer], run.tokens[: place + 1]
    columns = [str(n) for n in range(run.layers[layer].head_dim)]
    key, value = (stored[0].tolist() for stored in done.cache[:2])
    asked, shares, word = done.query[0].tolist(), done.weights[0].tolist(), [read[-1]]
    mixed = (done.weights[0] @ done.cache.value[0]).tolist()
    stored = _("rows stored: {rows}", rows=len(read))
    rows = TOKEN_AXIS, FEATURE_AXIS
    query = Matrix("query", _("used once"), asked, word, columns, *rows, role="query")
    weights = Matrix(
        *("weights", _("softmax of query · Kᵀ / √d_k"), shares, word, read),
        *(QUERY_AXIS, KEY_AXIS),
        kind="weights",
    )
    output = Matrix("output", _("weights · V"), mixed, word, columns, *rows)
    return [
        Panel("query", query),
        Panel("K", Matrix("K", stored, key, read, columns, *rows, role="key")),
        Panel("V", Matrix("V", stored, value, read, columns, *rows, role="value")),
        Panel("weights", weights, heading=_("What it computes from them")),
        Panel("output", output),
    ]


def explain_one_step(
    run: DrawnText, panels: Sequence[Panel], layer: int, place: int, cell: Cell
) -> Arithmetic:
    """One number of the five matrices; a row of them is a word's."""
    value = next(one.matrix.values for one in panels if one.id == cell.panel)[cell.row][cell.column]
    name, number = f"{cell.panel}[{cell.row}, {cell.column}]", value or 0.0
    done, block = run.steps[place].reads[layer], run.layers[layer]
    if cell.panel == "output":
        mixed = done.cache.value[0, :, cell.column].tolist()
        return arithmetic.explain_dot_product(done.weights[0, 0].tolist(), mixed, number, name)
    if cell.panel == "weights":
        products = done.query[0] @ done.cache.key[0].mT
        scores = (products / block.head_dim**0.5)[0].tolist()
        return arithmetic.explain_softmax(scores, cell.column, number, run.tokens[: place + 1])
    if cell.panel == "V":
        column, read = block.w_value[:, cell.column], run.compute_input(layer, cell.row)
        return arithmetic.explain_dot_product(read.tolist(), column.tolist(), number, name)
    word = place if cell.panel == "query" else cell.row
    line = _(
        "{number}: x · W_{kind}, rotated by RoPE to position {place}; computed when word {word} "
        "was read.",
        number=f"{name} = {number:.4f}",
        kind="Q" if cell.panel == "query" else cell.panel,
        place=word,
        word=word + 1,
    )
    return arithmetic.explain_input(number, name, line)


NOWHERE = N_("at none")


def write_first_wrong_word(run: DrawnText, difference: Tensor) -> str:
    """The first word whose output is wrong, and its number from 1."""
    wrong = (difference > ROUNDING).nonzero().flatten().tolist()
    return f"{wrong[0] + 1}: {run.tokens[wrong[0]]}" if wrong else NOWHERE


def _say_first_wrong_word(run: DrawnText, difference: Tensor) -> str:
    first = write_first_wrong_word(run, difference)
    return _(first) if first == NOWHERE else first


def name_faults(run: DrawnText, found: Mapping[str, Tensor]) -> dict[str, str]:
    """Where each mistake begins, and whose row is lost, for a text."""
    firsts = {name: verbatim(_say_first_wrong_word(run, each)) for name, each in found.items()}
    return {
        "lost": verbatim(run.tokens[min(LOST, len(run.tokens) - 1)]),
        "forgotten": firsts[reading.FORGOTTEN],
        "dropped": firsts[reading.DROPPED],
        "after": firsts[reading.AFTER],
        "small": firsts[reading.SMALL],
    }


def draw_faults(run: DrawnText, found: Mapping[str, Tensor]) -> Figure:
    """All mistakes, word by word."""
    matrix = Matrix(
        _("how wrong"),
        _("largest difference of the word's output"),
        [each.tolist() for each in found.values()],
        [_(name) for name in found],
        run.tokens,
        _("mistake"),
        TOKEN_AXIS,
    )
    listed = ", ".join(
        _(
            "{mistake}: begins at word {word}",
            mistake=_(name),
            word=_say_first_wrong_word(run, each),
        )
        for name, each in found.items()
    )
    alt = _(
        "A row per mistake, a column per word: how wrong the word's output is. {listed}",
        listed=listed,
    )
    return Figure([Panel("wrong", matrix)], alt)


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
    values: Values = reading.trace_slots(words, sinks, window)
    rows = [_("{n}: sink", n=n) if n < sinks else f"{n}" for n in range(sinks + window)]
    formula = _("{slots} rows of memory for any text; a number names a word", slots=sinks + window)
    axes = _("slot"), TOKEN_AXIS
    return Matrix(name, formula, values, rows, run.tokens, *axes, limit=words, decimals=0)
