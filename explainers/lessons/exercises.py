"""One exercise at a time: its numbers, the learner's answer, hints, and what has been done."""

import streamlit as st

from explainers.exercises.kinds import Goal, Prediction
from explainers.exercises.rows import Exercise, exercises
from explainers.lessons.answers import number, precise
from explainers.lessons.sized import chosen, heading, in_words, title
from explainers.lessons.taken import exercises as taken
from explainers.phrase import phrase
from explainers.ui import common, controls, exercise_controls
from explainers.ui.language import said, translated
from explainers.ui.lecturing import folded, is_open, screen
from explainers.ui.plain import shortened, verbatim
from explainers.ui.prose import Prose
from explainers.ui.source import show_source

LAST_SEED = controls.seed.high
COUNTED = "exercises that were counted as done"


def choose_exercise(text: Prose) -> Exercise:
    """One of all, of a kind, or of those that a lecturer chose."""
    by_title = {_called(exercise): exercise for exercise in exercises().values()}
    with st.expander(said("For lecturers: choose a set"), icon=":material/school:"):
        only = exercise_controls.only(tuple(by_title))
    offered = [name for name in by_title if not only or name in only]
    if only:
        text("set", count=len(only))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kind = exercise_controls.kind()
        some = [name for name in offered if kind in ("all", by_title[name].kind)] or offered
        name = exercise_controls.exercise(some, some[0])
        st.button(said("Other numbers"), on_click=_other_numbers, icon=":material/casino:")
    return by_title[name]


def show_exercise(text: Prose, exercise: Exercise) -> None:
    """The statement with the numbers of the seed, and what belongs to its kind."""
    if exercise.kind == "write":
        st.header(heading(_called(exercise)))
        _show_hole(text, exercise)
    else:
        task = exercise.task(common.seed())
        with screen("ask", f"task {exercise.id}"):
            st.header(heading(_called(exercise)))
            text(f"task_{exercise.id}", **task.given)
        if isinstance(task, Goal):
            _show_goal(text, exercise, task)
        else:
            taken.prediction(exercise, common.seed(), task, heading(_called(exercise)))
            _show_prediction(text, exercise, task)
        show_source(exercise.make)
    st.page_link(
        f"pages/{exercise.page}.py", label=said("The page on this"), icon=":material/menu_book:"
    )


def _called(exercise: Exercise) -> str:
    """Functions are called by their names in every language."""
    name = title(exercise.id)
    return phrase("{function}", function=name) if exercise.kind == "write" else name


def show_done(text: Prose) -> None:
    """Progress, in the link."""
    titles = tuple(map(_called, exercises().values()))
    with st.expander(said("What you have done"), icon=":material/checklist:"):
        done = exercise_controls.done(titles)
    text("done", done=len(done), all=len(titles))


def _show_prediction(text: Prose, exercise: Exercise, task: Prediction) -> None:
    if task.tolerance:
        text("predict_help", tolerance=precise(task.tolerance))
    else:
        text("exact_help")
    key = f"answer {exercise.id} {common.seed()}"
    typed = st.text_input(said("Your answer"), key=key, max_chars=30, width=200)
    if typed:
        read = number(typed)
        if read is None:
            text("unreadable")
        elif not task.accepts(read):
            text("wrong", said=verbatim(shortened(typed)))
        else:
            _praise(text, typed, task)
            _tick(exercise)
    _show_help(text, exercise)
    with folded(said("Worked solution"), ":material/school:", f"solution {exercise.id}"):
        text(f"solution_{exercise.id}", **task.given, **task.worked, answer=precise(task.answer))


def _praise(text: Prose, typed: str, task: Prediction) -> None:
    if task.tolerance:
        text("near", said=verbatim(shortened(typed)), answer=precise(task.answer))
    else:
        text("right", answer=precise(task.answer))


def _show_goal(text: Prose, exercise: Exercise, task: Goal) -> None:
    with st.container(horizontal=True):
        turned = {setting.name: chosen(exercise.id, setting) for setting in task.settings}
    reached = task.measure(**turned)
    name = heading(_called(exercise))
    taken.goal(exercise, common.seed(), task, turned, reached, name)
    measured = {name: translated(found) for name, found in reached.measured.items()}
    text(f"measured_{exercise.id}", **task.given, **measured)
    if reached.met:
        text("reached")
        _tick(exercise)
    else:
        text("not_reached")
    _show_help(text, exercise)
    key = f"solution {exercise.id}"
    box = folded(said("Worked solution"), ":material/school:", key, on_change="rerun")
    if is_open(box):  # settings are tried one by one, which takes time that few ask for
        with box:
            way = in_words(task.settings, next(task.solutions()), "**")
            text("solution_settings", settings=way)


def _show_help(text: Prose, exercise: Exercise) -> None:
    with folded(said("Hint"), ":material/lightbulb:", f"hint {exercise.id}"):
        text(f"hint_{exercise.id}")


def _show_hole(text: Prose, exercise: Exercise) -> None:
    from explainers.exercises.write import HOLES  # brings torch

    text("write", count=len(HOLES))
    text("write_hole")
    st.code(HOLES[exercise.id].template)


def _tick(exercise: Exercise) -> None:
    """Count it as done, once: who takes it off again keeps it off."""
    counted = st.session_state.setdefault(COUNTED, set())
    if (exercise.id, common.seed()) not in counted:
        counted.add((exercise.id, common.seed()))
        exercise_controls.done.add(_called(exercise))


def _other_numbers() -> None:
    st.session_state[controls.seed.key] = (common.seed() + 1) % (LAST_SEED + 1)
