"""Each change of the weights on many sentences: how many are still translated without a fault."""

from collections.abc import Iterator
from typing import NamedTuple

import streamlit as st

from explainers.chapters.common.background_job import Measuring, button, start, watch
from explainers.chapters.cross_attention.changed_translation import attends
from explainers.translation import weights_file
from explainers.translation.corpus import for_testing
from explainers.translation.measure import exact_match
from explainers.translation.search import greedy
from explainers.translations import _
from explainers.ui.controls.controls import LEARNED, PEAK, PERMUTED, UNIFORM
from explainers.ui.page import Prose
from explainers.ui.session import ABLATION_TABLE_JOB
from explainers.ui.source import show_source

SENTENCES = 50
CASES = (
    (LEARNED, False),
    (PEAK, False),
    (PEAK, True),
    (UNIFORM, False),
    (UNIFORM, True),
    (PERMUTED, False),
    (PERMUTED, True),
)
"""What is put in place of the learned weights, and whether in all layers."""


class Tried(NamedTuple):
    """The share of sentences that are still translated as the corpus does."""

    instead: str
    everywhere: bool
    exact: float


def tried() -> Iterator[Tried]:
    """Every case, one after the other."""
    model, pairs = weights_file.load().model, for_testing(SENTENCES).unseen
    for instead, everywhere in CASES:
        attend = attends(instead, everywhere)
        yield Tried(instead, everywhere, exact_match(model, pairs, attend))


def show_tried(text: Prose) -> None:
    """A button; then a line for each case."""
    label = _("Try them all on {count} held-out sentences", count=SENTENCES)
    button(ABLATION_TABLE_JOB, label, _start, icon=":material/experiment:")
    job: Measuring[Tried] | None = st.session_state.get(ABLATION_TABLE_JOB)
    if job:

        def done() -> str:
            return _("{count} of {all}", count=len(job.found), all=job.steps)

        watch(ABLATION_TABLE_JOB, job, _("Translating"), done, lambda: _show(text, job))
        show_source(exact_match, greedy)


def _start() -> None:
    start(ABLATION_TABLE_JOB, SENTENCES, lambda: Measuring(len(CASES), tried))


def _show(text: Prose, job: Measuring[Tried]) -> None:
    found = list(job.found)
    if not found:
        return
    where = {False: _("last layer"), True: _("all layers")}
    lines = [
        f"| {_(one.instead)} | {'–' if one.instead == LEARNED else where[one.everywhere]} "
        f"| {100 * one.exact:.0f} % |"
        for one in found
    ]
    text("tried", rows="\n".join(lines), sentences=SENTENCES)
