"""Are the weights an alignment? Scored against gold, with rows named in two ways."""

import streamlit as st

from explainers.arithmetic import Arithmetic, explain_input
from explainers.chapters.cross_attention import held_out_scores
from explainers.chapters.cross_attention.alignment_view import View
from explainers.chapters.cross_attention.held_out_scores import (
    HEADS,
    IBM1_SENTENCES,
    LAST_LAYER,
    ROW_SIDES,
    Reading,
)
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
from explainers.ui.figure.clickable_figure import show_clickable_figure
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Cell, Figure, Panel
from explainers.ui.page import Prose
from explainers.ui.prediction import revealed
from explainers.ui.source import show_source

ATTENTION, IBM1, DIAGONAL = N_("attention"), "IBM Model 1", N_("the diagonal")


def show_accuracy(text: Prose, view: View) -> None:
    """A guess who aligns best; then all of them, on this sentence and on held-out ones."""
    text("accuracy")
    scores = held_out_scores.score_readings()
    attention_score = scores[Reading(LAST_LAYER, MEAN, PREDICTED)]
    baseline_scores = held_out_scores.score_baselines()
    rates = {
        ATTENTION: attention_score.aer,
        IBM1: baseline_scores["ibm"].aer,
        DIAGONAL: baseline_scores["diagonal"].aer,
    }
    answer = min(rates, key=lambda name: rates[name])
    if not revealed(text, "accuracy", list(rates), answer, pairs=f"{IBM1_SENTENCES:,}"):
        return
    words, syllables = view.translation.words, view.translation.syllables
    head_score = scores[Reading(view.layer, view.head, view.row_side)]
    diagonal_links = align_diagonally(len(words), len(syllables))
    ibm1_links = held_out_scores.align_by_ibm1(words, syllables)
    tables = {N_("held out"): [head_score, baseline_scores["diagonal"], baseline_scores["ibm"]]}
    if view.gold:
        link_sets = (view.read_links(view.row_side), diagonal_links, ibm1_links)
        sentence_scores = [
            score_alignment(links, set(view.gold.sure), set(view.gold.possible))
            for links in link_sets
        ]
        tables = {N_("this sentence"): sentence_scores, **tables}
    panels = [Panel(name, _make_score_table(view, name, rows)) for name, rows in tables.items()]
    errors = [
        _("{table}: error {rate:.2f}", table=_(name), rate=rows[0].aer)
        for name, rows in tables.items()
    ]
    alt = _("Scores of {heads} and of two baselines.", heads=view.head_label)
    show_figure(Figure(panels, f"{alt} {'; '.join(errors)}"), view.origin, "scores")
    text("accuracy_seen", sentences=len(held_out_scores.list_pairs()), pairs=f"{IBM1_SENTENCES:,}")
    if not view.gold:
        text("no_gold")
    show_source(score_alignment, read_links, reestimate)


def name_head(layer: int, head: str) -> str:
    """A head beside its row of a table."""
    if head == MEAN:
        return _("L{layer} mean", layer=layer + 1)
    return f"L{layer + 1} {head}"


def _make_score_table(view: View, name: str, rows: list[AlignmentScore]) -> Matrix:
    """A line for each aligner; 0 is best for the error, 1 for the others."""
    names = [name_head(view.layer, view.head), _("diagonal"), "IBM 1"]
    values = [list(row) for row in rows]
    columns = ["AER", _("precision"), _("recall")]
    axes = N_("aligner"), N_("score")
    return Matrix(name, "", values, names, columns, *axes, kind="weights")


