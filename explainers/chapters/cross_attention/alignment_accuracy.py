"""Are the weights an alignment? Scored against gold, with rows named in two ways."""

import streamlit as st

from explainers.arithmetic import Arithmetic, explain_input
from explainers.chapters.cross_attention import held_out
from explainers.chapters.cross_attention.alignment_view import View
from explainers.chapters.cross_attention.held_out import BY, HEADS, LAST, LEARNED_FROM, Reading
from explainers.charts.matrix import Matrix
from explainers.messages import N_
from explainers.translation.alignment import (
    INPUT,
    PREDICTED,
    AlignmentScore,
    align_diagonally,
    read_links,
    reestimate,
    score_alignment,
)
from explainers.translation.model import NUM_LAYERS
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.controls.controls import MEAN, PREDICTS, READS
from explainers.ui.figure.clickable_figure import show_clickable
from explainers.ui.figure.figure import show_figure
from explainers.ui.figure.panels import Cell, Figure, Panel
from explainers.ui.page import Prose
from explainers.ui.predict import revealed
from explainers.ui.source import show_source

WEIGHTS, COUNTED, STRAIGHT = N_("attention"), "IBM Model 1", N_("the diagonal")


def show_accuracy(text: Prose, view: View) -> None:
    """A guess who aligns best; then all of them, on this sentence and on held-out ones."""
    text("accuracy")
    measured = held_out.scores()
    ours, others = measured[Reading(LAST, MEAN, PREDICTED)], held_out.baselines()
    rates = {WEIGHTS: ours.aer, COUNTED: others["ibm"].aer, STRAIGHT: others["diagonal"].aer}
    answer = min(rates, key=lambda name: rates[name])
    if not revealed(text, "accuracy", list(rates), answer, pairs=f"{LEARNED_FROM:,}"):
        return
    words, syllables = view.found.words, view.found.syllables
    chosen = measured[Reading(view.layer, view.head, view.by)]
    straight, counted = (
        align_diagonally(len(words), len(syllables)),
        held_out.ibm_links(words, syllables),
    )
    tables = {N_("held out"): [chosen, others["diagonal"], others["ibm"]]}
    if view.gold:
        each = (view.links(view.by), straight, counted)
        here = [
            score_alignment(links, set(view.gold.sure), set(view.gold.possible)) for links in each
        ]
        tables = {N_("this sentence"): here, **tables}
    panels = [Panel(name, _table(view, name, rows)) for name, rows in tables.items()]
    errors = [
        _("{table}: error {rate:.2f}", table=_(name), rate=rows[0].aer)
        for name, rows in tables.items()
    ]
    alt = _("Scores of {heads} and of two baselines.", heads=view.place)
    show_figure(Figure(panels, f"{alt} {'; '.join(errors)}"), view.origin, "scores")
    text("accuracy_seen", sentences=len(held_out.pairs()), pairs=f"{LEARNED_FROM:,}")
    if not view.gold:
        text("no_gold")
    show_source(score_alignment, read_links, reestimate)


def named(layer: int, head: str) -> str:
    """A head beside its row of a table."""
    if head == MEAN:
        return _("L{layer} mean", layer=layer + 1)
    return f"L{layer + 1} {head}"


def _table(view: View, name: str, rows: list[AlignmentScore]) -> Matrix:
    """A line for each aligner; 0 is best for the error, 1 for the others."""
    names = [named(view.layer, view.head), _("diagonal"), "IBM 1"]
    values = [list(row) for row in rows]
    columns = ["AER", _("precision"), _("recall")]
    axes = N_("aligner"), N_("score")
    return Matrix(name, "", values, names, columns, *axes, kind="weights")


def offer_heads() -> None:
    """The head that aligns best on held-out sentences, and the worst one."""
    single = {
        reading: score.aer
        for reading, score in held_out.scores().items()
        if reading.head != MEAN and reading.by == PREDICTED
    }
    with st.container(horizontal=True):
        best, worst = (choose(single, key=lambda one: single[one]) for choose in (min, max))
        labels = {
            best: _("Best head: layer {layer}, head {head}", layer=best.layer + 1, head=best.head),
            worst: _(
                "Worst head: layer {layer}, head {head}", layer=worst.layer + 1, head=worst.head
            ),
        }
        for reading, label in labels.items():
            rate = _("alignment error rate {rate:.2f} on held-out sentences", rate=single[reading])
            st.button(label, on_click=look_at, args=(reading,), help=rate)


def look_at(reading: Reading) -> None:
    """Show this head in the picture; a callback."""
    st.session_state[controls.cross_layer.key] = str(reading.layer + 1)
    st.session_state[controls.cross_head.key] = reading.head
    by_prediction = reading.by == PREDICTED
    st.session_state[controls.cross_rows.key] = PREDICTS if by_prediction else controls.READS


TABLE = N_("alignment error rate")
AXES = N_("head"), N_("rows")
READINGS = [(layer, head) for layer in range(NUM_LAYERS) for head in HEADS]
ANSWERS = (
    N_("about the same"),
    N_("2 to 5 times as large"),
    N_("more than 5 times as large"),
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
    ways = [_(PREDICTS), _(READS)]
    rule = _("{count} held-out sentences; 0 is best", count=len(held_out.pairs()))
    matrix = Matrix(TABLE, rule, values, names, ways, *AXES, kind="weights")
    alt = _(
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
    by_input = [n + 1 for n in range(NUM_LAYERS) if _is_by_input(n)]
    text(
        "off_by_one_seen",
        first=f"{first[0]:.2f}",
        first_input=f"{first[1]:.2f}",
        by_input=", ".join(map(str, by_input)) or _("none"),
    )
    show_source(read_links)


def _is_by_input(layer: int) -> bool:
    rates = held_out.scores()
    return rates[Reading(layer, MEAN, INPUT)].aer < rates[Reading(layer, MEAN, PREDICTED)].aer


def _none(_unused: Cell) -> Arithmetic:
    return explain_input(0.0, TABLE)
