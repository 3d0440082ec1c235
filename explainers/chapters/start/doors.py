"""Three ways on from the start page: a tour, a lecture, the course."""

import streamlit as st

from explainers.translations import _
from explainers.ui.controls.controls import lecture_mode, reset_choices
from explainers.ui.learning_path import estimate_course
from explainers.ui.lecture.screens import LESSON_MINUTES, is_lecture
from explainers.ui.page import Prose, open_page, split_title
from explainers.ui.page_parts.page_cards import PageCard, show_cards
from explainers.ui.tour import STOPS
from explainers.ui.tour_mode import tour_mode

SECOND_PAGE = "pages/02_tokens.py"


def show_doors(text: Prose) -> None:
    """The three ways as cards; in a lecture, which is one of them, none."""
    if is_lecture():
        return
    tour_minutes = round(sum(stop.seconds for stop in STOPS) / 60)
    hours = round(estimate_course() / 60)
    doors = (
        ("tour", "path_tour", "?tour=1", "06_many_heads", _("{minutes} min", minutes=tour_minutes)),
        ("lecture", "path_lecture", "?lecture=true", "lecture", _("with your class")),
        ("course", "path_course", "tokens", "02_tokens", _("{hours} hours", hours=hours)),
    )
    cards = []
    for name, section, address, thumbnail, minutes in doors:
        title, line = split_title(text.fill(section, minutes=LESSON_MINUTES))
        cards.append(PageCard(name, address, thumbnail, title, " ".join(line.split()), minutes))
    opened = show_cards("doors", _("Three ways on"), {"": cards}, _begin)
    open_page(SECOND_PAGE if opened == "course" else "", step="")


def _begin(name: str) -> None:
    """The tour and the lecture begin on this page; the course goes on to the next one."""
    if name == "course":
        return
    if name == "tour":
        reset_choices()  # every stop begins with the picture that its text is about
        tour_mode.turn(True)
    else:
        lecture_mode.put(True)
    st.rerun()  # the whole page, of which the doors are a part
