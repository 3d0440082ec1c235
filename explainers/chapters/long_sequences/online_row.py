"""One row of scores read block by block: maximum, total, correction, and their arithmetic."""

from dataclasses import dataclass
from functools import cached_property, partial
from math import inf

import streamlit as st
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from explainers import arithmetic
from explainers.arithmetic import Arithmetic
from explainers.attention.online_softmax import Running, read_block, read_row
from explainers.attention.single_head import project
from explainers.attention.steps import dot_products, scale, softmax
from explainers.chapters.common.score_matrix import Lab
from explainers.charts.matrix import Matrix, Values, find_largest
from explainers.charts.theme import BLOCK_AXIS, FEATURE_AXIS, KEY_AXIS, QUERY_AXIS, RUNNING_AXIS
from explainers.messages import N_, ngettext
from explainers.toys.layers import Layer
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.controls.number_controls import BrowserSlider
from explainers.ui.figure.linked_matrices import show_clickable_figure, show_figure
from explainers.ui.figure.panels import Cell, Figure, Panel, Slider, Source, orient_panels
from explainers.ui.lecture.screens import is_lecture
from explainers.ui.page import Prose
from explainers.ui.prediction import ask_veiled, revealed
from explainers.ui.source import show_source
from explainers.ui.takeaway_files import hand_over
from explainers.ui.text.language import fragment
from explainers.ui.text.numbers import bound_rounding, write_decimals
from explainers.ui.untrusted_text import verbatim

SCORES, WEIGHTS, OUTPUT = N_("scores"), N_("weights"), N_("output")
RUNNING, POWERS = N_("running"), N_("powers")
TABLES = (RUNNING, POWERS, WEIGHTS, OUTPUT)
MADE_OF = {RUNNING: (), POWERS: (RUNNING,), WEIGHTS: (POWERS,), OUTPUT: (WEIGHTS,)}
COLUMNS = (N_("largest"), N_("correction"), N_("total"))
Numbers = list[list[float | None]]


@dataclass(frozen=True)
class RowReading:
    """The scores of one word (kv_len,), read `block` keys at a time; value (kv_len, d_v)."""

    scores: Tensor
    value: Tensor
    block: int

    @cached_property
    def steps(self) -> list[Running]:
        """What is known after each block."""
        return read_row(self.scores[None], self.value, self.block)

    def count_seen(self, step: int) -> int:
        """How many keys have been read after a block."""
        return min((step + 1) * self.block, len(self.scores))

    def compute_powers(self, step: int) -> Tensor:
        """e to the (score − largest so far), for the keys that have been read."""
        return torch.exp(self.scores[: self.count_seen(step)] - self.steps[step].largest[0])

    def compute_weights(self, step: int) -> Tensor:
        """The same, divided by the total so far."""
        return self.compute_powers(step) / self.steps[step].total[0]


def read_in_blocks(layer: Layer, word: int, block: int, blocks: int) -> dict[str, Tensor]:
    """One word's row of scores after some blocks: what is kept, and what it gives after each.

    There is a row for each block; 0 where there is nothing yet.
    """
    query, key, value = project(layer.x, layer.head())
    scores = scale(dot_products(query, key), head_dim=query.shape[-1])
    row = RowReading(scores[word], value, block)
    steps, length = row.steps[:blocks], row.count_seen(blocks - 1)
    kept = [torch.cat([one.largest, one.correction, one.total], dim=-1) for one in steps]
    tables = {"powers": row.compute_powers, "weights": row.compute_weights}
    return {
        "scores": row.scores[None, :length],
        "running": torch.cat(kept),
        **{
            name: pad_sequence([compute(n) for n in range(blocks)], batch_first=True)
            for name, compute in tables.items()
        },
        "output": torch.cat([one.output for one in steps]),
    }


