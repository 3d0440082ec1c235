"""One exercise: its answer or its settings, what they give, and what is taken away of it."""

from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any
from urllib.parse import quote, urlencode

import streamlit as st

from explainers.chapters.common.claim_parameters import (
    capitalise,
    choose_sizes,
    describe_sizes,
    find_published_entries,
)
from explainers.chapters.exercises.deck import (
    Deck,
    Exercise,
    Goal,
    Prediction,
    Task,
    name_exercise,
    seed_random,
    sort_cards,
)
from explainers.folders import read_titles
from explainers.takeaway.recipe import Recipe
from explainers.translations import _
from explainers.ui import page
from explainers.ui.controls import controls
from explainers.ui.lecture.screens import is_lecture, screen
from explainers.ui.session import EXERCISES_COUNTED, TYPED
from explainers.ui.source import show_source
from explainers.ui.takeaway_files import take
from explainers.ui.text.language import fragment
from explainers.ui.text.numbers import format_answer, read_answer, say_what_is_read
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


def offer_task(
    text: page.Prose,
    deck: Deck,
    exercise: Exercise,
    task: Task,
    function: Callable[..., Any],
    results: dict[str, Any],
    **more: Any,
) -> None:
    """What is asked for, or a condition with the settings as they are, as a file."""
    if exercise.id in MEASURED or exercise is not deck.exercise:
        return
    inputs = {"make": exercise.make, "exercise": exercise.id, "seed": page.read_seed(), **more}
    given = partial(find_published_entries, exercise.make, ())
    title, shown = capitalise(name_exercise(exercise)), task.given | results
    statement = text.fill(f"task_{exercise.id}", **task.given)
    take("exercise", Recipe(title, function, inputs, shown, given=given, remark=statement))


MEASURED = {"few_keys_for_a_loss", "a_head_that_zeros_misjudge"}
"""What their goals are measured on is kept with the app, and no file of this size holds it."""


def show_solution(text: page.Prose, exercise: Exercise, task: Task) -> None:
    """How the answer comes about; or the first settings that do, which are found by trying."""
    if isinstance(task, Goal):
        found = describe_sizes(task.settings, next(task.solutions()), "**")
        text("solution_settings", settings=found)
        return
    worked = task.given | task.worked | {"answer": format_answer(task.answer)}
    text(f"solution_{exercise.id}", **worked)


def ask_prediction(text: page.Prose, deck: Deck, exercise: Exercise, task: Prediction) -> bool:
    """A number is asked for; the reason comes with a right one. A class says its answers aloud."""
    is_right = not is_lecture() and judge_answer(text, exercise, task)
    if is_right:
        show_solution(text, exercise, task)
    elif not is_lecture():
        near = format_answer(task.tolerance)
        text("help" if task.tolerance else "help_exact", tolerance=near)
    offer_task(text, deck, exercise, task, compute_answer, {"answer": task.answer})
    return is_right


def judge_answer(text: page.Prose, exercise: Exercise, task: Prediction) -> bool:
    """The field for an answer, and what is said of it: is it right, or near enough?"""
    key = f"{TYPED}{exercise.id} {page.read_seed()}"
    with st.container(horizontal=True, vertical_alignment="bottom"):
        typed = st.text_input(_("Your answer"), key=key, max_chars=30, width=200)
        is_asked = st.button(_("Check"), key=f"check {exercise.id}", icon=":material/check:")
    readings, exact = read_answer(typed, task.unit), format_answer(task.answer)
    accepted = [number for number in readings if task.accepts(number)]
    said = verbatim(shorten(typed.replace("-", "−")))
    if not typed:
        if is_asked:
            text("empty")
    elif not readings:
        st.markdown(say_what_is_read(task.unit))
    elif not accepted:
        text("wrong", said=said)
    elif any(format_answer(number) == exact for number in accepted):
        text("right", answer=exact)
    else:
        text("near", said=said, answer=exact)
    return bool(typed and accepted)


def ask_goal(text: page.Prose, deck: Deck, exercise: Exercise, task: Goal) -> bool:
    """Settings are turned until what is measured meets the condition."""
    turned = choose_sizes(exercise.id, task.settings)
    reached = task.measure(**turned)
    measured = {name: _(found) for name, found in reached.measured.items()}
    text(f"measured_{exercise.id}", **task.given, **measured)
    text("reached" if reached.met else "not_reached")
    results = reached.measured | {"reached": reached.met}
    offer_task(text, deck, exercise, task, measure_settings, results, settings=turned)
    return reached.met


def draw_heading(exercise: Exercise) -> None:
    """Its name, and a button for other numbers."""
    with st.container(horizontal=True, vertical_alignment="center", key=f"head {exercise.id}"):
        st.header(capitalise(name_exercise(exercise)))
        if exercise.kind == "write" or is_lecture():
            return
        label, key, icon = _("Other numbers"), f"again {exercise.id}", ":material/casino:"
        following = (page.read_seed() + 1) % (controls.seed.high + 1)
        if st.button(label, key, icon=icon, on_click=controls.seed.put, args=(following,)):
            st.rerun()  # the seed is chosen outside


