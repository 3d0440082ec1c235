"""Train it now: a head learns with the switches that are on, in front of the reader."""

from typing import NamedTuple

import streamlit as st
import torch

from explainers.chapters.common.background_job import describe_state, show_refusal, start_job
from explainers.chapters.idle_heads.one_row import share_scores
from explainers.toys.idle_head import (
    IDLE_SEEDS,
    SHIPPED_SETTINGS,
    SINK,
    encode,
    list_switches,
    load_idle_head,
    read_rows,
    spell,
)
from explainers.toys.idle_training import IDLE_STEPS, IdleJob, IdleRequest, make_idle_job
from explainers.translations import _
from explainers.ui.provenance import learned_numbers
from explainers.ui.session import IDLE_JOB
from explainers.ui.takeaway_files import hand_over, take


class TrainedHere(NamedTuple):
    """A training of this visitor's, and which of them it is."""

    run: int
    job: IdleJob

    @property
    def request(self) -> IdleRequest:
        return self.job.subject


def is_training() -> bool:
    """Does a head of this visitor's learn now?"""
    last: IdleJob | None = st.session_state.get(IDLE_JOB)
    return last is not None and not last.is_over


def follow_training(setting: str, run: int, is_watched: bool) -> TrainedHere | None:
    """The training that is looked at, begun if it is new; one that is not looked at ends.

    Each has a seed that none of the shipped heads has. `is_watched`: is the picture drawn again and
    again? It is once a training has begun, and no longer when it is over.
    """
    last: IdleJob | None = st.session_state.get(IDLE_JOB)
    request = IdleRequest(setting, IDLE_SEEDS[-1] + run)
    if (last and last.subject != request) or not run:
        if last and not last.is_over:
            last.cancel()
        last = None
    if run and not last:
        start_job(IDLE_JOB, make_idle_job(request))
        last = st.session_state.get(IDLE_JOB)
    show_refusal(IDLE_JOB)
    if is_training() != is_watched:
        st.rerun()
    return TrainedHere(run, last) if run and last and last.subject == request else None


def describe_training(here: TrainedHere) -> str:
    """How far it is, in words; afterwards, from which seed it learned."""
    if here.job.state == "failed":
        return _("{what} stopped: {problem}", what=_("The training"), problem=_(here.job.problem))
    if here.job.state == "done":
        return _("trained here just now, from seed {seed}", seed=here.request.seed)
    return describe_state(here.job, _describe_batches)


def _describe_batches(job: IdleJob) -> str:
    done = job.reports[-1].batches if job.reports else 0
    return _("batch {number} of {steps}", number=done, steps=IDLE_STEPS)


def choose_seed(asked: int) -> int:
    """The shipped seed that is shown: the one that is asked for, or what is left after rounds."""
    return IDLE_SEEDS[asked % len(IDLE_SEEDS)]


@torch.no_grad()
def hand_over_letters(setting: str, seed: int, here: TrainedHere | None = None) -> None:
    """All letters of the picture, of what was trained here or of weights that come with the app.

    Of a head that is still learning, or never did, there is nothing to hand over.
    """
    title, parts = _("Letters that want nothing"), None
    if here:
        parts, seed = here.job.result, here.request.seed
        title = _("Letters that want nothing, trained here from seed {seed}", seed=seed)
    elif setting in SHIPPED_SETTINGS:
        parts = load_idle_head(setting, choose_seed(seed))
    if not parts:
        take("letters")
        return
    scores = read_rows(parts, setting, encode(spell(setting))).scores
    sink = parts["sink"].item() if SINK in list_switches(setting) else -torch.inf
    hand_over("letters", title, share_scores, scores=scores, sink=sink)


def name_origin(here: TrainedHere | None, asked: int, is_shipped: bool) -> str:
    """Where the numbers of the picture come from."""
    seed, is_here = choose_seed(asked), here is not None and bool(here.job.reports)
    if not is_here and not is_shipped:
        return _("not trained yet with these switches")
    if not is_here and seed != asked:
        return _(
            "trained beforehand: copied letters, seed {seed} in place of seed {asked}",
            seed=seed,
            asked=asked,
        )
    if here is None or not here.job.reports:
        return _("trained beforehand: copied letters, seed {seed}", seed=seed)
    return learned_numbers(_("copied letters, seed {seed}", seed=here.request.seed))


def name_all_seeds() -> str:
    """The same, where something is told of all shipped seeds."""
    return _("trained beforehand: copied letters, {count} seeds", count=len(IDLE_SEEDS))
