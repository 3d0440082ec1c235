"""Exercises: a deck of cards; predict a number, reach a goal, write a function."""

import streamlit as st

from explainers.chapters.common.claim_parameters import choose_sizes, describe_sizes
from explainers.chapters.exercises import one_exercise
from explainers.chapters.exercises.deck import (
    Exercise,
    Goal,
    Prediction,
    Task,
    make_hero,
    read_deck,
)
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


def ask_prediction(exercise: Exercise, task: Prediction) -> bool:
    """A number is asked for, and the answer judged; the reason comes with a right one."""
    reply = one_exercise.ask_number(exercise, task)
    is_right = bool(reply and reply.is_right)
    if reply:
        text(reply.section, **reply.numbers)
    if is_right:
        show_solution(exercise, task)
    elif not is_lecture():
        near = format_answer(task.tolerance)
        text("help" if task.tolerance else "help_exact", tolerance=near)
    made = one_exercise.compute_answer, {"answer": task.answer}
    one_exercise.offer_task(text, deck, exercise, task, *made)
    return is_right


def ask_goal(exercise: Exercise, task: Goal) -> bool:
    """Settings are turned until what is measured meets the condition."""
    turned = choose_sizes(exercise.id, task.settings)
    reached = task.measure(**turned)
    measured = {name: _(found) for name, found in reached.measured.items()}
    text(f"measured_{exercise.id}", **task.given, **measured)
    text("reached" if reached.met else "not_reached")
    made = one_exercise.measure_settings, reached.measured | {"reached": reached.met}
    one_exercise.offer_task(text, deck, exercise, task, *made, settings=turned)
    return reached.met


def show_solution(exercise: Exercise, task: Task) -> None:
    """How the answer comes about; or the first settings that do, which are found by trying."""
    if isinstance(task, Goal):
        found = describe_sizes(task.settings, next(task.solutions()), "**")
        text("solution_settings", settings=found)
        return
    worked = task.given | task.worked | {"answer": format_answer(task.answer)}
    text(f"solution_{exercise.id}", **worked)


def show_exercise(exercise: Exercise) -> None:
    """The task with the numbers of the seed; a hint, and the solution for who opens it.

    A function is written on the learner's own machine: nothing runs here.
    """
    if exercise.kind == "write":
        from explainers.chapters.exercises.write import HOLES  # torch comes after the picture

        with screen("ask", f"task {exercise.id}"):
            one_exercise.draw_heading(exercise)
            text("write")
            st.code(HOLES[exercise.id].template)
            one_exercise.offer_to_count(deck, exercise)
            one_exercise.offer_next(deck, exercise)
        return
    task = exercise.task(page.read_seed())
    with screen("ask", f"task {exercise.id}"):
        one_exercise.draw_heading(exercise)
        text(f"task_{exercise.id}", **task.given)
        if isinstance(task, Goal):
            is_done = ask_goal(exercise, task)
        else:
            is_done = ask_prediction(exercise, task)
        if is_done:
            one_exercise.count_as_done(exercise)
        one_exercise.offer_next(deck, exercise, is_done)
    with st.expander(_("Hint"), icon=":material/lightbulb:", key=f"hint {exercise.id}"):
        text(f"hint_{exercise.id}")
    with one_exercise.fold_solution(exercise) as is_open:
        if is_open:
            show_solution(exercise, task)
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
    from explainers.chapters.exercises.write import HOLES, make_template

    text("machine", count=len(HOLES))
    st.code(make_template("my_attention.py"), height=400)


text("question")
if deck.is_set and not is_lecture():
    text("set", count=len(deck.cards))
show_hero(text, make_hero(deck), "deck")
with follows("exercise"):
    show_exercises()
go_deeper(text, {"lecturers": choose_set, "machine": explain_writing})
show_one_sentence(text)
