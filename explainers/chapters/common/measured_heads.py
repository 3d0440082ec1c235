"""The scores of a model's heads: measured on the reader's wish, once, and then kept."""

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from explainers.chapters.common.background_job import button, start, watch
from explainers.messages import N_
from explainers.models.grammar_heads import SENTENCES_PER_HALF
from explainers.models.head_scores import HeadScores
from explainers.models.head_scores_job import RUNS, Scoring, kept
from explainers.models.probes import NATURAL_LENGTH, NUM_TEXTS, REPEATED_LENGTH
from explainers.translations import _
from explainers.ui.controls.controls import PROSE, TWICE
from explainers.ui.page import Prose
from explainers.ui.provenance import real
from explainers.ui.session import HEAD_SCORES_JOB
from explainers.ui.untrusted_text import shortened, verbatim

if TYPE_CHECKING:
    from explainers.models.load import RealModel


MEASURE = N_("Measure all heads")
LONGEST_PROBLEM = 300
MEASURED = N_("measured this")
"""Of code whose results were kept: other code would not find them."""
PROBE_OF = {TWICE: "repeated", PROSE: "natural"}
"""What the measurement calls each text that the reader can choose."""


@dataclass(frozen=True)
class Gallery:
    """A model with the scores of its heads."""

    loaded: "RealModel"
    scores: HeadScores

    @property
    def layers(self) -> int:
        return self.scores.shape[0]

    @property
    def heads(self) -> int:
        """In each layer."""
        return self.scores.shape[1]

    @property
    def origin(self) -> str:
        model = self.loaded.provenance
        return real(_("{model} · measured once, then kept on the server's disk", model=model))


def named(layer: int, head: int) -> str:
    """A head's short name."""
    return f"L{layer}.H{head}"


def measured(text: Prose, loaded: "RealModel") -> Gallery | None:
    """The scores if there are any; else a button that has them measured, and how far that is."""
    scores = kept(loaded.name)
    if scores:
        return Gallery(loaded, scores)
    text(
        "measure",
        runs=RUNS,
        texts=NUM_TEXTS,
        length=REPEATED_LENGTH,
        prose=NATURAL_LENGTH,
        sentences=2 * SENTENCES_PER_HALF,
    )
    button(HEAD_SCORES_JOB, _(MEASURE), _start, loaded.name, icon=":material/query_stats:")
    job: Scoring | None = st.session_state.get(HEAD_SCORES_JOB)
    if not job or job.asked != loaded.name:
        return None
    if job.state == "failed":
        problem = verbatim(shortened(_(job.problem), LONGEST_PROBLEM))
        st.error(problem, icon=":material/error:")
    elif job.scores:  # measured, but the disk could not keep it
        return Gallery(loaded, job.scores)
    else:
        watch(HEAD_SCORES_JOB, job, _("Reading"), partial(_so_far, job), lambda: None)
    return None


def _start(named: str) -> None:
    start(HEAD_SCORES_JOB, named, lambda: Scoring(named=named))


def _so_far(job: Scoring) -> str:
    return _("{done} of {all} layers", done=job.done, all=job.steps or "…")
