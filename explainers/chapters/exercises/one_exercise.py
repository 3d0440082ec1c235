"""One exercise: its question, the answer, what comes out, and what is taken away of it."""

from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

import streamlit as st

from explainers.chapters.common.claim_parameters import (
    capitalise,
    choose_size,
    describe_sizes,
    find_published_entries,
)
from explainers.chapters.exercises.exercise_table import (
    Exercise,
    Goal,
    Measurement,
    Prediction,
    read_exercises,
    seed_random,
)
from explainers.messages import N_
from explainers.takeaway.recipe import Recipe
from explainers.translations import _
from explainers.ui import page
from explainers.ui.controls import controls
from explainers.ui.lecture.screens import fold_box, is_open, screen
from explainers.ui.page import Prose
from explainers.ui.session import EXERCISES_COUNTED, EXERCISES_OFFERED
from explainers.ui.source import show_source
from explainers.ui.takeaway_files import take
from explainers.ui.text.numbers import format_answer, parse_number
from explainers.ui.untrusted_text import make_title, shorten, verbatim


def compute_answer(make: Callable[[Random], Any], exercise: str, seed: int) -> dict[str, Any]:
    """What the statement gives, and what is asked for."""
    task = make(seed_random(exercise, seed))
    return {**task.given, "answer": task.answer}


def measure_settings(
    make: Callable[[Random], Any], exercise: str, seed: int, settings: dict[str, Any]
) -> dict[str, Any]:
    """What the statement gives, what these settings give, and whether that is enough."""
    task = make(seed_random(exercise, seed))
    reached = task.measure(**settings)
    return {**task.given, **reached.measured, "reached": reached.met}


def offer_prediction(
    exercise: Exercise, seed: int, task: Prediction, title: str, statement: str
) -> None:
    """A number that is asked for."""
    shown = {**task.given, "answer": task.answer}
    _take(title, compute_answer, exercise, {"seed": seed}, shown, statement)


def offer_goal(
    exercise: Exercise,
    seed: int,
    task: Goal,
    settings: dict[str, Any],
    found: Measurement,
    title: str,
    statement: str,
) -> None:
    """A condition, with the settings as they are."""
    shown = {**task.given, **found.measured, "reached": found.met}
    more = {"seed": seed, "settings": settings}
    _take(title, measure_settings, exercise, more, shown, statement)


def _take(
    title: str, function: Any, exercise: Exercise, more: Any, shown: dict[str, Any], statement: str
) -> None:
    inputs = {"make": exercise.make, "exercise": exercise.id, **more}
    given = partial(find_published_entries, exercise.make, ())
    take("exercise", Recipe(title, function, inputs, shown, given=given, remark=statement))


LAST_SEED = controls.seed.high


def choose_exercise(text: Prose) -> Exercise:
    """One of all, of a kind, or of those that a lecturer chose."""
    by_title = {name_exercise(exercise): exercise for exercise in read_exercises().values()}
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
            st.button(_("Other numbers"), on_click=_draw_other_numbers, icon=":material/casino:")
    return by_title[name]


def name_exercise(exercise: Exercise) -> str:
    """Functions are called by their names in every language."""
    name = make_title(exercise.id)
    return N_("{function}", function=name) if exercise.kind == "write" else name


def show_done(text: Prose) -> None:
    """Progress, in the link; of a lecturer's set, where there is one."""
    titles = tuple(map(name_exercise, read_exercises().values()))
    with st.expander(_("What you have done"), icon=":material/checklist:"):
        done = controls.finished_exercises(titles)
    counted = controls.exercise_set.read_selection() or titles
    text("done", done=len({*done} & {*counted}), all=len(counted))


def count_as_done(exercise: Exercise) -> None:
    """Count it as done, once: who takes it off again keeps it off."""
    counted = st.session_state.setdefault(EXERCISES_COUNTED, set())
    if (exercise.id, page.read_seed()) not in counted:
        counted.add((exercise.id, page.read_seed()))
        controls.finished_exercises.add(name_exercise(exercise))


