"""Work that a reader asks for, watches and cancels, in a thread that ends with its visitor."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from explainers.chapters.common.number_words import waiting
from explainers.job_queue import BusyError, Work
from explainers.messages import N_, message_of
from explainers.translations import _
from explainers.ui.session import JOB_REFUSED
from explainers.ui.text.language import fragment
from explainers.ui.untrusted_text import verbatim

GRACE = 10.0
"""Seconds for which a tab may be away: a phone loses its network for moments."""


class Presence:
    """Called from any thread, says whether the tab that made it is connected, or was just now."""

    def __init__(self) -> None:
        context = get_script_run_ctx(suppress_warning=True)
        self._session = context.session_id if context else ""
        self._seen = time.monotonic()

    def __call__(self) -> bool:
        now = time.monotonic()
        if not runtime.exists() or runtime.get_instance().is_active_session(self._session):
            self._seen = now
        return now - self._seen < GRACE


Found = TypeVar("Found")


@dataclass(eq=False)
class Measuring(Work, Generic[Found]):
    """So many `steps`, each of which `measure` yields; and what can be seen of them meanwhile.

    None is no step: nothing is found there, but one may stop.
    """

    steps: int
    measure: Callable[[], Iterable[Found | None]]
    found: list[Found] = field(default_factory=list)

    @property
    def share(self) -> float:
        return len(self.found) / self.steps

    @property
    def is_complete(self) -> bool:
        return len(self.found) == self.steps

    def _work(self) -> None:
        for one in self.measure():
            if one is not None:
                self.found.append(one)
            if self.is_stopped:
                return


EVERY = 0.8
"""Seconds between two looks at work that goes on."""


def button(key: str, label: str, on_click: Callable[..., None], *args: object, **look: Any) -> bool:
    """What begins the work; locked while it goes on, which is what it tells. And why none began."""
    job: Work | None = st.session_state.get(key)
    is_running = job is not None and not job.is_over
    st.button(label, on_click=on_click, args=args, disabled=is_running, **look)
    show_refused(key)
    return is_running


def start(key: str, asked: object, make: Callable[[], Work]) -> bool:
    """Has another one begun? In a callback: the page is drawn afterwards."""
    before: Work | None = st.session_state.get(key)
    if before and not before.is_over:
        if before.asked == asked:
            return False  # a second click, from before the page could answer the first
        before.cancel()
    one = make()
    one.asked, one.is_wanted = asked, Presence()
    try:
        st.session_state[key] = one.start()
    except BusyError as busy:
        refused = N_("{problem} Try again in a minute.", problem=message_of(busy))
        st.session_state[JOB_REFUSED.format(key)] = refused
        return False
    return True


def show_refused(key: str) -> None:
    """Why none has begun: once, on the page that asked for it."""
    if refused := st.session_state.pop(JOB_REFUSED.format(key), ""):
        st.info(_(refused), icon=":material/hourglass:")


def watch(
    key: str, job: Work, what: str, tell: Callable[[], str], show: Callable[[], None]
) -> None:
    """How far it is, and what `show` draws of it, again and again as long as it is not over.

    `tell` says in words what is done, once it is no longer waiting.
    """
    is_polled = not job.is_over
    look = fragment(_look, run_every=EVERY if is_polled else None)
    look(key, job, what, tell, show, is_polled)


def _look(
    key: str,
    job: Work,
    what: str,
    tell: Callable[[], str],
    show: Callable[[], None],
    is_polled: bool,
) -> None:
    if is_polled and job.is_over:
        st.rerun()  # the page as it is afterwards: nobody has to look again
    if job.state == "failed":
        problem = verbatim(_(job.error))
        stopped = _("{what} stopped: {problem}", what=what, problem=problem)
        st.error(stopped, icon=":material/error:")
        return
    st.progress(job.share, f"{what}: {state_of(job, tell)}")
    if is_polled:
        icon = ":material/stop_circle:"
        st.button(_("Cancel"), key=f"{key}: cancel", on_click=job.cancel, icon=icon)
    show()


def state_of(job: Work, tell: Callable[[], str]) -> str:
    """In words."""
    if job.state == "waiting":
        return _(waiting(job.before))
    done = tell()
    return _("{done}, cancelled", done=done) if job.state == "cancelled" else done
