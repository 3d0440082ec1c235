"""One step as five matrices, what a cache saves, what spoils it, and caches that stop growing."""

import functools
import math
from collections.abc import Sequence
from functools import partial
from random import Random

import streamlit as st
import torch

from explainers import arithmetic
from explainers.arithmetic import Arithmetic
from explainers.attention.cache.faults import LOST, append_after, drop_row, forget_offset
from explainers.attention.cache.kv_cache import append, look_up, project_at, read
from explainers.attention.cache.step_costs import (
    Work,
    cache_bytes,
    one_call,
    with_cache,
    without_cache,
)
from explainers.attention.cache.windows import put, read_ring, sinks_and_window, slot_of
from explainers.chapters.common.score_matrix import ROUNDING, write_word_count
from explainers.chapters.kv_cache import reading
from explainers.chapters.kv_cache.reading import LAYERS, DrawnText, ModelText, measure_gap
from explainers.charts.matrix import Matrix, Values
from explainers.charts.theme import FEATURE_AXIS, KEY_AXIS, QUERY_AXIS, TOKEN_AXIS
from explainers.messages import N_, ngettext
from explainers.takeaway.recipe import Recipe
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.figure.chart import show_chart, tabulate
from explainers.ui.figure.linked_matrices import show_clickable_figure, show_figure
from explainers.ui.figure.panels import Cell, Figure, Panel
from explainers.ui.page import Prose
from explainers.ui.page_parts.check_yourself import Recall
from explainers.ui.prediction import ask_veiled, revealed
from explainers.ui.provenance import formula
from explainers.ui.source import show_source
from explainers.ui.takeaway_files import hand_over, run_and_hand_over, take
from explainers.ui.text.language import fragment
from explainers.ui.text.numbers import bound_rounding
from explainers.ui.untrusted_text import verbatim

LENGTHS = tuple(2**power for power in range(11))
ANSWERS = N_("it stays the same"), N_("it doubles"), N_("about four times as much")
POWERS = "1", "T", "T²", "T³"
"""What work grows like that becomes 1, 2, 4 or 8 times as much when the text becomes twice as long;
the answers are those to the first three."""


def say_small(text: Prose, run: DrawnText) -> None:
    """Where a model draws the picture: what is counted and broken is not the model."""
    if isinstance(run, ModelText):
        text("of_small", model=run.model)


def name_count_origin() -> str:
    """The badge of the pictures."""
    return formula(_("counted step by step"), torch.device("cpu"))


@functools.cache
def count_work() -> dict[int, tuple[Work, Work]]:
    """With and without a cache, for texts of each length, in one layer of the page."""
    layer = reading.make_counted_layer()
    return {length: (with_cache(length, layer), without_cache(length, layer)) for length in LENGTHS}


def measure_growth(kind: str, way: int) -> float:
    """How many times the work of a kind a long text is when it becomes twice as long."""
    half, whole = (getattr(count_work()[length][way], kind) for length in LENGTHS[-2:])
    times: float = whole / half
    return times


@fragment
def ask_costs(text: Prose, run: DrawnText) -> None:
    """What twice the text costs, asked first; then the work over the length of a text."""
    times = measure_growth("scores", 0)
    answer = ANSWERS[round(math.log2(times))]
    if not revealed(text, "costs", ANSWERS, answer, times=f"{times:.1f}"):
        return
    say_small(text, run)
    show_work()
    cached, again = count_work()[LENGTHS[-1]]
    text(
        "costs_seen",
        length=f"{LENGTHS[-1]:,}",
        rows=f"{cached.rows:,}",
        rows_again=f"{again.rows:,}",
        scores=f"{cached.scores:,}",
        scores_again=f"{again.scores:,}",
        ratio=f"{again.scores / cached.scores:,.0f}",
    )
    text("costs_table")
    words = len(run.tokens)
    held = LAYERS * cache_bytes(words, run.layers[0])
    text(
        "memory",
        words=write_word_count(words),
        layers=run.name_layers(),
        held=f"{held:,}",
        each=f"{held // words:,}",
    )
    show_source(one_call, with_cache, without_cache, cache_bytes)


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

    def name_power(kind: str, way: int) -> str:
        return POWERS[round(math.log2(measure_growth(kind, way)))]

    series = (
        _("scores, without a cache: like {power}", power=name_power("scores", 1)),
        _("scores, with the cache: like {power}", power=name_power("scores", 0)),
        _("projections, without a cache: like {power}", power=name_power("projections", 1)),
        _("projections, with the cache: like {power}", power=name_power("projections", 0)),
    )
    points = []
    for length, (cached, again) in count_work().items():
        amounts = again.scores, cached.scores, again.projections, cached.projections
        points += [(length, each, name) for each, name in zip(amounts, series, strict=True)]
    rows = tabulate(points, ["x", "y", "series"])
    show_chart(draw_work, rows, alt, "work", name_count_origin(), series=series, **axes)


def recall_stored_queries(draw: Random) -> Recall:
    """None, however long the text: a query is used once."""
    given = {"tokens": f"{draw.randint(20, 90)}", "kv_heads": f"{draw.choice([2, 4, 8])}"}
    return Recall(0, given)


