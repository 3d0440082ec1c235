"""A question from two pages ago, asked once more with other numbers (spaced retrieval)."""

from pathlib import Path

import streamlit as st

from explainers.translations import _
from explainers.ui.learning_path import Contents, number_pages
from explainers.ui.lecture.screens import is_lecture
from explainers.ui.page import Prose
from explainers.ui.page_parts.check_yourself import MarkedRecall, ask_recall
from explainers.ui.session import RECALLS_MARKED, REPEATS_MARKED
from explainers.ui.text.language import fragment
from explainers.ui.tour_mode import is_tour

PAGES_BETWEEN = 2
"""So many pages later a question is asked again."""


@fragment
def repeat_question(contents: Contents, here: str) -> None:
    """At the end of a page, whose file is `here`: one question that was answered two pages ago.

    Whoever answered none of them is asked nothing. Being done with this page does not need it.
    """
    pages = number_pages(contents)
    place = list(pages).index(here) - PAGES_BETWEEN
    if place < 0 or is_lecture() or is_tour():
        return
    path, (number, title) = list(pages.items())[place]
    answered: dict[str, MarkedRecall] = st.session_state.get(RECALLS_MARKED, {}).get(number, {})
    if not answered:
        return
    name = choose_question(answered)
    column, _rest = st.columns(2)
    with column, st.container(border=True, key="recall card again"):
        st.markdown(_introduce(answered[name]))
        label = _("From {page}", page=f"{int(number)} · {title}")
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
