"""The scores of a model's heads: measured on the reader's wish, once, and then kept."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from explainers.chapters.common.background_job import offer_job, show_problem, watch_job
from explainers.messages import N_
from explainers.models.grammar_heads import SENTENCES_PER_HALF
from explainers.models.head_scores import HeadScores
from explainers.models.head_scores_job import RUNS, make_head_scores_job, read_scores
from explainers.models.probes import NATURAL_LENGTH, NUM_TEXTS, REPEATED_LENGTH
from explainers.translations import _
from explainers.ui.controls.controls import PROSE, TWICE
from explainers.ui.page import Prose
from explainers.ui.provenance import real_model
from explainers.ui.session import HEAD_SCORES_JOB

if TYPE_CHECKING:
    from explainers.models.load import RealModel


MEASURE_LABEL = N_("Measure all heads")
CODE_ROLE = N_("measured this")
"""Of code whose results were kept: other code would not find them."""
PROBE_NAMES = {TWICE: "repeated", PROSE: "natural"}
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
        return real_model(_("{model} · measured once, then kept on the server's disk", model=model))


def name_head(layer: int, head: int) -> str:
    """A head's short name."""
    return f"L{layer}.H{head}"


def obtain_gallery(text: Prose, loaded: "RealModel") -> Gallery | None:
    """The scores if there are any; else a button that has them measured, and how far that is."""
    scores = read_scores(loaded.name)
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
    job = make_head_scores_job(loaded.name)
    shown = offer_job(HEAD_SCORES_JOB, _(MEASURE_LABEL), job, icon=":material/query_stats:")
    if not shown or shown.subject != loaded.name:
        return None
    if shown.state == "failed":
        show_problem(shown)
    elif shown.result:  # measured, but the disk could not keep it
        return Gallery(loaded, shown.result)
    else:
        watch_job(HEAD_SCORES_JOB, shown, _("Reading"))
    return None
