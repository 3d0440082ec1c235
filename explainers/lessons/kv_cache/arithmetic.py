"""How a number in the picture of a step came to be, and when."""

from collections.abc import Sequence

from explainers import working
from explainers.lessons.kv_cache.reading import HEAD_DIM
from explainers.lessons.kv_cache.written import Written
from explainers.ui.language import said
from explainers.ui.panels import Cell, Panel
from explainers.working import Working


def explain(run: Written, panels: Sequence[Panel], place: int, cell: Cell) -> Working:
    """One cell of the figure after the word at `place` was read."""
    shown = next(panel.matrix.values for panel in panels if panel.id == cell.panel)
    value, name = shown[cell.row][cell.column], f"{cell.panel}[{cell.row}, {cell.column}]"
    if value is None:
        line = said("Nothing stands here: this was not computed in this step.")
        return working.given(0.0, name, line)
    if cell.panel == "made":
        return working.given(value, name, _times(place, cell))
    number, _, kind = cell.panel.partition(": ")
    layer, word = int(number.removeprefix("layer ")) - 1, cell.row
    done = run.steps[place].reads[layer]
    if kind == "weights":
        scores = (done.query[0] @ done.cache.key[0].mT / HEAD_DIM**0.5)[0].tolist()
        return working.softmax(scores, cell.column, value, run.tokens[: place + 1])
    if kind == "V":
        column = run.layers[layer].w_value[:, cell.column].tolist()
        return working.dot_product(_read_by(run, layer, word), column, value, name)
    line = said(
        "{number}: x · W_{kind}, turned by RoPE for place {place}; computed when word {word} was "
        "read.",
        number=f"{name} = {value:.4f}",
        kind=kind,
        place=word,
        word=word + 1,
    )
    return working.given(value, name, line)


def _times(place: int, cell: Cell) -> str:
    if cell.column == 0:
        return said("Once: when word {word} was read.", word=cell.row + 1)
    return said(
        "{read} words read − {before} before it = {times} times.",
        read=place + 1,
        before=cell.row,
        times=place + 1 - cell.row,
    )


def _read_by(run: Written, layer: int, word: int) -> list[float]:
    """The vector of a word that a layer reads: x and what the layers below have added."""
    x = run.x[word]
    for below in run.steps[word].reads[:layer]:
        x = x + below.output[0]
    return x.tolist()
