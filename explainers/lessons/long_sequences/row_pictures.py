"""Online softmax in front of the reader: a row of scores, what is kept of it, its arithmetic."""

from collections.abc import Sequence

from explainers.attention.online_softmax import read_block, read_row
from explainers.charts.matrix import Matrix, Values, largest
from explainers.charts.theme import BLOCK_AXIS, FEATURE_AXIS, KEPT_AXIS, KEY_AXIS, QUERY_AXIS
from explainers.lessons.long_sequences.row import (
    COLUMNS,
    OUTPUT,
    POWERS,
    RUNNING,
    SCORES,
    TABLES,
    WEIGHTS,
    Row,
)
from explainers.lessons.long_sequences.row_arithmetic import arithmetic_of_row
from explainers.lessons.mask_lab import Lab
from explainers.lessons.taken import long_sequences as taken
from explainers.lessons.wording import less_than, so_many
from explainers.phrase import phrase
from explainers.ui import length_controls
from explainers.ui.language import said, translated
from explainers.ui.numbers import explore
from explainers.ui.panels import Panel, Slider, Source, oriented
from explainers.ui.plain import verbatim
from explainers.ui.predict import revealed
from explainers.ui.prose import Prose
from explainers.ui.source import show_source

FORMULAS = {
    RUNNING: phrase("all that is kept of the scores"),
    POWERS: phrase("e to the (score − largest)"),
    WEIGHTS: phrase("powers ÷ total: every row sums to 1"),
    OUTPUT: phrase("weights · V"),
}


def show_row(text: Prose, lab: Lab, word: int, block: int) -> None:
    """Guess how often a correction is needed, then read the row block by block."""
    row = Row(lab, word, block)
    count, name = len(row.steps), verbatim(lab.tokens[word])
    options = [f"{n}" for n in range(min(count, 4))]
    blocks, each = so_many(count, "block"), so_many(block, "score")
    if not revealed(text, "row", options, f"{row.corrected}", word=name, block=each, count=blocks):
        return
    control = length_controls.blocks_read
    place = min(control(), count - 1)
    labels = [said("{count} of {all}", count=n + 1, all=count) for n in range(count)]
    slider = Slider(control.label, labels, place, lambda turned: control.put(turned + 1), True)
    panels = oriented(panels_of(row, place + 1), lab.queries_down)
    alt = said(
        "A row of scores, read in blocks: largest score, correction and total; powers; weights."
    )
    explore(panels, arithmetic_of_row(row), lab.origin, "row", alt, slider=slider, first=RUNNING)
    taken.row(lab, word, block, place + 1, row.so_far(place + 1))
    text("row_seen", softmax=less_than(row.difference), output=less_than(row.output_difference))
    show_source(read_row, read_block)


def panels_of(row: Row, read: int) -> list[Panel]:
    """All matrices when `read` blocks have been read, with a frame for every number of them."""
    tokens, line = row.lab.tokens, row.scores.tolist()
    count = range(1, len(row.steps) + 1)
    seen = [row.seen(n - 1) for n in count]
    shown = tuple([line[:length] + [None] * (len(line) - length)] for length in seen)
    labels = [tokens[row.word]], tokens, QUERY_AXIS, KEY_AXIS
    limit = largest([line])  # a colour means the same number in every frame
    scores = Matrix(SCORES, "q · k ÷ √d_k", shown[read - 1], *labels, limit=limit)
    panels = [Panel(SCORES, scores, frames=shown)]
    of_output = [str(n) for n in range(row.lab.views.value.shape[1])], FEATURE_AXIS
    columns = {RUNNING: ([*map(translated, COLUMNS)], KEPT_AXIS), OUTPUT: of_output}
    for name in TABLES:
        table, (across, axis) = row.table(name), columns.get(name, (tokens, KEY_AXIS))
        frames = tuple(_first(table, n) for n in count)
        places = row.names, across, BLOCK_AXIS, axis
        kind = "weights" if name in (POWERS, WEIGHTS) else "signed"
        matrix = Matrix(
            name, FORMULAS[name], frames[read - 1], *places, kind=kind, limit=largest(table)
        )
        panels.append(Panel(name, matrix, sources=_sources(name), frames=frames))
    return panels


def _sources(name: str) -> tuple[Source, ...]:
    before = {RUNNING: (), POWERS: (RUNNING,), WEIGHTS: (POWERS,), OUTPUT: (WEIGHTS,)}
    return tuple(Source(one, row="row") for one in before[name])


def _first(table: Sequence[Sequence[float | None]], count: int) -> Values:
    """The first lines; those that are not there yet are blank."""
    return [list(line) if n < count else [None] * len(line) for n, line in enumerate(table)]
