"""One exercise: its numbers, the learner's answer, and help."""

import math
import re
from typing import Any

import streamlit as st

from explainers.chapters.common.claim_parameters import chosen, heading, in_words
from explainers.chapters.exercises import takeaway as taken
from explainers.chapters.exercises.choose_exercise import called, count, is_done, offer_next
from explainers.chapters.exercises.exercise_kinds import Goal, Prediction
from explainers.chapters.exercises.exercise_table import Exercise
from explainers.translations import _
from explainers.ui import page
from explainers.ui.lecture.screens import fold_box, is_open, screen
from explainers.ui.page import Prose
from explainers.ui.source import show_source
from explainers.ui.untrusted_text import shorten, verbatim

COMMAS = re.compile(r"[-+]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?", re.ASCII)
"""Thousands apart; 0,25 has another comma, and would be read as 25."""


def number(typed: str) -> float | None:
    """0.25, 1,024, −3 or 1e6; nothing if it is no number, or has a comma for decimals."""
    text = typed.strip().replace("−", "-")
    try:
        read = float(text.replace(",", "") if COMMAS.fullmatch(text) else text)
    except ValueError:
        return None
    return read if math.isfinite(read) else None


def precise(answer: float) -> str:
    """Whole numbers with their thousands apart, others to four places."""
    text = f"{answer:,.0f}" if answer == round(answer) else f"{answer:,.4g}"
    return text.replace("-", "−")


def show_exercise(text: Prose, exercise: Exercise) -> None:
    """The statement with the numbers of the seed, and what belongs to its kind."""
    if exercise.kind == "write":
        st.header(heading(called(exercise)))
        _show_hole(text, exercise)
    else:
        task = exercise.task(page.read_seed())
        with screen("ask", f"task {exercise.id}"):
            st.header(heading(called(exercise)))
            text(f"task_{exercise.id}", **task.given)
        if isinstance(task, Goal):
            _show_goal(text, exercise, task)
        else:
            statement = text.fill(f"task_{exercise.id}", **task.given)
            name = heading(called(exercise))
            taken.prediction(exercise, page.read_seed(), task, name, statement)
            _show_prediction(text, exercise, task)
        show_source(exercise.make)
    st.page_link(
        f"pages/{exercise.page}.py", label=_("The page on this"), icon=":material/menu_book:"
    )


def _show_prediction(text: Prose, exercise: Exercise, task: Prediction) -> None:
    if task.tolerance:
        text("predict_help", tolerance=precise(task.tolerance))
    else:
        text("exact_help")
    key = f"answer {exercise.id} {page.read_seed()}"
    typed = st.text_input(_("Your answer"), key=key, max_chars=30, width=200)
    if typed:
        read = number(typed)
        if read is None:
            text("unreadable")
        elif not task.accepts(read):
            text("wrong", said=verbatim(shorten(typed)))
        else:
            _praise(text, typed, task)
            count(exercise)
            offer_next(exercise)
    _show_help(text, exercise)
    answer = precise(task.answer)
    with _solution(exercise) as box:
        if is_open(box):
            text(f"solution_{exercise.id}", **task.given, **task.worked, answer=answer)


def _praise(text: Prose, typed: str, task: Prediction) -> None:
    exact = precise(task.answer)
    if precise(number(typed) or 0.0) == exact:
        text("right", answer=exact)
    else:
        text("near", said=verbatim(shorten(typed)), answer=exact)


def _show_goal(text: Prose, exercise: Exercise, task: Goal) -> None:
    with st.container(horizontal=True):
        turned = {setting.name: chosen(exercise.id, setting) for setting in task.settings}
    reached = task.measure(**turned)
    name = heading(called(exercise))
    statement = text.fill(f"task_{exercise.id}", **task.given)
    taken.goal(exercise, page.read_seed(), task, turned, reached, name, statement)
    measured = {name: _(found) for name, found in reached.measured.items()}
    text(f"measured_{exercise.id}", **task.given, **measured)
    if reached.met:
        text("reached")
        count(exercise)
        offer_next(exercise)
    else:
        text("not_reached")
    _show_help(text, exercise)
    with _solution(exercise) as box:
        if is_open(box):  # settings are tried one by one, which takes time that few ask for
            way = in_words(task.settings, next(task.solutions()), "**")
            text("solution_settings", settings=way)


def _show_help(text: Prose, exercise: Exercise) -> None:
    with fold_box(_("Hint"), ":material/lightbulb:", f"hint {exercise.id}"):
        text(f"hint_{exercise.id}")


def _solution(exercise: Exercise) -> Any:
    """Closed again when the numbers are other ones: Streamlit keeps open what keeps its key."""
    key = f"solution {exercise.id} {page.read_seed()}"
    return fold_box(_("Worked solution"), ":material/school:", key, on_change="rerun")


def _show_hole(text: Prose, exercise: Exercise) -> None:
    from explainers.chapters.exercises.write import HOLES  # brings torch

    text("write", count=len(HOLES))
    text("write_hole")
    st.code(HOLES[exercise.id].template)
    if is_done(exercise):
        offer_next(exercise)
    else:
        label = _("Mine passes: count it as done")
        st.button(label, on_click=count, args=(exercise,), icon=":material/check:")
