"""What one step of a layer computes and reads, and the arithmetic of each number."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from explainers import arithmetic
from explainers.arithmetic import Arithmetic
from explainers.chapters.kv_cache import takeaway as taken
from explainers.chapters.kv_cache.reading import DrawnText
from explainers.charts.matrix import Matrix
from explainers.charts.theme import FEATURE_AXIS, KEY_AXIS, QUERY_AXIS, TOKEN_AXIS
from explainers.translations import _
from explainers.ui.figure.clickable_figure import show_clickable_figure
from explainers.ui.figure.panels import Cell, Panel


def _explain_number(
    run: DrawnText, layer: int, place: int, cell: Cell, value: float, name: str
) -> Arithmetic:
    """A number of a layer; the cell's panel is the kind of its matrix, its row is a word's."""
    done, word = run.steps[place].reads[layer], cell.row
    if cell.panel == "weights":
        scores = (done.query[0] @ done.cache.key[0].mT / run.layers[layer].head_dim ** 0.5)[
            0
        ].tolist()
        return arithmetic.explain_softmax(scores, cell.column, value, run.tokens[: place + 1])
    if cell.panel == "V":
        column = run.layers[layer].w_value[:, cell.column].tolist()
        read = run.compute_input(layer, word).tolist()
        return arithmetic.explain_dot_product(read, column, value, name)
    line = _(
        "{number}: x · W_{kind}, rotated by RoPE to position {place}; computed when word {word} "
        "was read.",
        number=f"{name} = {value:.4f}",
        kind="Q" if cell.panel == "query" else cell.panel,
        place=word,
        word=word + 1,
    )
    return arithmetic.explain_input(value, name, line)


def show_one_step(run: DrawnText, layer: int, place: int) -> None:
    """One step of one layer: a query, what it reads, and the output that it mixes."""
    taken.take_decoding(run, layer, place + 1)
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
