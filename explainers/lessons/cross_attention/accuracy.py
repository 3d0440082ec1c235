"""Are the weights an alignment? Scored against gold, beside aligners that are no network."""

from collections.abc import Set

import streamlit as st

from explainers.lessons.cross_attention import held_out
from explainers.lessons.cross_attention.held_out import LAST, LEARNED_FROM, Reading
from explainers.lessons.cross_attention.view import View
from explainers.translation.alignment import PREDICTED, Link, Score, aer, diagonal, read_links
from explainers.translation.ibm1 import Model
from explainers.ui import cross_controls
from explainers.ui.cross_controls import MEAN, PREDICTS
from explainers.ui.predict import revealed
from explainers.ui.prose import Prose
from explainers.ui.source import show_source

WEIGHTS, COUNTED, STRAIGHT = "attention", "IBM Model 1", "the diagonal"
UNKNOWN = "–"


def show_accuracy(text: Prose, view: View) -> None:
    """A guess who aligns best; then all of them, on this sentence and on held-out ones."""
    text("accuracy")
    measured = held_out.scores()
    ours, others = measured[Reading(LAST, MEAN, PREDICTED)], held_out.baselines()
    rates = {WEIGHTS: ours.aer, COUNTED: others["ibm"].aer, STRAIGHT: others["diagonal"].aer}
    answer = min(rates, key=lambda name: rates[name])
    if not revealed(text, "accuracy", list(rates), answer, pairs=f"{LEARNED_FROM:,}"):
        return
    chosen = Reading(view.layer, view.head, view.by)
    words, count = view.found.words, view.syllables
    lines = [
        _line(f"**{view.said}**", _here(view, view.links(view.by)), measured[chosen]),
        _line(STRAIGHT, _here(view, diagonal(len(words), count)), others["diagonal"]),
        _line(
            COUNTED,
            _here(view, held_out.ibm_model().align(words, view.found.syllables)),
            others["ibm"],
        ),
    ]
    text(
        "accuracy_table",
        rows="\n".join(lines),
        sentences=len(held_out.pairs()),
        pairs=f"{LEARNED_FROM:,}",
    )
    if not view.gold:
        text("no_gold")
    show_source(aer, read_links, Model.learn, Model.align)


def offer_heads() -> None:
    """The head that aligns best on held-out sentences, and the worst one."""
    single = {
        reading: score.aer
        for reading, score in held_out.scores().items()
        if reading.head != MEAN and reading.by == PREDICTED
    }
    with st.container(horizontal=True):
        for name, choose in (("Best", min), ("Worst", max)):
            reading = choose(single, key=lambda one: single[one])
            label = f"{name} head: layer {reading.layer + 1}, head {reading.head}"
            rate = f"alignment error rate {single[reading]:.2f} on held-out sentences"
            st.button(label, on_click=look_at, args=(reading,), help=rate)


def look_at(reading: Reading) -> None:
    """Show this head in the picture; a callback."""
    st.session_state[cross_controls.layer.key] = str(reading.layer + 1)
    st.session_state[cross_controls.head.key] = reading.head
    by_prediction = reading.by == PREDICTED
    st.session_state[cross_controls.rows.key] = PREDICTS if by_prediction else cross_controls.READS


def _here(view: View, links: Set[Link]) -> Score | None:
    """On the sentence of the page, if its gold is known."""
    return aer(set(links), set(view.gold.sure), set(view.gold.possible)) if view.gold else None


def _line(name: str, here: Score | None, held: Score) -> str:
    cells = [f"{number:.2f}" for number in here] if here else [UNKNOWN] * 3
    return f"| {name} | {' | '.join(cells)} | {' | '.join(f'{number:.3f}' for number in held)} |"