def show_hole(text: page.Prose, deck: Deck, exercise: Exercise) -> None:
    """A function is written on the learner's own machine: nothing runs here."""
    from explainers.chapters.exercises.write import HOLES  # torch comes after the picture

    with screen("ask", f"task {exercise.id}"):
        draw_heading(exercise)
        text("write")
        st.code(HOLES[exercise.id].template)
        label, icon = _("Mine passes: count it as done"), ":material/check:"
        if not deck.has_done(exercise) and st.button(label, key=f"count {exercise.id}", icon=icon):
            controls.finished_exercises.add(make_title(exercise.id))
            st.rerun()  # the deck stands outside
        offer_next(deck, exercise)


def show_exercise(text: page.Prose, deck: Deck, exercise: Exercise) -> None:
    """The task with the numbers of the seed; a hint, and the solution for who opens it.

    A class sees it after the task. It is closed again when the numbers are other ones: Streamlit
    keeps open what keeps its key.
    """
    if exercise.kind == "write":
        show_hole(text, deck, exercise)
        return
    seed = page.read_seed()
    task = exercise.task(seed)
    with screen("ask", f"task {exercise.id}"):
        draw_heading(exercise)
        text(f"task_{exercise.id}", **task.given)
        if isinstance(task, Goal):
            is_done = ask_goal(text, deck, exercise, task)
        else:
            is_done = ask_prediction(text, deck, exercise, task)
        counted = st.session_state.setdefault(EXERCISES_COUNTED, set())
        if is_done and (exercise.id, seed) not in counted:  # who takes it off again keeps it off
            counted.add((exercise.id, seed))
            if controls.finished_exercises.add(make_title(exercise.id)):
                st.rerun()  # the deck stands outside
        offer_next(deck, exercise, is_done)
    with st.expander(_("Hint"), icon=":material/lightbulb:", key=f"hint {exercise.id}"):
        text(f"hint_{exercise.id}")
    if is_lecture():
        with screen("answer", f"task {exercise.id}"):
            st.header(capitalise(name_exercise(exercise)))
            show_solution(text, exercise, task)
    else:
        key, icon = f"solution {exercise.id} {seed}", ":material/school:"
        with st.expander(_("Worked solution"), icon=icon, key=key, on_change="rerun") as box:
            if box.open:
                show_solution(text, exercise, task)
    show_source(exercise.make)


MOST_IN_LECTURE = 5
"""Exercises that a class is shown one after the other, where no lecturer has chosen a set."""


@fragment
def show_exercises(text: page.Prose, deck: Deck) -> None:
    """The open card's exercise, and where to read about it; in front of a class those after it as
    well."""
    names = [deck.chosen, *deck.undone] if is_lecture() else [deck.chosen]
    for name in names if deck.is_set else names[:MOST_IN_LECTURE]:
        exercise = deck.cards[name]
        with st.container(border=not is_lecture(), key=f"exercise {exercise.id}"):
            show_exercise(text, deck, exercise)
            label = _("The page on this: {title}", title=_(read_titles()[exercise.page]))
            st.page_link(f"pages/{exercise.page}.py", label=label, icon=":material/menu_book:")


def offer_next(deck: Deck, exercise: Exercise, is_solved: bool = False) -> None:
    """Below one that is done: the next that is not, of the chosen kind as long as there is one.

    A class goes from one to the next anyway.
    """
    if not deck.undone or is_lecture() or not (is_solved or deck.has_done(exercise)):
        return
    following = deck.undone[0]
    label, icon = _("Next exercise"), ":material/arrow_forward:"
    if st.button(label, key=f"next {exercise.id}", icon=icon):
        controls.exercise.put(following)
        if not deck.is_lit(following):
            controls.exercise_kind.put(controls.exercise_kind.default)
        st.rerun()


def choose_set(text: page.Prose, deck: Deck) -> None:
    """A lecturer's choice of cards, and the link that a class is to open, with the numbers that all
    are to get."""
    text("lecturers")
    control, before = controls.exercise_set, list(deck.cards) if deck.is_set else []
    names = [name_exercise(one) for one in sort_cards().values()]
    chosen: list[str] = control.draw(st.pills, before, options=names, selection_mode="multi")
    if set(chosen) != set(before):
        st.rerun()
    if chosen:
        asked = [(control.key, name) for name in chosen]
        if page.read_seed() != controls.seed.default:
            asked.append((controls.seed.key, str(page.read_seed())))
        text("set_link")
        address = quote(st.context.url or "", safe=":/[]")
        link = f"{address}?{urlencode(asked, quote_via=quote)}"
        st.code(link, language=None, wrap_lines=True)
