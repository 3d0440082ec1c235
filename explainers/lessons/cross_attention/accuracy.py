"""Are the weights an alignment? Scored against gold, beside aligners that are no network."""

import streamlit as st

from explainers.charts.matrix import Matrix
from explainers.lessons.cross_attention import held_out
from explainers.lessons.cross_attention.held_out import LAST, LEARNED_FROM, Reading
from explainers.lessons.cross_attention.view import View
from explainers.phrase import phrase
from explainers.translation.alignment import PREDICTED, Score, aer, diagonal, read_links
from explainers.translation.ibm1 import reestimated
from explainers.ui import cross_controls
from explainers.ui.cross_controls import MEAN, PREDICTS
from explainers.ui.figure import show_figure
from explainers.ui.language import said, translated
from explainers.ui.panels import Figure, Panel
from explainers.ui.predict import revealed
from explainers.ui.prose import Prose
from explainers.ui.source import show_source

WEIGHTS, COUNTED, STRAIGHT = phrase("attention"), "IBM Model 1", phrase("the diagonal")


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
    straight, counted = diagonal(len(words), len(syllables)), held_out.ibm_links(words, syllables)
    tables = {phrase("held out"): [chosen, others["diagonal"], others["ibm"]]}
    if view.gold:
        each = (view.links(view.by), straight, counted)
        here = [aer(links, set(view.gold.sure), set(view.gold.possible)) for links in each]
        tables = {phrase("this sentence"): here, **tables}
    panels = [Panel(name, _table(view, name, rows)) for name, rows in tables.items()]
    errors = [
        said("{table}: error {rate:.2f}", table=translated(name), rate=rows[0].aer)
        for name, rows in tables.items()
    ]
    alt = said("Scores of {heads} and of two baselines.", heads=view.place)
    show_figure(Figure(panels, f"{alt} {'; '.join(errors)}"), view.origin, "scores")
    text("accuracy_seen", sentences=len(held_out.pairs()), pairs=f"{LEARNED_FROM:,}")
    if not view.gold:
        text("no_gold")
    show_source(aer, read_links, reestimated)


def named(layer: int, head: str) -> str:
    """A head beside its row of a table."""
    if head == MEAN:
        return said("L{layer} mean", layer=layer + 1)
    return f"L{layer + 1} {head}"


def _table(view: View, name: str, rows: list[Score]) -> Matrix:
    """A line for each aligner; 0 is best for the error, 1 for the others."""
    names = [named(view.layer, view.head), said("diagonal"), "IBM 1"]
    values = [list(row) for row in rows]
    columns = ["AER", said("precision"), said("recall")]
    axes = phrase("aligner"), phrase("score")
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
            best: said(
                "Best head: layer {layer}, head {head}", layer=best.layer + 1, head=best.head
            ),
            worst: said(
                "Worst head: layer {layer}, head {head}", layer=worst.layer + 1, head=worst.head
            ),
        }
        for reading, label in labels.items():
            rate = said(
                "alignment error rate {rate:.2f} on held-out sentences", rate=single[reading]
            )
            st.button(label, on_click=look_at, args=(reading,), help=rate)


def look_at(reading: Reading) -> None:
    """Show this head in the picture; a callback."""
    st.session_state[cross_controls.layer.key] = str(reading.layer + 1)
    st.session_state[cross_controls.head.key] = reading.head
    by_prediction = reading.by == PREDICTED
    st.session_state[cross_controls.rows.key] = PREDICTS if by_prediction else cross_controls.READS