@dataclass(frozen=True)
class Row(RowReading):
    """The same row with the sentence that it is of."""

    lab: Lab
    word: int

    @classmethod
    def of(cls, lab: Lab, word: int, block: int) -> "Row":
        """One word's row."""
        return cls(lab.scores[word], lab.views.value, block, lab, word)

    @property
    def difference(self) -> float:
        """The largest from softmax over what was read, of any weight after any block."""
        steps = range(len(self.steps))
        whole = (softmax(self.scores[: self.count_seen(step)]) for step in steps)
        apart = (self.compute_weights(step) - each for step, each in zip(steps, whole, strict=True))
        return max(one.abs().max().item() for one in apart)

    @property
    def output_difference(self) -> float:
        """The largest from attention's own output of this word, when all has been read."""
        return (self.steps[-1].output[0] - self.lab.run.output[self.word]).abs().max().item()

    def make_table(self, name: str) -> Numbers:
        """One of TABLES as it is in the end: a line for each block that was read."""
        length = len(self.lab.tokens)
        if name == RUNNING:
            known = [(s.largest, s.correction, s.total) for s in self.steps]
            numbers: Numbers = [[one.item() for one in line] for line in known]
            numbers[0][COLUMNS.index("correction")] = None  # there was nothing to correct
            return numbers
        if name == OUTPUT:
            return [step.output[0].tolist() for step in self.steps]
        some = self.compute_powers if name == POWERS else self.compute_weights
        lines = [some(step).tolist() for step in range(len(self.steps))]
        return [line + [None] * (length - len(line)) for line in lines]


def explain_cell(row: Row, cell: Cell) -> Arithmetic:
    """How any number of the picture came to be."""
    step, j, what = cell.row, cell.column, f"{cell.panel}[{cell.row}, {cell.column}]"
    if cell.panel == SCORES:
        return row.lab.one_head.explain(Cell(SCORES, row.word, j))
    value = row.make_table(cell.panel)[step][j]
    if value is None:
        if cell.panel == RUNNING:
            why = _("{cell} is blank: nothing was added up before.", cell=what)
        else:
            why = _("{cell} is blank: this key has not been read yet.", cell=what)
        return arithmetic.explain_input(0.0, what, why)
    seen = row.count_seen(step)
    scores, largest = row.scores.tolist(), row.steps[step].largest.item()
    if cell.panel == RUNNING:
        return _explain_running(row, step, COLUMNS[j], value)
    if cell.panel == POWERS:
        return arithmetic.explain_power(scores[j], largest, value, what)
    if cell.panel == WEIGHTS:
        read = [score if n < seen else -inf for n, score in enumerate(scores)]
        return arithmetic.explain_softmax(read, j, value, row.lab.tokens)
    column = row.lab.views.value[:seen, j].tolist()
    return arithmetic.explain_dot_product(row.compute_weights(step).tolist(), column, value, what)


def _explain_running(row: Row, step: int, name: str, value: float) -> Arithmetic:
    """One of the three numbers that are kept of a row."""
    now, block = row.steps[step], row.scores[step * row.block : row.count_seen(step)].tolist()
    if name == "total":
        powers = row.compute_powers(step)[step * row.block :].tolist()
        before = row.steps[step - 1].total.item() if step else 0.0
        factors = [now.correction.item(), *[1.0] * len(powers)]
        return arithmetic.explain_dot_product([before, *powers], factors, value, name)
    before = row.steps[step - 1].largest.item() if step else -inf
    if name == "correction":
        return arithmetic.explain_power(before, now.largest.item(), value, name)
    read = ", ".join(f"{score:.4f}" for score in [before, *block] if score > -inf)
    return arithmetic.explain_input(
        value, name, _("largest of {scores} = {value:.4f}", scores=read, value=value)
    )


FORMULAS = {
    RUNNING: N_("all that is kept of the scores"),
    POWERS: N_("e to the (score − largest)"),
    WEIGHTS: N_("powers ÷ total: every row sums to 1"),
    OUTPUT: N_("weights · V"),
}


EXAMPLE = 6, 2
"""Word and block of the question and of the correction's table."""
ROUNDING = 1e-5
"""A difference below this is no more than rounding."""
ANSWERS = (N_("some percent"), N_("less than 1 %"), N_("equal, up to rounding"))


def read_example(lab: Lab) -> tuple[Row, dict[str, str]]:
    """The row that is asked about, and what a text says of it."""
    word, block = EXAMPLE
    row = Row.of(lab, min(word, len(lab.tokens) - 1), block)
    return row, {
        "word": verbatim(lab.tokens[row.word]),
        "block": f"{block}",
        "count": _(ngettext("{count:,} block", "{count:,} blocks", len(row.steps))),
        "softmax": bound_rounding(row.difference),
        "output": bound_rounding(row.output_difference),
    }


