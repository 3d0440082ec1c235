"""Retrieval: below a page a question from two pages ago once more, on the last page a tally."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import streamlit as st

from explainers.translations import _
from explainers.ui.learning_path import Contents, list_titles, read_number
from explainers.ui.lecture.screens import is_lecture
from explainers.ui.page import Prose
from explainers.ui.page_parts.check_yourself import MarkedRecall, ask_recall
from explainers.ui.session import PREDICTIONS_MARKED, RECALLS_MARKED, REPEATS_MARKED
from explainers.ui.text.language import fragment
from explainers.ui.tour_mode import is_tour

PAGES_BETWEEN = 2
"""So many pages later a question is asked again."""


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
    column, _rest = st.columns(2)
    with column, st.container(border=True, key="recall card again"):
        st.markdown(_introduce(answered[name]))
        label = _("From {page}", page=_(title))
        st.page_link(path, label=label, icon=":material/undo:")
        is_right = ask_recall(Prose(Path(path).stem), name, answered[name].again, "again")
    marked = st.session_state.setdefault(REPEATS_MARKED, {})
    if is_right is not None and (number, name) not in marked:
        marked[number, name] = is_right
        st.rerun()  # the whole page: the last one counts the answers outside


def choose_question(answered: dict[str, MarkedRecall]) -> str:
    """The first question that was missed; of equals, one that has other numbers now."""
    return min(answered, key=lambda name: (answered[name].is_right, _is_the_same(answered[name])))


def _is_the_same(question: MarkedRecall) -> bool:
    return not question.has_other_numbers


def _introduce(question: MarkedRecall) -> str:
    heading = _("Do you still know it?")
    if question.has_other_numbers:
        news = _("A question returns, with other details.")
    else:
        news = _("A question returns.")
    return f"**{heading}** {news}"


@dataclass(frozen=True)
class Tally:
    """A visitor's first answers, on some pages.

    `asked` counts the questions at the end of those pages on which a prediction was missed, as far
    as they were answered. Where such a question was asked again, the answer given then counts.
    """

    predicted: int
    right: int
    asked: int
    known: int

    @classmethod
    def of(cls, numbers: Sequence[str]) -> Self:
        """What this visitor answered on the pages with these numbers."""
        marked: dict[str, tuple[str, bool | None]] = st.session_state.get(PREDICTIONS_MARKED, {})
        predicted = [
            (number, is_right)
            for number, is_right in marked.values()
            if number in numbers and is_right is not None
        ]
        missed_on = {number for number, is_right in predicted if not is_right}
        recalls: dict[str, dict[str, MarkedRecall]] = st.session_state.get(RECALLS_MARKED, {})
        repeats: dict[tuple[str, str], bool] = st.session_state.get(REPEATS_MARKED, {})
        known = [
            repeats.get((number, name), recall.is_right)
            for number in missed_on
            for name, recall in recalls.get(number, {}).items()
        ]
        right = sum(is_right for _number, is_right in predicted)
        return cls(len(predicted), right, len(known), sum(known))


def show_tally(contents: Contents, here: str, done_pages: Sequence[str]) -> None:
    """At the end of the last page, whose file is `here`: the tally of the pages before it.

    Nothing is shown to a visitor who predicted nothing and has done no page.
    """
    if here != list(list_titles(contents))[-1] or is_lecture() or is_tour():
        return
    *before, _last = list_titles(contents).items()
    tally = Tally.of([read_number(path) for path, _title in before])
    to_do = [one for one in before if one[0] not in done_pages]
    if not tally.predicted and not (done_pages and to_do):
        return
    with st.container(border=True, key="tally", gap="small"):
        if tally.predicted:
            st.markdown(write_tally(tally))
        for path, title in to_do[:1]:
            label = _("Not done yet: {page}", page=_(title))
            st.page_link(path, label=label, icon=":material/arrow_back:")


def write_tally(tally: Tally) -> str:
    """The tally as one or two sentences."""
    predicted = _("You predicted {right} of {all} right.", right=tally.right, all=tally.predicted)
    sentences = [f"**{predicted}**"]
    if tally.asked:
        sentences.append(
            _(
                "On pages where your prediction was wrong, "
                "you now get {right} of {all} questions at the end right.",
                right=tally.known,
                all=tally.asked,
            )
        )
    return " ".join(sentences)
