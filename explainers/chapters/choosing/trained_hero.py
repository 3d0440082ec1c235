"""The picture, and below it the button that trains the indexer of its layer while one looks on."""

from collections.abc import Callable

import streamlit as st

from explainers.chapters.choosing.compute import choose_keys
from explainers.chapters.choosing.hero import choose_passage, find_shown
from explainers.chapters.choosing.indexer_job import IndexerJob, describe_steps, make_indexer_job
from explainers.chapters.common.background_job import (
    POLL_SECONDS,
    describe_state,
    offer_job,
    show_cancel,
    show_problem,
)
from explainers.models.shipped_indexers import Shipped
from explainers.translations import _
from explainers.ui.figure.hero import Hero, show_hero
from explainers.ui.page import Prose
from explainers.ui.session import INDEXER_JOB
from explainers.ui.takeaway_files import hand_over
from explainers.ui.text.language import fragment

MakeHero = Callable[[Prose, Shipped, IndexerJob | None], Hero]


def show_trained_hero(text: Prose, shipped: Shipped, make_hero: MakeHero, can_train: bool) -> None:
    """The keys of the indexer walk while it trains, and the reader can play that again."""
    job: IndexerJob | None = st.session_state.get(INDEXER_JOB)
    is_polled = job is not None and not job.is_over
    # Elsewhere the page follows the picture: what it asks below stands in the link that it changes.
    look = fragment(_look, run_every=POLL_SECONDS) if is_polled else _look
    look(text, shipped, make_hero, is_polled)
    if not can_train:
        return
    name, passage = choose_passage(shipped)
    label = _("Train the indexer of layer {layer}", layer=passage.layer)
    icon = ":material/model_training:"
    offer_job(INDEXER_JOB, label, make_indexer_job(name, passage), icon=icon)


def _look(text: Prose, shipped: Shipped, make_hero: MakeHero, is_polled: bool) -> None:
    job: IndexerJob | None = st.session_state.get(INDEXER_JOB)
    if is_polled and job and job.is_over:
        st.rerun()  # nobody has to look again
    show_hero(text, make_hero(text, shipped, job), "choosing")
    passage, query, kept = find_shown(shipped)
    row, seen = slice(query, query + 1), slice(query + 1)
    weights = passage.weights[row, seen]  # of the model; its scores are computed again
    hand_over(
        "choosing",
        _("The keys of token {place}", place=query + 1),
        choose_keys,
        query=passage.inputs.query[:, row],
        key=passage.inputs.key[seen],
        share=passage.inputs.share[row],
        weights=weights,
        mask=weights > -1,
        kept=kept,
    )
    if not job or job.subject != choose_passage(shipped)[0]:
        return
    if job.state == "failed":
        show_problem(job)
        return
    st.progress(job.share, describe_state(job, describe_steps))
    if not job.is_over:
        show_cancel(INDEXER_JOB, job)
