"""Check yourself: questions at the end of a page, from memory and with other numbers than above."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Protocol

import streamlit as st

from explainers.translations import _
from explainers.ui.learning_path import finished_pages
from explainers.ui.lecture.screens import is_lecture
from explainers.ui.page import Prose, read_seed
from explainers.ui.prediction import sort_options, write_verdict
from explainers.ui.session import PAGE_NUMBER, RECALLS_ANSWERED, RECALLS_MARKED
from explainers.ui.text.language import fragment
from explainers.ui.text.numbers import format_answer, read_answer, say_what_is_read
from explainers.ui.untrusted_text import shorten, verbatim


class Question(Protocol):
    """What is asked for, and the numbers of its text and of its reason.

    An exercise of the kind "predict" is one as it is.
    """

    @property
    def given(self) -> Mapping[str, str]:
        """The numbers of the question, by their places in the text."""

    @property
    def answer(self) -> Any:
        """A number to type; or words, one of the question's `options`."""

    @property
    def tolerance(self) -> float:
        """By how much a typed number may be off."""

    @property
    def unit(self) -> str:
        """What a typed number counts, for `read_answer`."""

    @property
    def worked(self) -> Mapping[str, str]:
        """More numbers, which only the reason has."""


@dataclass(frozen=True)
class Recall:
    """A question: with `options`, the answer is chosen among them, else it is typed."""

    answer: float | str
    given: Mapping[str, str] = field(default_factory=dict)
    options: Sequence[str] = ()
    tolerance: float = 0.0
    worked: Mapping[str, str] = field(default_factory=dict)
    unit: str = ""


@dataclass(frozen=True)
class MarkedRecall:
    """How a question was answered first, and the question as it is asked again later."""

    is_right: bool
    again: Recall
    has_other_numbers: bool


Recalls = Mapping[str, Callable[[Random], Question]]
"""Name of a question → what draws its numbers and computes its answer."""
DRAWS = 20
"""How often other numbers are drawn for a question that is asked again."""


@fragment
def check_yourself(text: Prose, recalls: Recalls) -> None:
    """Ask each `recall_<name>`, and after the answer show `because_recall_<name>`.

    Who has answered all of them, right or wrong, has done the page. The reason has the numbers of
    the question, `worked`, and the answer as `{{answer}}`. A class is asked nothing here.
    """
    if is_lecture():
        return
    heading = _("Check yourself")
    st.markdown(f"## {heading}")
    questions = {
        name: make(seed_recall(text.page, name, read_seed())) for name, make in recalls.items()
    }
    answered = _ask_side_by_side(text, questions)
    for name, is_right in answered.items():
        _mark_recall(text.page, name, recalls[name], is_right)
    if recalls and set(answered) == set(recalls) and not finished_pages.has_this_page():
        finished_pages.add_this_page()
        st.rerun()  # the whole page: its dot stands outside


def seed_recall(page: str, name: str, seed: int) -> Random:
    """What chooses the numbers of a question: for the same seed the same ones, on any machine."""
    return Random(f"{page} recall {name} {seed}")  # noqa: S311 - numbers of questions are no secrets


def _mark_recall(page: str, name: str, make: Callable[[Random], Question], is_right: bool) -> None:
    """Remember the first answer: after it the reader has seen what is right.

    The question of later is drawn now, so that its page needs nothing of this one's chapter.
    """
    number = st.session_state.get(PAGE_NUMBER, "")
    marked = st.session_state.setdefault(RECALLS_MARKED, {}).setdefault(number, {})
    if name not in marked:
        marked[name] = draw_again(page, name, make, is_right)


def draw_again(
    page: str, name: str, make: Callable[[Random], Question], is_right: bool
) -> MarkedRecall:
    """The question with other numbers and, if there is such a one, another answer."""
    now = make(seed_recall(page, name, read_seed()))
    others = [make(seed_recall(page, name, read_seed() + more)) for more in range(1, DRAWS + 1)]
    later = max(others, key=lambda it: (it.given != now.given, it.answer != now.answer))
    options = tuple(getattr(later, "options", ()))
    again = Recall(later.answer, later.given, options, later.tolerance, later.worked, later.unit)
    return MarkedRecall(is_right, again, later.given != now.given)


def _ask_side_by_side(text: Prose, questions: Mapping[str, Question]) -> dict[str, bool]:
    """A card each, on a phone under each other; of those that have been answered: was it right?"""
    answered = {}
    for place, (name, question) in zip(
        st.columns(len(questions) or 1), questions.items(), strict=False
    ):
        with place:
            with st.container(border=True, height="stretch", key=f"recall card {name}"):
                is_right = ask_recall(text, name, question, f"{read_seed()}")
            if is_right is not None:
                answered[name] = is_right
    return answered


def ask_recall(text: Prose, name: str, question: Question, time: str) -> bool | None:
    """One question; was its answer right? None before it.

    The answers to what is asked several times are told apart by the `time`.
    """
    text(f"recall_{name}", **question.given)
    options = getattr(question, "options", ())
    place = f"{text.page} {name} {time}"
    if options:
        answer = _choose(place, sort_options([*options, write_answer(question)]))
    else:
        answer = _type(place, question.unit)
    if answer is None:
        return None
    is_right, right = is_near(question, answer), write_answer(question)
    said = right if is_right else answer if options else verbatim(shorten(answer))
    st.markdown(write_verdict(said, right, is_typed=not options))
    _show_reason(text, name, question)
    return is_right


def _choose(place: str, options: Sequence[str]) -> str | None:
    answers = st.session_state.setdefault(RECALLS_ANSWERED, {})
    earlier = answers.get(place)
    answer: str | None = st.radio(
        _("Your answer"),
        options,
        index=options.index(earlier) if earlier in options else None,
        key=f"recall {place}",
        format_func=_,
        label_visibility="collapsed",
    )
    answers[place] = answer
    return answer


def _type(place: str, unit: str) -> str | None:
    answers = st.session_state.setdefault(RECALLS_ANSWERED, {})
    typed = st.text_input(
        _("Your answer"),
        value=answers.get(place) or "",
        key=f"recall {place}",
        max_chars=30,
        width=200,
    )
    answers[place] = typed
    if not typed:
        return None
    if not read_answer(typed, unit):
        st.caption(say_what_is_read(unit))
        return None
    return typed


def is_near(question: Question, answer: str) -> bool:
    """Is it the right option, or a number near enough, read as any that it can mean?"""
    if isinstance(question.answer, str):
        return answer == question.answer
    off = (abs(number - question.answer) for number in read_answer(answer, question.unit))
    return any(one <= question.tolerance + 1e-9 for one in off)


def write_answer(question: Question) -> str:
    """The right answer, as the page writes it."""
    answer = question.answer
    return answer if isinstance(answer, str) else format_answer(float(answer))


def _show_reason(text: Prose, name: str, question: Question) -> None:
    numbers = {**question.given, **question.worked, "answer": write_answer(question)}
    text(f"because_recall_{name}", **numbers)
