"""A job that a reader starts, watches and cancels on a page, and that ends with the visit."""

import time
from collections.abc import Callable
from typing import Any, TypeVar

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from explainers.job_queue import BusyError, Job
from explainers.messages import N_, get_message
from explainers.translations import _
from explainers.ui.session import JOB_REFUSED
from explainers.ui.text.language import fragment
from explainers.ui.turns import first_pictures
from explainers.ui.untrusted_text import shorten, verbatim

GRACE = 10.0
"""Seconds for which a tab may be away: a phone loses its network for moments."""
POLL_SECONDS = 0.8
"""Between two looks at a job that goes on."""
LONGEST_PROBLEM = 300

AnyJob = Job[Any, Any, Any]
SomeJob = TypeVar("SomeJob", bound=AnyJob)
Found = TypeVar("Found")


class Presence:
    """Called from any thread, says whether the tab that made it is connected, or was just now."""

    def __init__(self) -> None:
        context = get_script_run_ctx(suppress_warning=True)
        self._session = context.session_id if context else ""
        self._last_seen = time.monotonic()

    def __call__(self) -> bool:
        now = time.monotonic()
        if not runtime.exists() or runtime.get_instance().is_active_session(self._session):
            self._last_seen = now
        return now - self._last_seen < GRACE


def offer_job(key: str, label: str, job: SomeJob, **look: Any) -> SomeJob | None:
    """A button that starts a job, locked while one runs; returns the one to be shown, if any.

    That is the one that runs, or the last one if it was of the same subject.
    """
    last: SomeJob | None = st.session_state.get(key)
    is_running = last is not None and not last.is_over
    st.button(label, on_click=start_job, args=(key, job), disabled=is_running, **look)
    show_refusal(key)
    return last if last and (is_running or last.subject == job.subject) else None


def start_job(key: str, job: AnyJob, give_way: Callable[[], None] = first_pictures.wait) -> None:
    """Start it unless one of the same subject runs; one of another subject gives way to it."""
    last: AnyJob | None = st.session_state.get(key)
    if last and not last.is_over:
        if last.subject == job.subject:
            return  # a second click, from before the page could answer the first
        last.cancel()
    job.has_visitor, job.give_way = Presence(), give_way
    try:
        st.session_state[key] = job.start()
    except BusyError as busy:
        refusal = N_("{problem} Try again in a minute.", problem=get_message(busy))
        st.session_state[JOB_REFUSED.format(key)] = refusal


def show_refusal(key: str) -> None:
    """Why none has started: once, on the page that asked for it."""
    if refusal := st.session_state.pop(JOB_REFUSED.format(key), ""):
        st.info(_(refusal), icon=":material/hourglass:")


def describe_reports(job: AnyJob) -> str:
    """The last report of a job that reports in words, the number of reports of any other."""
    if job.reports and isinstance(job.reports[-1], str):
        return _(job.reports[-1])
    if job.total:
        return _("{count} of {all}", count=len(job.reports), all=job.total)
    return _("beginning")


def describe_words(job: AnyJob) -> str:
    """The last report of a job that reports in words of others."""
    return verbatim(_(job.reports[-1])) if job.reports else _("beginning")


def watch_job(
    key: str,
    job: SomeJob,
    title: str,
    show: Callable[[], None] = lambda: None,
    describe: Callable[[SomeJob], str] = describe_reports,
) -> None:
    """How far it is, and what `show` draws of it, again and again until it is over.

    `describe` says in words what is done, once it is no longer waiting.
    """
    is_polled = not job.is_over

    def look() -> None:
        if is_polled and job.is_over:
            st.rerun()  # the page as it is afterwards: nobody has to look again
        if job.state == "failed":
            problem = verbatim(_(job.problem))
            stopped = _("{what} stopped: {problem}", what=title, problem=problem)
            st.error(stopped, icon=":material/error:")
            return
        st.progress(job.share, f"{title}: {describe_state(job, describe)}")
        if is_polled:
            show_cancel(key, job)
        show()

    fragment(look, run_every=POLL_SECONDS if is_polled else None)()


def show_cancel(key: str, job: AnyJob) -> None:
    """A button that ends a job."""
    icon = ":material/stop_circle:"
    st.button(_("Cancel"), key=f"{key}: cancel", on_click=job.cancel, icon=icon)


def watch_for_result(
    key: str,
    job: Job[Any, Any, Found] | None,
    title: str,
    describe: Callable[[Any], str] = describe_reports,
) -> Found | None:
    """What a job that is shown came to; until then how far it is, or what went wrong."""
    if job is None:
        return None
    if job.result is not None:
        return job.result
    if job.state == "failed":
        show_problem(job)
    else:
        watch_job(key, job, title, describe=describe)
    return None


def show_problem(job: AnyJob) -> None:
    """What went wrong, of a job whose errors are written for readers."""
    st.error(verbatim(shorten(_(job.problem), LONGEST_PROBLEM)), icon=":material/error:")


def describe_state(job: SomeJob, describe: Callable[[SomeJob], str]) -> str:
    """In words: its place in the queue, or what is done."""
    if job.state == "waiting":
        before = job.count_before
        waits = _("waiting, {before} before this one", before=before)
        return waits if before else _("beginning")
    done = describe(job)
    return _("{done}, cancelled", done=done) if job.state == "cancelled" else done