def ask_exact(text: Prose, lab: Lab) -> None:
    """Weights from the whole row, and after the last block: asked how far they are apart."""
    row, named = read_example(lab)
    answer = ANSWERS[2 if row.difference < ROUNDING else 1 if row.difference < 0.01 else 0]
    if not revealed(text, "exact", ANSWERS, answer, **named):
        return
    whole, read = softmax(row.scores), row.compute_weights(len(row.steps) - 1)
    found = {
        N_("whole row"): (whole, N_("softmax of all scores at once"), "weights"),
        N_("block by block"): (read, N_("after the last block"), "weights"),
        N_("difference"): (read - whole, N_("of the two rows"), "signed"),
    }
    panels = []
    for name, (numbers, formula, kind) in found.items():
        places = [lab.tokens[row.word]], lab.tokens, QUERY_AXIS, KEY_AXIS
        limit = 1.0 if kind == "signed" else None
        matrix = Matrix(name, formula, [numbers.tolist()], *places, kind=kind, limit=limit)
        panels.append(Panel(name, matrix))
    alt = _("A row of weights, computed at once and block by block.")
    show_figure(Figure(orient_panels(panels, lab.queries_down), alt), lab.origin, "exact")
    text("exact_seen", **named)


def show_corrections(text: Prose, lab: Lab) -> None:
    """How often a block brings a larger score than all before it; then a line of a table for each:
    the largest score so far, the correction, the total."""
    text("correction")
    row, named = read_example(lab)
    corrected = sum(bool(step.correction < 1) for step in row.steps[1:])
    options = [f"{n}" for n in range(min(len(row.steps), 4))]
    if ask_veiled(text, "row", f"{corrected}", options, **named):
        rows = "\n".join(
            f"| {n} | {write_decimals(s.largest.item(), 3)} "
            f"| {s.correction.item() if n > 1 else 1:.3f} | {s.total.item():.3f} |"
            for n, s in enumerate(row.steps, start=1)
        )
        text("corrections", rows=rows, **named)


def choose_step(control: BrowserSlider, count: int) -> Slider:
    """A slider that plays through so many steps, at the one that is chosen."""
    place = min(control(), count - 1)
    labels = [_("{count} of {all}", count=n + 1, all=count) for n in range(count)]
    return Slider.of(control, labels, place, plays=True)


@fragment
def show_row(text: Prose, lab: Lab) -> None:
    """The row of a word that is chosen, block by block: the three numbers that are kept of it."""
    text("how")
    with st.container(horizontal=True):
        word = controls.reading_word.choose_by_name(lab.tokens)
        row = Row.of(lab, word, int(controls.kv_block()))
    slider = choose_step(controls.block_count, len(row.steps))
    read = slider.index + 1
    panels = orient_panels(make_row_panels(row, read), lab.queries_down)
    alt = _(
        "A row of scores, read in blocks: largest score, correction and total; powers; weights."
    )
    show_clickable_figure(panels, partial(explain_cell, row), lab.origin, "row", alt, slider)
    inputs = {"layer": lab.layer, "word": row.word, "block": row.block, "blocks": read}
    hand_over("row", _("A row of scores in blocks"), read_in_blocks, **inputs)
    show_source(read_row, read_block)


def make_row_panels(row: Row, read: int) -> list[Panel]:
    """All matrices when `read` blocks have been read, with a frame for every number of them.

    A class reads the line of the last one.
    """
    followed = read - 1 if is_lecture() else None
    tokens, line = row.lab.tokens, row.scores.tolist()
    count = range(1, len(row.steps) + 1)
    seen = [row.count_seen(n - 1) for n in count]
    shown = tuple([line[:length] + [None] * (len(line) - length)] for length in seen)
    labels = [tokens[row.word]], tokens, QUERY_AXIS, KEY_AXIS
    limit = find_largest([line])  # a colour means the same number in every frame
    scores = Matrix(SCORES, "q · k ÷ √d_k", shown[read - 1], *labels, limit=limit)
    panels = [Panel(SCORES, scores, frames=shown)]
    of_output = [str(n) for n in range(row.lab.views.value.shape[1])], FEATURE_AXIS
    columns = {RUNNING: ([*map(_, COLUMNS)], RUNNING_AXIS), OUTPUT: of_output}
    for name in TABLES:
        table, (across, axis) = row.make_table(name), columns.get(name, (tokens, KEY_AXIS))
        blank: Values = [[None] * len(line) for line in table]  # what is not there yet
        frames = tuple([*table[:n], *blank[n:]] for n in count)
        places = [f"{n}" for n in count], across, BLOCK_AXIS, axis
        kind = "weights" if name in (POWERS, WEIGHTS) else "signed"
        matrix = Matrix(
            name, FORMULAS[name], frames[read - 1], *places, kind=kind, limit=find_largest(table)
        )
        sources = tuple(Source(one, row="row") for one in MADE_OF[name])
        panels.append(Panel(name, matrix, sources=sources, frames=frames, followed=followed))
    return panels