def is_done(exercise: Exercise) -> bool:
    """Here, or before: the link says so."""
    return name_exercise(exercise) in controls.finished_exercises.read_selection()


def offer_next(exercise: Exercise) -> None:
    """Below one that is done: the one after it that is not, of those that are offered."""
    offered = st.session_state[EXERCISES_OFFERED]
    done = controls.finished_exercises.read_selection()
    here = offered.index(name_exercise(exercise))
    later = [*offered[here + 1 :], *offered[:here]]
    following = next((name for name in later if name not in done), None)
    if following:
        go, icon = controls.exercise.put, ":material/arrow_forward:"
        st.button(_("Next exercise"), on_click=go, args=(following,), icon=icon)


def _draw_other_numbers() -> None:
    st.session_state[controls.seed.key] = (page.read_seed() + 1) % (LAST_SEED + 1)


def show_exercise(text: Prose, exercise: Exercise) -> None:
    """The statement with the numbers of the seed, and what belongs to its kind."""
    if exercise.kind == "write":
        st.header(capitalise(name_exercise(exercise)))
        _show_hole(text, exercise)
    else:
        task = exercise.task(page.read_seed())
        with screen("ask", f"task {exercise.id}"):
            st.header(capitalise(name_exercise(exercise)))
            text(f"task_{exercise.id}", **task.given)
        if isinstance(task, Goal):
            _show_goal(text, exercise, task)
        else:
            statement = text.fill(f"task_{exercise.id}", **task.given)
            name = capitalise(name_exercise(exercise))
            offer_prediction(exercise, page.read_seed(), task, name, statement)
            _show_prediction(text, exercise, task)
        show_source(exercise.make)
    st.page_link(
        f"pages/{exercise.page}.py", label=_("The page on this"), icon=":material/menu_book:"
    )


def _show_prediction(text: Prose, exercise: Exercise, task: Prediction) -> None:
    if task.tolerance:
        text("predict_help", tolerance=format_answer(task.tolerance))
    else:
        text("exact_help")
    key = f"answer {exercise.id} {page.read_seed()}"
    typed = st.text_input(_("Your answer"), key=key, max_chars=30, width=200)
    if typed:
        read = parse_number(typed)
        if read is None:
            text("unreadable")
        elif not task.accepts(read):
            text("wrong", said=verbatim(shorten(typed)))
        else:
            _praise(text, typed, task)
            count_as_done(exercise)
            offer_next(exercise)
    _show_help(text, exercise)
    answer = format_answer(task.answer)
    with _solution(exercise) as box:
        if is_open(box):
            text(f"solution_{exercise.id}", **task.given, **task.worked, answer=answer)


def _praise(text: Prose, typed: str, task: Prediction) -> None:
    exact = format_answer(task.answer)
    if format_answer(parse_number(typed) or 0.0) == exact:
        text("right", answer=exact)
    else:
        text("near", said=verbatim(shorten(typed)), answer=exact)


def _show_goal(text: Prose, exercise: Exercise, task: Goal) -> None:
    with st.container(horizontal=True):
        turned = {setting.name: choose_size(exercise.id, setting) for setting in task.settings}
    reached = task.measure(**turned)
    name = capitalise(name_exercise(exercise))
    statement = text.fill(f"task_{exercise.id}", **task.given)
    offer_goal(exercise, page.read_seed(), task, turned, reached, name, statement)
    measured = {name: _(found) for name, found in reached.measured.items()}
    text(f"measured_{exercise.id}", **task.given, **measured)
    if reached.met:
        text("reached")
        count_as_done(exercise)
        offer_next(exercise)
    else:
        text("not_reached")
    _show_help(text, exercise)
    with _solution(exercise) as box:
        if is_open(box):  # settings are tried one by one, which takes time that few ask for
            way = describe_sizes(task.settings, next(task.solutions()), "**")
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
        st.button(label, on_click=count_as_done, args=(exercise,), icon=":material/check:")
