"""What if: a real model whose attention is changed, and what it expects then."""

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from explainers.chapters.common.choose_real_model import choose_name, obtain_model
from explainers.chapters.what_if import cards, hero
from explainers.chapters.what_if.hero import Reading
from explainers.models.changes import compute_losses
from explainers.models.registry import WHEEL_MODELS
from explainers.ui import page
from explainers.ui.controls import controls
from explainers.ui.controls.controls import is_tour
from explainers.ui.figure.hero import show_hero
from explainers.ui.page import show_one_sentence
from explainers.ui.page_parts.check_yourself import check_yourself
from explainers.ui.page_parts.go_deeper import go_deeper
from explainers.ui.source import show_source
from explainers.ui.tour import end_stop

if TYPE_CHECKING:
    from explainers.models.changes import HeadCounts
    from explainers.models.load import RealModel

text = page.Prose(__file__)


def choose_reading(loaded: "RealModel | None", shape: "HeadCounts | None") -> Reading | None:
    """By the model; as one was measured, if none writes, or in the tour, which does not wait."""
    shipped = hero.read_shipped(named)
    ahead = shipped.ahead if shipped and shipped.written == written else None
    if loaded and shape and not (ahead and is_tour()):
        with above:
            words = hero.offer_words(loaded, written)
        live = hero.read_live(loaded, written, shape.head_dim, words)
        return live if words else live._replace(ahead=ahead)
    if shipped:
        return shipped
    other = hero.read_shipped(hero.MODEL)  # that it stands in is to be said
    return other._replace(stands_in=WHEEL_MODELS[0].name) if other else None


text("question")
above = st.container(key="hero-controls", horizontal=True, vertical_alignment="bottom")
with above:
    written = controls.prompt()
    named = choose_name()
picture, below = st.container(), st.container()
with below:
    loaded = obtain_model(named, "chosen")
    shape = cards.find_shape_or_explain(loaded) if loaded else None
with picture:
    reading = choose_reading(loaded, shape)
    drawn = hero.make_hero(text, reading) if reading else None
    if reading and drawn:
        show_hero(text, drawn, "what if")
        if remark := hero.choose_remark(reading, written):
            text(remark, model=reading.stands_in)
if reading and drawn:
    end_stop(text, partial(hero.tell_first_token, text, reading))
    _section, change = hero.CHANGES[drawn.chosen(controls.what_if)]
    hero.ask_first_token(text, reading)
    text("how")
    show_source(type(change), compute_losses)
    if loaded and shape:
        cards.take_outcome(loaded, written, (change,))
        go_deeper(text, {"changing": partial(cards.show_changes, text, loaded, shape, reading)})
end_stop(text)
show_one_sentence(text)
answers = {"hidden": hero.recall_visible, "certain": cards.recall_loss}
check_yourself(text, answers)