def offer_heads() -> None:
    """The head that aligns best on held-out sentences, and the worst one."""
    error_rates = {
        reading: score.aer
        for reading, score in held_out_scores.score_readings().items()
        if reading.head != MEAN and reading.row_side == PREDICTED
    }
    with st.container(horizontal=True):
        best, worst = (
            find_extreme(error_rates, key=lambda reading: error_rates[reading])
            for find_extreme in (min, max)
        )
        labels = {
            best: _("Best head: layer {layer}, head {head}", layer=best.layer + 1, head=best.head),
            worst: _(
                "Worst head: layer {layer}, head {head}", layer=worst.layer + 1, head=worst.head
            ),
        }
        for reading, label in labels.items():
            rate = _(
                "alignment error rate {rate:.2f} on held-out sentences", rate=error_rates[reading]
            )
            st.button(label, on_click=select_head, args=(reading,), help=rate)


def select_head(reading: Reading) -> None:
    """Show this head in the picture; a callback."""
    st.session_state[controls.cross_layer.key] = str(reading.layer + 1)
    st.session_state[controls.cross_head.key] = reading.head
    by_prediction = reading.row_side == PREDICTED
    st.session_state[controls.cross_rows.key] = PREDICTS if by_prediction else controls.READS


ERROR_RATE = N_("alignment error rate")
ERROR_AXES = N_("head"), N_("rows")
LAYER_HEADS = [(layer, head) for layer in range(NUM_LAYERS) for head in HEADS]
RATIOS = (N_("about the same"), N_("2 to 5 times as large"), N_("more than 5 times as large"))


def choose_ratio(predicted: float, by_input: float) -> str:
    """Among the answers: how much larger the error is with the rows named by what they read."""
    ratio = by_input / max(predicted, 1e-9)
    return RATIOS[0] if ratio < 2 else RATIOS[1] if ratio <= 5 else RATIOS[2]


def show_off_by_one(text: Prose, view: View) -> None:
    """A guess; then both rates of every head. A click takes a head into the picture above."""
    text("off_by_one")
    scores = held_out_scores.score_readings()
    right, wrong = (scores[Reading(LAST_LAYER, MEAN, row_side)].aer for row_side in ROW_SIDES)
    answer, rate_texts = choose_ratio(right, wrong), (f"{right:.3f}", f"{wrong:.3f}")
    if not revealed(text, "off_by_one", RATIOS, answer, right=rate_texts[0], wrong=rate_texts[1]):
        return
    values = [
        [scores[Reading(*layer_head, row_side)].aer for row_side in ROW_SIDES]
        for layer_head in LAYER_HEADS
    ]
    names = [name_head(layer, head) for layer, head in LAYER_HEADS]
    column_names = [_(PREDICTS), _(READS)]
    rule = _("{count} held-out sentences; 0 is best", count=len(held_out_scores.list_pairs()))
    matrix = Matrix(ERROR_RATE, rule, values, names, column_names, *ERROR_AXES, kind="weights")
    alt = _(
        "Alignment error rate of every head, rows read in two ways: {right:.2f} and {wrong:.2f}.",
        right=right,
        wrong=wrong,
    )

    def select_cell(cell: Cell) -> None:
        select_head(Reading(*LAYER_HEADS[cell.row], ROW_SIDES[cell.column]))

    show_clickable_figure(
        [Panel(ERROR_RATE, matrix)],
        _explain_no_cell,
        view.origin,
        "both ways",
        alt,
        acts={ERROR_RATE: select_cell},
    )
    first = [scores[Reading(0, MEAN, row_side)].aer for row_side in ROW_SIDES]
    by_input = [n + 1 for n in range(NUM_LAYERS) if _is_better_by_input(n)]
    text(
        "off_by_one_seen",
        first=f"{first[0]:.2f}",
        first_input=f"{first[1]:.2f}",
        by_input=", ".join(map(str, by_input)) or _("none"),
    )
    show_source(read_links)


def _is_better_by_input(layer: int) -> bool:
    rates = held_out_scores.score_readings()
    return rates[Reading(layer, MEAN, INPUT)].aer < rates[Reading(layer, MEAN, PREDICTED)].aer


def _explain_no_cell(_unused: Cell) -> Arithmetic:
    return explain_input(0.0, ERROR_RATE)
