"""Attention in one picture: whom each word looks at, and how that comes about."""

import streamlit as st

from explainers.attention.single_head import project
from explainers.attention.steps import OPERATIONS, attention_steps
from explainers.chapters.common.choose_layer import name_layer_origin
from explainers.chapters.common.one_head import compute_matrices, read_head
from explainers.chapters.common.sentence_reading import (
    Reading,
    ask_about,
    offer_choice,
    show_reader,
)
from explainers.chapters.exercises.predict import a_mixture
from explainers.chapters.start import make_hero, recall_remaining_weight
from explainers.toys.layers import Layer
from explainers.toys.training import POOL_SENTENCES
from explainers.translations import _
from explainers.ui import page
from explainers.ui.controls import controls
from explainers.ui.controls.controls import lecture_mode, reset_choices, tour_mode
from explainers.ui.figure.hero import show_hero
from explainers.ui.figure.linked_matrices import show_clickable_figure
from explainers.ui.figure.panels import orient_panels
from explainers.ui.lecture.screens import is_lecture
from explainers.ui.page import show_one_sentence
from explainers.ui.page_parts.check_yourself import check_yourself
from explainers.ui.page_parts.first_picture import show_where
from explainers.ui.page_parts.go_deeper import go_deeper
from explainers.ui.source import show_source
from explainers.ui.takeaway_files import hand_over
from explainers.ui.text.language import fragment
from explainers.ui.tour import end_stop

text = page.Prose(__file__)
SCORES = "pages/04_scores.py"
PAGES = {"X": "pages/02_tokens.py", **dict.fromkeys("QKV", "pages/03_query_key_value.py")}
SEVEN = ("X", "Q", "K", "V", "scores", "weights", "output")
ARROWS = ("Q", "scores", "masked", "weights", "output")


def begin_tour() -> None:
    """Turn the tour on, at the picture that its first stop is about."""
    reset_choices()  # every stop begins with the picture that its text is about
    tour_mode.turn(True)
    st.rerun()  # the whole page, of which the buttons are a part


def show_ways_on() -> None:
    """A tour, a lecture, and what somebody asks who wants more than to read; none in a lecture."""
    if is_lecture():
        return
    text("ways_on")
    with st.container(horizontal=True, key="ways on"):
        st.button(_("10-minute tour"), on_click=begin_tour, icon=":material/tour:")
        offer_choice(_("Lecture mode"), ":material/co_present:", lecture_mode, True)
    st.caption(text.fill("imprint"))


def show_all_words(layer: Layer) -> None:
    """What the picture at the top follows for one word, for all: a matrix per step."""
    text("steps")
    one_head = read_head(layer)
    names = (one_head.compared if name == "scores" else name for name in SEVEN)
    panels = [one_head.panel(name, "→" if name in ARROWS else "", True) for name in names]
    panels, working = orient_panels(panels, page.has_queries_down()), one_head.explain
    alt = _("One head of attention, a matrix per step, from the tokens to the output.")
    opened = show_clickable_figure(panels, working, name_layer_origin(layer), "7 matrices", alt)
    page.open_page(opened and PAGES.get(opened, SCORES), step=opened)


@fragment
def show_lesson(reading: Reading, written: str) -> None:
    """The picture and all that follows it, which nothing outside of it depends on."""
    hero = make_hero(text, reading, written)

    def find_layer() -> Layer:
        return reading.layer(hero.chosen(controls.mask))

    show_hero(text, hero, "journey")
    end_stop(text)
    if reading.is_small:
        text("learned_here", sentences=f"{POOL_SENTENCES:,}")
    show_reader(reading)
    show_ways_on()
    text("promise")
    show_source(project, attention_steps, *sum(OPERATIONS.values(), ()))
    hand_over("head", _("One head, every matrix"), compute_matrices, layer=find_layer())
    go_deeper(text, {"all_words": lambda: show_all_words(find_layer())})


sentence, reading = ask_about(
    text, "question", "question_own", below=lambda: show_where(text, "where")
)
show_lesson(reading, sentence.text)
show_one_sentence(text)
check_yourself(text, {"weights": recall_remaining_weight, "output": a_mixture})
