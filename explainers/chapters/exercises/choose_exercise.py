"""The exercises side by side: which are offered, what has been done, and what comes next."""

import streamlit as st

from explainers.chapters.exercises.exercise_table import Exercise, exercises
from explainers.phrase import phrase
from explainers.ui import page
from explainers.ui.controls import controls, exercise_controls
from explainers.ui.page import Prose
from explainers.ui.text.language import said
from explainers.ui.untrusted_text import titled

LAST_SEED = controls.seed.high
COUNTED, OFFERED = "exercises that were counted as done", "exercises that are offered"


def choose_exercise(text: Prose) -> Exercise:
    """One of all, of a kind, or of those that a lecturer chose."""
    by_title = {called(exercise): exercise for exercise in exercises().values()}
    with st.expander(said("For lecturers: choose a set"), icon=":material/school:"):
        only = exercise_controls.only(tuple(by_title))
    offered = [name for name in by_title if not only or name in only]
    if only:
        text("set", count=len(only))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kind = exercise_controls.kind()
        some = [name for name in offered if kind in ("all", by_title[name].kind)] or offered
        name = exercise_controls.exercise(some, some[0])
        st.session_state[OFFERED] = some
        if by_title[name].kind != "write":
            st.button(said("Other numbers"), on_click=_other_numbers, icon=":material/casino:")
    return by_title[name]


def called(exercise: Exercise) -> str:
    """Functions are called by their names in every language."""
    name = titled(exercise.id)
    return phrase("{function}", function=name) if exercise.kind == "write" else name


def show_done(text: Prose) -> None:
    """Progress, in the link; of a lecturer's set, where there is one."""
    titles = tuple(map(called, exercises().values()))
    with st.expander(said("What you have done"), icon=":material/checklist:"):
        done = exercise_controls.done(titles)
    counted = exercise_controls.only.now() or titles
    text("done", done=len({*done} & {*counted}), all=len(counted))


def count(exercise: Exercise) -> None:
    """Count it as done, once: who takes it off again keeps it off."""
    counted = st.session_state.setdefault(COUNTED, set())
    if (exercise.id, page.seed()) not in counted:
        counted.add((exercise.id, page.seed()))
        exercise_controls.done.add(called(exercise))


def is_done(exercise: Exercise) -> bool:
    """Here, or before: the link says so."""
    return called(exercise) in exercise_controls.done.now()


def offer_next(exercise: Exercise) -> None:
    """Below one that is done: the one after it that is not, of those that are offered."""
    offered, done = st.session_state[OFFERED], exercise_controls.done.now()
    here = offered.index(called(exercise))
    later = [*offered[here + 1 :], *offered[:here]]
    following = next((name for name in later if name not in done), None)
    if following:
        go, icon = exercise_controls.exercise.put, ":material/arrow_forward:"
        st.button(said("Next exercise"), on_click=go, args=(following,), icon=icon)


def _other_numbers() -> None:
    st.session_state[controls.seed.key] = (page.seed() + 1) % (LAST_SEED + 1)
