"""The arithmetic of each number of a row that is read in blocks."""

import math
from collections.abc import Callable
from functools import partial
from math import inf

from explainers import working
from explainers.digits import digits, power, rounded
from explainers.lessons.arithmetic import arithmetic_of
from explainers.lessons.long_sequences.row import COLUMNS, POWERS, RUNNING, SCORES, WEIGHTS, Row
from explainers.ui.language import said
from explainers.ui.panels import Cell
from explainers.working import Working


def arithmetic_of_row(row: Row) -> Callable[[Cell], Working]:
    """What to ask about any cell of the picture."""
    return partial(_arithmetic, row, arithmetic_of(row.lab.one_head))


def _arithmetic(row: Row, of_scores: Callable[[Cell], Working], cell: Cell) -> Working:
    step, j, what = cell.row, cell.column, f"{cell.panel}[{cell.row}, {cell.column}]"
    if cell.panel == SCORES:
        return of_scores(Cell(SCORES, row.word, j))
    value = row.table(cell.panel)[step][j]
    if value is None:
        if cell.panel == RUNNING:
            why = said("{cell} is blank: nothing was added up before.", cell=what)
        else:
            why = said("{cell} is blank: this key has not been read yet.", cell=what)
        return working.given(0.0, what, why)
    seen = row.seen(step)
    scores, largest = row.scores.tolist(), row.steps[step].largest.item()
    if cell.panel == RUNNING:
        return _kept(row, step, COLUMNS[j], value)
    if cell.panel == POWERS:
        return exponential(scores[j], largest, value, what)
    if cell.panel == WEIGHTS:
        read = [score if n < seen else -inf for n, score in enumerate(scores)]
        return working.softmax(read, j, value, row.lab.tokens)
    column = row.lab.views.value[:seen, j].tolist()
    return working.dot_product(row.weights(step).tolist(), column, value, what)


def _kept(row: Row, step: int, name: str, value: float) -> Working:
    """One of the three numbers that are kept of a row."""
    now, block = row.steps[step], row.scores[step * row.block : row.seen(step)].tolist()
    if name == "total":
        powers = row.powers(step)[step * row.block :].tolist()
        before = row.steps[step - 1].total.item() if step else 0.0
        factors = [now.correction.item(), *[1.0] * len(powers)]
        return working.dot_product([before, *powers], factors, value, name)
    before = row.steps[step - 1].largest.item() if step else -inf
    if name == "correction":
        return exponential(before, now.largest.item(), value, name)
    read = ", ".join(f"{score:.4f}" for score in [before, *block] if score > -inf)
    return working.given(
        value, name, said("largest of {scores} = {value:.4f}", scores=read, value=value)
    )


def exponential(score: float, largest: float, value: float, name: str) -> Working:
    """`value` as a power of e, from digits that give it again."""
    exact = math.exp(score - largest)
    for shown, places in digits(value, exact):
        term = power(score, largest, places)
        if rounded(term, shown) == rounded(value, shown):
            break
    result = f"{rounded(value, shown):f}"
    exponent = f"({rounded(score, places):f} − {rounded(largest, places):f})"
    return Working(
        result,
        (f"{name} = e^{exponent} = {result}",),
        "import torch\n"
        f"score, largest = torch.tensor([{score:.9g}, {largest:.9g}]).double()\n"
        f'print(f"{{torch.exp(score - largest):z.{shown}f}}")',
    )
