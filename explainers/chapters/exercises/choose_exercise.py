"""The exercises side by side: which are offered, what has been done, and what comes next."""

import streamlit as st

from explainers.chapters.exercises.exercise_table import Exercise, exercises
from explainers.messages import N_
from explainers.translations import _
from explainers.ui import page
from explainers.ui.controls import controls
from explainers.ui.page import Prose
from explainers.ui.session import EXERCISES_COUNTED, EXERCISES_OFFERED
from explainers.ui.untrusted_text import make_title

LAST_SEED = controls.seed.high


def choose_exercise(text: Prose) -> Exercise:
    """One of all, of a kind, or of those that a lecturer chose."""
    by_title = {called(exercise): exercise for exercise in exercises().values()}
    with st.expander(_("For lecturers: choose a set"), icon=":material/school:"):
        only = controls.exercise_set(tuple(by_title))
    offered = [name for name in by_title if not only or name in only]
    if only:
        text("set", count=len(only))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kind = controls.exercise_kind()
        some = [name for name in offered if kind in ("all", by_title[name].kind)] or offered
        name = controls.exercise(some, some[0])
        st.session_state[EXERCISES_OFFERED] = some
        if by_title[name].kind != "write":
            st.button(_("Other numbers"), on_click=_other_numbers, icon=":material/casino:")
    return by_title[name]


def called(exercise: Exercise) -> str:
    """Functions are called by their names in every language."""
    name = make_title(exercise.id)
    return N_("{function}", function=name) if exercise.kind == "write" else name


def show_done(text: Prose) -> None:
    """Progress, in the link; of a lecturer's set, where there is one."""
    titles = tuple(map(called, exercises().values()))
    with st.expander(_("What you have done"), icon=":material/checklist:"):
        done = controls.finished_exercises(titles)
    counted = controls.exercise_set.read_selection() or titles
    text("done", done=len({*done} & {*counted}), all=len(counted))


def count(exercise: Exercise) -> None:
    """Count it as done, once: who takes it off again keeps it off."""
    counted = st.session_state.setdefault(EXERCISES_COUNTED, set())
    if (exercise.id, page.read_seed()) not in counted:
        counted.add((exercise.id, page.read_seed()))
        controls.finished_exercises.add(called(exercise))


def is_done(exercise: Exercise) -> bool:
    """Here, or before: the link says so."""
    return called(exercise) in controls.finished_exercises.read_selection()


def offer_next(exercise: Exercise) -> None:
    """Below one that is done: the one after it that is not, of those that are offered."""
    offered, done = (
        st.session_state[EXERCISES_OFFERED],
        controls.finished_exercises.read_selection(),
    )
    here = offered.index(called(exercise))
    later = [*offered[here + 1 :], *offered[:here]]
    following = next((name for name in later if name not in done), None)
    if following:
        go, icon = controls.exercise.put, ":material/arrow_forward:"
        st.button(_("Next exercise"), on_click=go, args=(following,), icon=icon)


def _other_numbers() -> None:
    st.session_state[controls.seed.key] = (page.read_seed() + 1) % (LAST_SEED + 1)
