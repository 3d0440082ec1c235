"""How a number in the picture of a step came to be, and when."""

from collections.abc import Sequence

from explainers import working
from explainers.lessons.kv_cache.written import HEAD_DIM, Written
from explainers.ui.panels import Cell, Panel
from explainers.working import Working


def explain(run: Written, panels: Sequence[Panel], place: int, cell: Cell) -> Working:
    """One cell of the figure after the word at `place` was read."""
    shown = next(panel.matrix.values for panel in panels if panel.id == cell.panel)
    value, name = shown[cell.row][cell.column], f"{cell.panel}[{cell.row}, {cell.column}]"
    if value is None:
        return working.given(0.0, name, "Nothing stands here: this was not computed in this step.")
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
    line = f"{name} = {value:.4f}: x · W_{kind}, turned by RoPE for place {word}"
    return working.given(value, name, f"{line}; computed when word {word + 1} was read.")


def _times(place: int, cell: Cell) -> str:
    if cell.column == 0:
        return f"Once: when word {cell.row + 1} was read."
    return f"{place + 1} words read − {cell.row} before it = {place + 1 - cell.row} times."


def _read_by(run: Written, layer: int, word: int) -> list[float]:
    """The vector of a word that a layer reads: x and what the layers below have added."""
    x = run.x[word]
    for below in run.steps[word].reads[:layer]:
        x = x + below.output[0]
    return x.tolist()
