"""The same weights with their rows named in two ways: one of the two is off by one."""

from explainers.charts.matrix import Matrix
from explainers.lessons.cross_attention import held_out
from explainers.lessons.cross_attention.accuracy import look_at, named
from explainers.lessons.cross_attention.held_out import BY, HEADS, LAST, Reading
from explainers.lessons.cross_attention.view import View
from explainers.phrase import phrase
from explainers.translation.alignment import INPUT, PREDICTED, read_links
from explainers.translation.parts import LAYERS
from explainers.ui.clicks import show_clickable
from explainers.ui.cross_controls import MEAN, PREDICTS, READS
from explainers.ui.language import said, translated
from explainers.ui.panels import Cell, Panel
from explainers.ui.predict import revealed
from explainers.ui.prose import Prose
from explainers.ui.source import show_source
from explainers.working import Working, given

TABLE = phrase("alignment error rate")
AXES = phrase("head"), phrase("rows")
READINGS = [(layer, head) for layer in range(LAYERS) for head in HEADS]
ANSWERS = (
    phrase("about the same"),
    phrase("2 to 5 times as large"),
    phrase("more than 5 times as large"),
)


def times(predicted: float, by_input: float) -> str:
    """Among the answers: how much larger the error is with the rows named by what they read."""
    ratio = by_input / max(predicted, 1e-9)
    return ANSWERS[0] if ratio < 2 else ANSWERS[1] if ratio <= 5 else ANSWERS[2]


def show_off_by_one(text: Prose, view: View) -> None:
    """A guess; then both rates of every head. A click takes a head into the picture above."""
    text("off_by_one")
    measured = held_out.scores()
    right, wrong = (measured[Reading(LAST, MEAN, by)].aer for by in BY)
    answer, shown = times(right, wrong), (f"{right:.3f}", f"{wrong:.3f}")
    if not revealed(text, "off_by_one", ANSWERS, answer, right=shown[0], wrong=shown[1]):
        return
    values = [[measured[Reading(*one, by)].aer for by in BY] for one in READINGS]
    names = [named(layer, head) for layer, head in READINGS]
    ways = [translated(PREDICTS), translated(READS)]
    rule = said("{count} held-out sentences; 0 is best", count=len(held_out.pairs()))
    matrix = Matrix(TABLE, rule, values, names, ways, *AXES, kind="weights")
    alt = said(
        "Alignment error rate of every head, rows read in two ways: {right:.2f} and {wrong:.2f}.",
        right=right,
        wrong=wrong,
    )

    def choose(cell: Cell) -> None:
        look_at(Reading(*READINGS[cell.row], BY[cell.column]))

    show_clickable(
        [Panel(TABLE, matrix)], _none, view.origin, "both ways", alt, acts={TABLE: choose}
    )
    first = [measured[Reading(0, MEAN, by)].aer for by in BY]
    by_input = [n + 1 for n in range(LAYERS) if _is_by_input(n)]
    text(
        "off_by_one_seen",
        first=f"{first[0]:.2f}",
        first_input=f"{first[1]:.2f}",
        by_input=", ".join(map(str, by_input)) or said("none"),
    )
    show_source(read_links)


def _is_by_input(layer: int) -> bool:
    rates = held_out.scores()
    return rates[Reading(layer, MEAN, INPUT)].aer < rates[Reading(layer, MEAN, PREDICTED)].aer


def _none(_: Cell) -> Working:
    return given(0.0, TABLE)
