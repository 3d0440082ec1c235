"""One exercise: its answer or its settings, what they give, and what is taken away of it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from random import Random
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

import streamlit as st

from explainers.chapters.common.claim_parameters import capitalise, find_published_entries
from explainers.chapters.exercises.deck import (
    Deck,
    Exercise,
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
from explainers.ui.controls.name_controls import MultiChoice
from explainers.ui.lecture.screens import is_lecture, screen
from explainers.ui.session import EXERCISES_COUNTED, TYPED
from explainers.ui.takeaway_files import take
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


MOST_IN_LECTURE = 5
"""Exercises that a class is shown one after the other, where no lecturer has chosen a set."""


def list_exercises(deck: Deck) -> list[Exercise]:
    """The one that is open; in front of a class those after it as well."""
    if not is_lecture():
        return [deck.exercise]
    names = [deck.chosen, *deck.undone]
    return [deck.cards[name] for name in (names if deck.is_set else names[:MOST_IN_LECTURE])]


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


class Reply(NamedTuple):
    """What is said of an answer: a section of the page's text, and its numbers."""

    section: str
    numbers: dict[str, str]
    is_right: bool = False


def ask_number(exercise: Exercise, task: Prediction) -> Reply | None:
    """The field for an answer, and what is to be said of it; nothing before there is one.

    A class says its answers aloud.
    """
    if is_lecture():
        return None
    key = f"{TYPED}{exercise.id} {page.read_seed()}"
    with st.container(horizontal=True, vertical_alignment="bottom"):
        typed = st.text_input(_("Your answer"), key=key, max_chars=30, width=200)
        is_asked = st.button(_("Check"), key=f"check {exercise.id}", icon=":material/check:")
    if typed and not read_answer(typed, task.unit):
        st.markdown(say_what_is_read(task.unit))
    elif typed:
        return judge_answer(task, typed)
    return Reply("empty", {}) if is_asked and not typed else None


def judge_answer(task: Prediction, typed: str) -> Reply:
    """Right, near enough, or wrong."""
    readings, exact = read_answer(typed, task.unit), format_answer(task.answer)
    said = verbatim(shorten(typed.replace("-", "−")))
    accepted = [number for number in readings if task.accepts(number)]
    if not accepted:
        return Reply("wrong", {"said": said})
    if any(format_answer(number) == exact for number in accepted):
        return Reply("right", {"answer": exact}, is_right=True)
    return Reply("near", {"said": said, "answer": exact}, is_right=True)


def link_page(exercise: Exercise) -> None:
    """Where to read about it."""
    label = _("The page on this: {title}", title=_(read_titles()[exercise.page]))
    st.page_link(f"pages/{exercise.page}.py", label=label, icon=":material/menu_book:")


@contextmanager
def fold_solution(exercise: Exercise) -> Iterator[bool]:
    """A place for the solution; is it seen? A class sees it after the task.

    Closed again when the numbers are other ones: Streamlit keeps open what keeps its key.
    """
    if is_lecture():
        with screen("answer", f"task {exercise.id}"):
            st.header(capitalise(name_exercise(exercise)))
            yield True
        return
    key = f"solution {exercise.id} {page.read_seed()}"
    icon, label = ":material/school:", _("Worked solution")
    with st.expander(label, icon=icon, key=key, on_change="rerun") as box:
        yield bool(box.open)


def count_as_done(exercise: Exercise) -> None:
    """Count it as done, once: who takes it off again keeps it off."""
    counted = st.session_state.setdefault(EXERCISES_COUNTED, set())
    if (exercise.id, page.read_seed()) not in counted:
        counted.add((exercise.id, page.read_seed()))
        if controls.finished_exercises.add(make_title(exercise.id)):
            st.rerun()  # the deck stands outside


def offer_to_count(deck: Deck, exercise: Exercise) -> None:
    """For a function that was written elsewhere."""
    label, icon = _("Mine passes: count it as done"), ":material/check:"
    if not deck.has_done(exercise) and st.button(label, key=f"count {exercise.id}", icon=icon):
        controls.finished_exercises.add(make_title(exercise.id))
        st.rerun()  # the deck stands outside


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


def offer_names(control: MultiChoice, before: list[str]) -> list[str]:
    """All exercises to choose from; `before` is what the deck was drawn with."""
    names = [name_exercise(one) for one in sort_cards().values()]
    chosen: list[str] = control.draw(st.pills, before, options=names, selection_mode="multi")
    if set(chosen) != set(before):
        st.rerun()
    return chosen


def write_link(names: list[str]) -> str:
    """The address of a set of exercises, with the numbers that all are to get."""
    asked = [(controls.exercise_set.key, name) for name in names]
    if page.read_seed() != controls.seed.default:
        asked.append((controls.seed.key, str(page.read_seed())))
    return f"{quote(st.context.url or '', safe=':/[]')}?{urlencode(asked, quote_via=quote)}"
