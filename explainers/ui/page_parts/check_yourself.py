"""Check yourself: questions at the end of a page, from memory and with other numbers than above.

Two pages later one of them is asked again, and the last page tells what came of all answers.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Protocol

import streamlit as st

from explainers.translations import _
from explainers.ui.controls.controls import is_tour
from explainers.ui.export_mode import is_whole_export
from explainers.ui.learning_path import Contents, finished_pages, list_titles, read_number
from explainers.ui.lecture.screens import is_lecture
from explainers.ui.page import Prose, read_seed
from explainers.ui.prediction import keep_question, sort_options, write_verdict
from explainers.ui.session import (
    PAGE_NUMBER,
    PREDICTIONS_MARKED,
    RECALLS_ANSWERED,
    RECALLS_MARKED,
    REPEATS_MARKED,
)
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
PAGES_BETWEEN = 2
"""So many pages later a question is asked again."""


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
    answered = 0
    # A card each; on a phone they stand under each other.
    for place, (name, make) in zip(st.columns(len(recalls) or 1), recalls.items(), strict=False):
        question = make(seed_recall(text.page, name, read_seed()))
        with place, st.container(border=True, height="stretch", key=f"recall card {name}"):
            is_right = ask_recall(text, name, question, f"{read_seed()}")
        if is_right is not None:
            answered += 1
            number = st.session_state.get(PAGE_NUMBER, "")
            marked = st.session_state.setdefault(RECALLS_MARKED, {}).setdefault(number, {})
            if name not in marked:  # the first answer: after it the reader has seen what is right
                marked[name] = draw_again(text.page, name, make, is_right)
    if recalls and answered == len(recalls) and not finished_pages.has_this_page():
        finished_pages.add_this_page()
        st.rerun()  # the whole page: its dot stands outside


def seed_recall(page: str, name: str, seed: int) -> Random:
    """What chooses the numbers of a question: for the same seed the same ones, on any machine."""
    return Random(f"{page} recall {name} {seed}")  # noqa: S311 - numbers of questions are no secrets


def draw_again(
    page: str, name: str, make: Callable[[Random], Question], is_right: bool
) -> MarkedRecall:
    """The question with other numbers and, if there is such a one, another answer.

    It is drawn now, so that the page where it returns needs nothing of this one's chapter.
    """
    now = make(seed_recall(page, name, read_seed()))
    others = [make(seed_recall(page, name, read_seed() + more)) for more in range(1, DRAWS + 1)]
    later = max(others, key=lambda it: (it.given != now.given, it.answer != now.answer))
    options = tuple(getattr(later, "options", ()))
    again = Recall(later.answer, later.given, options, later.tolerance, later.worked, later.unit)
    return MarkedRecall(is_right, again, later.given != now.given)


def ask_recall(text: Prose, name: str, question: Question, time: str) -> bool | None:
    """One question; was its answer right? None before it.

    The answers to what is asked several times are told apart by the `time`.
    """
    options, right = getattr(question, "options", ()), write_answer(question)
    numbers = {**question.given, **question.worked, "answer": right}
    if is_whole_export():
        offered = sort_options([*options, right]) if options else []
        number = {"number": question.answer, "off": question.tolerance, "unit": question.unit}
        because = text.fill(f"because_recall_{name}", **numbers)
        asked, typed = text.fill(f"recall_{name}", **question.given), None if options else number
        keep_question(f"recall {name}", asked, because, offered, right, typed)
        return None
    text(f"recall_{name}", **question.given)
    answer = _ask(question, f"{text.page} {name} {time}")
    if answer is None:
        return None
    is_right, is_typed = is_near(question, answer), not options
    said = right if is_right else verbatim(shorten(answer)) if is_typed else answer
    st.markdown(write_verdict(said, right, is_typed))
    text(f"because_recall_{name}", **numbers)
    return is_right


def _ask(question: Question, place: str) -> str | None:
    """The answer that is chosen or typed; none if it is empty or cannot be read."""
    answers = st.session_state.setdefault(RECALLS_ANSWERED, {})
    label, key, earlier = _("Your answer"), f"recall {place}", answers.get(place)
    answer: str | None
    if options := getattr(question, "options", ()):
        options = sort_options([*options, write_answer(question)])
        index = options.index(earlier) if earlier in options else None
        answer = st.radio(
            label, options, index=index, key=key, format_func=_, label_visibility="collapsed"
        )
    else:
        answer = st.text_input(label, value=earlier or "", key=key, max_chars=30, width=200)
        if answer and not read_answer(answer, question.unit):
            st.caption(say_what_is_read(question.unit))
            answers[place] = answer
            return None
    answers[place] = answer
    return answer or None


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


@fragment
def repeat_question(contents: Contents, here: str) -> None:
    """At the end of a page, whose file is `here`: one question that was answered two pages ago.

    Whoever answered none of them is asked nothing. Being done with this page does not need it.
    """
    titles = list_titles(contents)
    place = list(titles).index(here) - PAGES_BETWEEN
    if place < 0 or is_lecture() or is_tour():
        return
    path, title = list(titles.items())[place]
    number = read_number(path)
    answered: dict[str, MarkedRecall] = st.session_state.get(RECALLS_MARKED, {}).get(number, {})
    if not answered:
        return
    name = choose_question(answered)
    heading, news = _("Do you still know it?"), _("A question returns.")
    if answered[name].has_other_numbers:
        news = _("A question returns, with other details.")
    column, _rest = st.columns(2)
    with column, st.container(border=True, key="recall card again"):
        st.markdown(f"**{heading}** {news}")
        label = _("From {page}", page=_(title))
        st.page_link(path, label=label, icon=":material/undo:")
        is_right = ask_recall(Prose(Path(path).stem), name, answered[name].again, "again")
    marked = st.session_state.setdefault(REPEATS_MARKED, {})
    if is_right is not None and (number, name) not in marked:
        marked[number, name] = is_right
        st.rerun()  # the whole page: the last one counts the answers outside


def choose_question(answered: dict[str, MarkedRecall]) -> str:
    """The first question that was missed; of equals, one that has other numbers now."""
    return min(
        answered, key=lambda name: (answered[name].is_right, not answered[name].has_other_numbers)
    )


def show_tally(contents: Contents, here: str, done_pages: Sequence[str]) -> None:
    """At the end of the last page, whose file is `here`: the tally of the pages before it.

    Nothing is shown to a visitor who predicted nothing and has done no page.
    """
    if here != list(list_titles(contents))[-1] or is_lecture() or is_tour():
        return
    *before, _last = list_titles(contents).items()
    tally = _write_tally([read_number(path) for path, _title in before])
    to_do = [one for one in before if one[0] not in done_pages]
    if not tally and not (done_pages and to_do):
        return
    with st.container(border=True, key="tally", gap="small"):
        if tally:
            st.markdown(tally)
        for path, title in to_do[:1]:
            label = _("Not done yet: {page}", page=_(title))
            st.page_link(path, label=label, icon=":material/arrow_back:")


def _write_tally(numbers: Sequence[str]) -> str:
    """How many predictions on these pages were right, and what was learned where they were not.

    Of that speak the questions at the end of such a page, as far as they were answered. Where one
    was asked again, the answer given then counts.
    """
    marked: dict[str, tuple[str, bool | None]] = st.session_state.get(PREDICTIONS_MARKED, {})
    predicted = [
        (number, is_right)
        for number, is_right in marked.values()
        if number in numbers and is_right is not None
    ]
    if not predicted:
        return ""
    right = sum(is_right for _number, is_right in predicted)
    tally = _("You predicted {right} of {all} right.", right=right, all=len(predicted))
    recalls: dict[str, dict[str, MarkedRecall]] = st.session_state.get(RECALLS_MARKED, {})
    repeats: dict[tuple[str, str], bool] = st.session_state.get(REPEATS_MARKED, {})
    known = [
        repeats.get((number, name), recall.is_right)
        for number in {number for number, is_right in predicted if not is_right}
        for name, recall in recalls.get(number, {}).items()
    ]
    if not known:
        return f"**{tally}**"
    later = _(
        "On pages where your prediction was wrong, "
        "you now get {right} of {all} questions at the end right.",
        right=sum(known),
        all=len(known),
    )
    return f"**{tally}** {later}"