def show_how(text: Prose, run: DrawnText, place: int, layer: int) -> None:
    """A step of a layer in the first picture: a query, what it reads, and what it mixes."""
    text("how", word=run.tokens[place], layer=layer + 1)
    title, words = _("Read word by word, with a cache"), place + 1
    if isinstance(run, ModelText):  # the steps of one head
        block, done = run.layers[layer], run.steps[place].reads[layer]
        x = torch.stack([run.compute_input(layer, word) for word in range(words)])
        given = {"x": x, "layer": block.first_head, "longest": block.longest, "words": words}
        shown = {"K": done.cache.key[0], "V": done.cache.value[0], "weights": done.weights[0]}
        take("decoding", Recipe(title, reading.read_in_one_head, given, shown))
    else:
        hand_over("decoding", title, reading.read_words, run=run, words=words)
    panels = draw_one_step(run, layer, place)
    alt = _("One step: the query, the stored keys and values, the weights, the output.")
    explained = partial(explain_one_step, run, panels, layer, place)
    show_clickable_figure(panels, explained, run.origin, "one step", alt)
    text("how_why")
    show_source(project_at, append, look_up, read)


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


def show_broken(text: Prose, shown: DrawnText, run: DrawnText) -> None:
    """One mistake with its first word veiled, then all of them, word by word."""
    say_small(text, shown)
    text("broken", window=reading.WINDOW, kept=reading.WINDOW - 1)
    title, measure = _("Mistakes in a cache"), reading.measure_mistakes
    wrong = run_and_hand_over("mistakes", title, measure, run=run)["wrong"]
    words = [f"{n}: {token}" for n, token in enumerate(run.tokens, start=1)]
    firsts = []  # for each mistake, the first word whose output is wrong
    for each in wrong > ROUNDING:
        firsts.append(words[int(each.int().argmax())] if each.any() else NOWHERE)
    if ask_veiled(text, "broken", firsts[0], words[:3]):
        matrix = Matrix(
            _("how wrong"),
            _("largest difference of the word's output"),
            wrong.tolist(),
            [_(name) for name in reading.MISTAKES],
            run.tokens,
            _("mistake"),
            TOKEN_AXIS,
        )
        begins = [
            _("{mistake}: begins at word {word}", mistake=_(name), word=_(first))
            for name, first in zip(reading.MISTAKES, firsts, strict=True)
        ]
        alt = _(
            "A row per mistake, a column per word: how wrong the word's output is. {listed}",
            listed=", ".join(begins),
        )
        show_figure(Figure([Panel("wrong", matrix)], alt), run.origin, "mistakes")
        said = [verbatim(_(first)) for first in firsts]
        named = dict(zip(("forgotten", "dropped", "after", "small"), said, strict=True))
        lost = verbatim(run.tokens[min(LOST, len(run.tokens) - 1)])
        text("broken_seen", lost=lost, **named)
    show_source(forget_offset, drop_row, append_after)


def show_windows(text: Prose, shown: DrawnText, run: DrawnText) -> None:
    """Where a row goes, veiled; then two caches of fixed size, and what they lose."""
    say_small(text, shown)
    text("windows")
    with st.container(horizontal=True):
        window, sinks = int(controls.reach_window()), int(controls.sinks())
    inputs = {"run": run, "window": window, "sinks": sinks}
    title, compare = _("Caches that stop growing"), reading.compare_bounded_caches
    lost = run_and_hand_over("windows", title, compare, **inputs)["lost"]
    slot = f"{slot_of(window, 0, window)}"
    named = {"window": window, "last": window - 1, "next": window + 1, "slot": slot}
    if ask_veiled(text, "windows", slot, ["0", f"{window - 1}", f"{window}"], **named):
        beside = _(
            "{sinks} + ring of {window}",
            sinks=_(ngettext("{count:,} sink", "{count:,} sinks", sinks)),
            window=window,
        )
        panels = [
            Panel("ring", draw_slots(run, _("ring of {window}", window=window), 0, window)),
            Panel("sinks", draw_slots(run, beside, sinks, window)),
        ]
        alt = _("Which word's row stands in which slot, word by word.")
        show_figure(Figure(panels, alt), name_count_origin(), "slots")
        without, with_sinks = lost.amax(dim=-1).tolist()
        same = max(measure_gap_to_mask(run, window, each) for each in (0, sinks))
        text(
            "windows_seen",
            rows=_(ngettext("{count:,} row", "{count:,} rows", window)),
            slots=sinks + window,
            same=bound_rounding(same),
            without=f"{without:.2f}",
            sinks=_(ngettext("{count:,} first word", "{count:,} first words", sinks)),
            with_sinks=f"{with_sinks:.2f}",
        )
    show_source(slot_of, put, read_ring, sinks_and_window)


def measure_gap_to_mask(run: DrawnText, window: int, sinks: int) -> float:
    """How far a ring's outputs are from those of a mask that shows the same words."""
    masked = run.compute_outputs(run.make_reader(sinks_and_window(sinks, window)))
    return measure_gap(run.compute_ring_outputs(sinks + window, sinks), masked)


def draw_slots(run: DrawnText, name: str, sinks: int, window: int) -> Matrix:
    """Whose row is in which slot of a cache."""
    words = len(run.tokens)
    values: Values = reading.trace_slots(words, sinks, window)
    rows = [_("{n}: sink", n=n) if n < sinks else f"{n}" for n in range(sinks + window)]
    formula = _("{slots} rows of memory for any text; a number names a word", slots=sinks + window)
    axes = _("slot"), TOKEN_AXIS
    return Matrix(name, formula, values, rows, run.tokens, *axes, limit=words, decimals=0)
