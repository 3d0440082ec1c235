"""The scores of a model's heads: measured on the reader's wish, once, and then kept."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from explainers.chapters.common.background_job import offer_job, watch_for_result
from explainers.messages import N_
from explainers.models.head_scores import HeadScores
from explainers.models.probes import NATURAL_LENGTH, NUM_TEXTS, REPEATED_LENGTH, SENTENCES_PER_HALF
from explainers.models.registry import WHEEL_MODELS, describe_package
from explainers.models.shipped_measurements import (
    RUNS,
    make_head_scores_job,
    read_scores,
    read_shipped_scores,
)
from explainers.translations import _
from explainers.ui.controls.controls import PROSE, TWICE
from explainers.ui.provenance import real_model, shipped_run
from explainers.ui.session import HEAD_SCORES_JOB
from explainers.ui.untrusted_text import show_spaces

if TYPE_CHECKING:
    from explainers.models.load import RealModel
    from explainers.models.replaced_heads import Estimate


MEASURE_LABEL = N_("Measure all heads")
CODE_ROLE = N_("measured this")
"""Of code whose results were kept: other code would not find them."""
PROBE_NAMES = {TWICE: "repeated", PROSE: "natural"}
"""What the measurement calls each text that the reader can choose."""
SHARES = SAME, HALF, NOTHING = N_("about the same"), N_("about half"), N_("almost nothing")
SEEN = 0.0005
"""Nats: what is less is written as 0."""


@dataclass(frozen=True)
class Gallery:
    """A model with the scores of its heads."""

    loaded: "RealModel | None"
    """None as long as nothing needs the model itself."""
    scores: HeadScores
    name: str = ""
    is_shipped: bool = False
    """Did the scores come with the app?"""

    @property
    def origin(self) -> str:
        if self.is_shipped:
            return shipped_run(describe_package(self.name))
        model = self.loaded.provenance if self.loaded else self.name
        return real_model(_("{model} · measured once, then kept on the server's disk", model=model))


def name_head(layer: int, head: int) -> str:
    """A head's short name."""
    return f"L{layer}.H{head}"


def show_token(token: str) -> str:
    """A token as it is read, without its space."""
    return show_spaces(token.strip() or token)


def judge_share(share: float) -> str:
    """How much is left of something, in words: one of `SHARES`."""
    return SAME if share > 0.75 else HALF if share > 0.25 else NOTHING


def write_estimate(one: "Estimate") -> str:
    """Mean ± standard error; from 1 on with two decimals, as 1.672 is a thousand in some places."""
    places = 2 if abs(one.mean) >= 1 else 3
    return f"{one.mean:+.{places}f} ± {one.error:.{places}f}".replace("-", "−")


def write_grey(one: "Estimate") -> str:
    """Grey where the mean is less than two standard errors from 0, or is written as 0."""
    is_seen = one.is_clear and abs(one.mean) >= SEEN
    return f"**{write_estimate(one)}**" if is_seen else f":gray[{write_estimate(one)}]"


def find_gallery(model: str) -> Gallery | None:
    """The scores that are known of a model: measured here before, or kept with the app."""
    scores = read_scores(model)
    if scores:
        return Gallery(None, scores, model)
    shipped = read_shipped_scores(model)
    return Gallery(None, shipped.scores, model, is_shipped=True) if shipped else None


def choose_gallery(model: str) -> Gallery | None:
    """What is known of the chosen model, or as long as that is nothing, of one that came along."""
    if found := find_gallery(model):
        return found
    job = st.session_state.get(HEAD_SCORES_JOB)
    if job and job.subject == model and job.result:  # measured, but the disk could not keep it
        return Gallery(None, job.result, model)
    return next(filter(None, (find_gallery(one.id) for one in WHEEL_MODELS)), None)


def count_texts() -> dict[str, int]:
    """What a model reads while its heads are measured; for the text."""
    return {
        "runs": RUNS,
        "texts": NUM_TEXTS,
        "length": REPEATED_LENGTH,
        "prose": NATURAL_LENGTH,
        "sentences": 2 * SENTENCES_PER_HALF,
    }


def offer_measuring(loaded: "RealModel") -> None:
    """A button that has all heads measured, and how far that is."""
    job = make_head_scores_job(loaded.name)
    shown = offer_job(HEAD_SCORES_JOB, _(MEASURE_LABEL), job, icon=":material/query_stats:")
    if shown and shown.subject == loaded.name:
        watch_for_result(HEAD_SCORES_JOB, shown, _("Reading"))
