"""One word after the other: what a step computes, what it reads, its costs and its arithmetic."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from explainers import arithmetic
from explainers.arithmetic import Arithmetic
from explainers.attention.cache.step_costs import cache_bytes, with_cache, without_cache
from explainers.chapters.kv_cache import takeaway as taken
from explainers.chapters.kv_cache.reading import (
    HEAD_DIM,
    LAYERS,
    DrawnText,
    pad_row,
    pad_rows,
    place_row,
)
from explainers.charts.matrix import Matrix, Values, find_largest
from explainers.charts.theme import FEATURE_AXIS, KEY_AXIS, QUERY_AXIS, TOKEN_AXIS
from explainers.messages import N_
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.figure.clickable_figure import show_clickable_figure
from explainers.ui.figure.panels import Cell, Panel, Slider
from explainers.ui.text.numbers import bound_rounding

_COLUMNS = [str(n) for n in range(HEAD_DIM)]


def describe_counts(run: DrawnText, place: int) -> str:
    """What has been done so far, with the cache and without one; and the proof."""
    length = place + 1
    both = [[work(length, layer) for layer in run.layers] for work in (with_cache, without_cache)]
    rows, rows_again = (sum(work.rows for work in way) for way in both)
    adds, adds_again = (sum(work.projections + work.scores for work in way) for way in both)
    held = sum(cache_bytes(length, layer) for layer in run.layers)
    return _(
        "{length}: “{word}” · so far, in both layers together, {rows:,} rows of K (without a cache "
        "{rows_again:,}), {adds:,} multiply-adds ({adds_again:,}) · {held:,} bytes held (0) · "
        "largest |cached − recomputed| = {difference:g}",
        length=length,
        word=run.tokens[place],
        rows=rows,
        rows_again=rows_again,
        adds=adds,
        adds_again=adds_again,
        held=held,
        difference=run.row_by_row[place],
    )


def explain(run: DrawnText, panels: Sequence[Panel], place: int, cell: Cell) -> Arithmetic:
    """One cell of the figure after the word at `place` was read."""
    shown = next(panel.matrix.values for panel in panels if panel.id == cell.panel)
    value, name = shown[cell.row][cell.column], f"{cell.panel}[{cell.row}, {cell.column}]"
    if value is None:
        line = _("Empty: this was not computed in this step.")
        return arithmetic.explain_input(0.0, name, line)
    if cell.panel == "made":
        return arithmetic.explain_input(value, name, _describe_times(place, cell))
    number, _unused, kind = cell.panel.partition(": ")
    layer = int(number.removeprefix("layer ")) - 1
    return _explain_number(run, layer, place, replace(cell, panel=kind), value, name)


def _explain_number(
    run: DrawnText, layer: int, place: int, cell: Cell, value: float, name: str
) -> Arithmetic:
    """A number of a layer; the cell's panel is the kind of its matrix, its row is a word's."""
    done, word = run.steps[place].reads[layer], cell.row
    if cell.panel == "weights":
        scores = (done.query[0] @ done.cache.key[0].mT / HEAD_DIM**0.5)[0].tolist()
        return arithmetic.explain_softmax(scores, cell.column, value, run.tokens[: place + 1])
    if cell.panel == "V":
        column = run.layers[layer].w_value[:, cell.column].tolist()
        return arithmetic.explain_dot_product(_compute_input(run, layer, word), column, value, name)
    line = _(
        "{number}: x · W_{kind}, rotated by RoPE to position {place}; computed when word {word} "
        "was read.",
        number=f"{name} = {value:.4f}",
        kind="Q" if cell.panel == "query" else cell.panel,
        place=word,
        word=word + 1,
    )
    return arithmetic.explain_input(value, name, line)


def _describe_times(place: int, cell: Cell) -> str:
    if cell.column == 0:
        return _("Once: when word {word} was read.", word=cell.row + 1)
    return _(
        "{read} words read − {before} before it = {times} times.",
        read=place + 1,
        before=cell.row,
        times=place + 1 - cell.row,
    )


def _compute_input(run: DrawnText, layer: int, word: int) -> list[float]:
    """The vector of a word that a layer reads: x and what the layers below have added."""
    x = run.x[word]
    for below in run.steps[word].reads[:layer]:
        x = x + below.output[0]
    return x.tolist()


def prove(run: DrawnText) -> dict[str, str]:
    """How far everything with a cache is from the same without one, for a text."""
    rounding = bound_rounding(max(run.in_one_product))
    return {"same": f"{max(run.row_by_row):g}", "rounding": rounding}


def show_one_step(run: DrawnText, layer: int, place: int) -> None:
    """One step of one layer: a query, what it reads, and the output that it mixes."""
    taken.take_decoding(run, place + 1)
    panels = draw_one_step(run, layer, place)
    alt = _("One step: the query, the stored keys and values, the weights, the output.")
    explained = partial(explain_one_step, run, panels, layer, place)
    show_clickable_figure(panels, explained, run.origin, "one step", alt)


def draw_one_step(run: DrawnText, layer: int, place: int) -> list[Panel]:
    """The five matrices of a step: what it has, and what it computes of that."""
    done, read, columns = run.steps[place].reads[layer], run.tokens[: place + 1], _COLUMNS
    key, value = (stored[0].tolist() for stored in done.cache[:2])
    asked, shares, word = done.query[0].tolist(), done.weights[0].tolist(), [read[-1]]
    mixed = (done.weights[0] @ done.cache.value[0]).tolist()
    stored = _("{rows} rows are stored", rows=len(read))
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
    """One number of the five matrices."""
    value = next(one.matrix.values for one in panels if one.id == cell.panel)[cell.row][cell.column]
    name, number = f"{cell.panel}[{cell.row}, {cell.column}]", value or 0.0
    if cell.panel == "output":
        done = run.steps[place].reads[layer]
        mixed = done.cache.value[0, :, cell.column].tolist()
        return arithmetic.explain_dot_product(done.weights[0, 0].tolist(), mixed, number, name)
    word = place if cell.panel == "query" else cell.row
    return _explain_number(run, layer, place, replace(cell, row=word), number, name)


def show_steps(run: DrawnText) -> None:
    """Both layers, and how often each row was computed, a frame for each word."""
    control, words = controls.word_count, len(run.tokens)
    place = min(control(), words - 1)
    labels = [describe_counts(run, n) for n in range(words)]
    panels = make_step_panels(run, place)
    slider = Slider(control.label, labels, place, lambda n: control.put(n + 1), plays=True)
    alt = _("Step by step: one row of Q, the rows of K and V that are kept, and the weights.")
    show_clickable_figure(
        panels, partial(explain, run, panels, place), run.origin, "decoding", alt, slider
    )


def make_step_panels(run: DrawnText, place: int) -> list[Panel]:
    """Every matrix, with a frame for each word; `place` is the one that is shown at first."""
    panels = [panel for layer in range(LAYERS) for panel in _make_layer_panels(run, layer, place)]
    return [*panels, _make_count_panel(run, place)]


def _make_layer_panels(run: DrawnText, layer: int, place: int) -> list[Panel]:
    reads = [step.reads[layer] for step in run.steps]
    alone = [place_row(run, n, done.query[0, 0].tolist()) for n, done in enumerate(reads)]
    keys = [pad_rows(run, done.cache.key[0]) for done in reads]
    values = [pad_rows(run, done.cache.value[0]) for done in reads]
    weights: list[Values] = [[pad_row(run, done.weights[0, 0])] for done in reads]
    number = layer + 1
    kinds = (
        ("Q", "query", _("computed, used, forgotten"), alone),
        ("K", "key", _("kept"), keys),
        ("V", "value", _("kept"), values),
    )
    panels = []
    for name, role, formula, frames in kinds:
        limit = max(map(find_largest, frames))
        matrix = Matrix(
            _("layer {number}: {matrix}", number=number, matrix=name),
            formula,
            frames[place],
            run.tokens,
            _COLUMNS,
            TOKEN_AXIS,
            FEATURE_AXIS,
            role=role,
            limit=limit,
        )
        heading = _("Layer {number}", number=number) if name == "Q" else ""
        named = f"layer {number}: {name}"
        panels.append(Panel(named, matrix, frames=tuple(frames), heading=heading))
    shares = Matrix(
        _("layer {number}: weights", number=number),
        _("of the new word over all that is kept: they sum to 1"),
        weights[place],
        [_("new word")],
        run.tokens,
        N_("word"),
        KEY_AXIS,
        kind="weights",
    )
    return [*panels, Panel(f"layer {number}: weights", shares, frames=tuple(weights))]


def _make_count_panel(run: DrawnText, place: int) -> Panel:
    """With a cache a row is made once; without one, again at every later step."""
    words = len(run.tokens)
    frames: list[Values] = [
        [[1.0, step - row + 1.0] if row <= step else [None, None] for row in range(words)]
        for step in range(words)
    ]
    matrix = Matrix(
        _("times computed"),
        _("each row of K and V, so far"),
        frames[place],
        run.tokens,
        (_("cache"), _("no cache")),
        TOKEN_AXIS,
        _("way"),
        limit=words,
        decimals=0,
    )
    return Panel("made", matrix, frames=tuple(frames), heading=_("How often each row was computed"))
