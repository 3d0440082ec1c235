"""Exercises: a deck of cards; predict a number, reach a goal, write a function."""

from collections.abc import Callable

import streamlit as st

from explainers.chapters.common.claim_parameters import describe_sizes
from explainers.chapters.exercises import one_exercise
from explainers.chapters.exercises.deck import Exercise, Goal, Prediction, make_hero, read_deck
from explainers.translations import _
from explainers.ui import page
from explainers.ui.controls import controls
from explainers.ui.figure.hero import follows, show_hero
from explainers.ui.lecture.screens import is_lecture, screen
from explainers.ui.page import show_one_sentence
from explainers.ui.page_parts.go_deeper import go_deeper
from explainers.ui.source import show_source
from explainers.ui.text.language import fragment
from explainers.ui.text.numbers import format_answer

text = page.Prose(__file__)
deck = read_deck()


def show_prediction(exercise: Exercise, task: Prediction) -> None:
    """A number is asked for, and the answer judged; the reason comes with a right one."""
    worked = task.given | task.worked | {"answer": format_answer(task.answer)}
    with screen("ask", f"task {exercise.id}"):
        one_exercise.draw_heading(exercise)
        text(f"task_{exercise.id}", **task.given)
        reply = one_exercise.ask_number(exercise, task)
        if reply:
            text(reply.section, **reply.numbers)
        if is_right := bool(reply and reply.is_right):
            text(f"solution_{exercise.id}", **worked)
            one_exercise.count_as_done(exercise)
        elif not is_lecture():
            near = format_answer(task.tolerance)
            text("help" if task.tolerance else "help_exact", tolerance=near)
        one_exercise.offer_next(deck, exercise, is_right)
    if exercise is deck.exercise:
        statement = text.fill(f"task_{exercise.id}", **task.given)
        one_exercise.offer_task(
            exercise, one_exercise.compute_answer, task.given | {"answer": task.answer}, statement
        )
    show_help(exercise, lambda: text(f"solution_{exercise.id}", **worked))


def show_goal(exercise: Exercise, task: Goal) -> None:
    """Settings are turned until what is measured meets the condition."""
    with screen("ask", f"task {exercise.id}"):
        one_exercise.draw_heading(exercise)
        text(f"task_{exercise.id}", **task.given)
        turned, reached = one_exercise.turn_settings(exercise, task)
        measured = {name: _(found) for name, found in reached.measured.items()}
        text(f"measured_{exercise.id}", **task.given, **measured)
        text("reached" if reached.met else "not_reached")
        if reached.met:
            one_exercise.count_as_done(exercise)
        one_exercise.offer_next(deck, exercise, reached.met)
    if exercise is deck.exercise:
        statement = text.fill(f"task_{exercise.id}", **task.given)
        shown = task.given | reached.measured | {"reached": reached.met}
        one_exercise.offer_task(
            exercise, one_exercise.measure_settings, shown, statement, settings=turned
        )

    def solve() -> None:  # settings are tried one by one, which takes time
        found = describe_sizes(task.settings, next(task.solutions()), "**")
        text("solution_settings", settings=found)

    show_help(exercise, solve)


def show_function(exercise: Exercise) -> None:
    """A function is written on the learner's own machine; nothing runs here."""
    with screen("ask", f"task {exercise.id}"):
        one_exercise.draw_heading(exercise)
        text("write")
        st.code(one_exercise.read_hole(exercise))
        one_exercise.offer_to_count(deck, exercise)
        one_exercise.offer_next(deck, exercise)


def show_help(exercise: Exercise, solve: Callable[[], None]) -> None:
    """A hint, and the solution, which is computed for who opens it."""
    with one_exercise.fold_hint(exercise):
        text(f"hint_{exercise.id}")
    with one_exercise.fold_solution(exercise) as is_open:
        if is_open:
            solve()


def show_exercise(exercise: Exercise) -> None:
    """The task with the numbers of the seed, and what belongs to its kind."""
    if exercise.kind == "write":
        show_function(exercise)
        return
    task = exercise.task(page.read_seed())
    if isinstance(task, Goal):
        show_goal(exercise, task)
    else:
        show_prediction(exercise, task)
    show_source(exercise.make)


@fragment
def show_exercises() -> None:
    """The open card's exercise; a class is shown some more."""
    for exercise in one_exercise.list_exercises(deck):
        with st.container(border=not is_lecture(), key=f"exercise {exercise.id}"):
            show_exercise(exercise)
            one_exercise.link_page(exercise)


def choose_set() -> None:
    """A lecturer's choice of cards, and the link that a class is to open."""
    text("lecturers")
    if chosen := one_exercise.offer_names(
        controls.exercise_set, list(deck.cards) if deck.is_set else []
    ):
        text("set_link")
        st.code(one_exercise.write_link(chosen), language=None, wrap_lines=True)


def explain_writing() -> None:
    """How a function is written and checked elsewhere."""
    template, holes = one_exercise.read_template()
    text("machine", count=holes)
    st.code(template, height=400)


text("question")
if deck.is_set and not is_lecture():
    text("set", count=len(deck.cards))
show_hero(text, make_hero(deck), "deck")
with follows("exercise"):
    show_exercises()
go_deeper(text, {"lecturers": choose_set, "machine": explain_writing})
show_one_sentence(text)
