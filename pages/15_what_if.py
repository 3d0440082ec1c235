"""What if: a real model whose attention is changed, and what it expects then."""

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from explainers.chapters.common.choose_real_model import choose_name, obtain_model
from explainers.chapters.what_if.before_after import Reading, read_live, show_outcome
from explainers.chapters.what_if.choose_changes import chosen_changes, find_shape_or_explain
from explainers.chapters.what_if.hero import CHANGES, make_hero
from explainers.chapters.what_if.recall import count_visible, lose_certainty
from explainers.chapters.what_if.shipped_effects import read_shipped
from explainers.chapters.what_if.silenced_heads import show_silencing
from explainers.chapters.what_if.takeaway import take_outcome
from explainers.chapters.what_if.two_windows import (
    ANSWERS,
    answer_first,
    draw_windows,
    measure_windows,
    name_windows,
)
from explainers.models.changes import compute_losses
from explainers.ui import page
from explainers.ui.controls import controls
from explainers.ui.figure.hero import show_hero
from explainers.ui.page_parts.check_yourself import check_yourself
from explainers.ui.page_parts.go_deeper import go_deeper
from explainers.ui.page_parts.one_sentence import show_one_sentence
from explainers.ui.prediction import revealed
from explainers.ui.source import show_source
from explainers.ui.takeaway_files import take
from explainers.ui.tour import end_stop

if TYPE_CHECKING:
    from explainers.models.changes import HeadCounts
    from explainers.models.load import RealModel

text = page.open_prose(__file__)


def change_anything(loaded: "RealModel", shape: "HeadCounts", written: str) -> None:
    """Any change or several: before and after."""
    text("changing")
    take("outcome")  # until what is asked about these changes is answered
    changes = chosen_changes(loaded.name, shape)
    if changes:
        show_outcome(text, loaded, written, changes)
    else:
        text("nothing_changed")


def tell_first_token(reading: Reading) -> None:
    """What a window of four tokens breaks, and one more token mends."""
    effects = measure_windows(reading)
    if effects:
        text("two_windows", **name_windows(effects, reading.written))


def ask_first_token(reading: Reading) -> None:
    """Four tokens are not enough: are four and the first one?"""
    effects = measure_windows(reading)
    if effects:
        told = name_windows(effects, reading.written)
        if revealed(text, "first", ANSWERS, answer_first(effects), **told):
            draw_windows(effects, reading.origin)


def choose_reading(loaded: "RealModel | None", is_fit: bool) -> Reading | None:
    """By the model, or as it was measured beforehand as long as there is none."""
    if loaded:
        return read_live(loaded, written) if is_fit else None
    shipped = read_shipped(named)
    if shipped and shipped.written != written:
        text("hero_other_text")
    return shipped


text("question")
with st.container(key="hero-controls", horizontal=True, vertical_alignment="bottom"):
    written = controls.prompt()
    named = choose_name()
picture, below = st.container(), st.container()
with below:
    loaded = obtain_model(named, "chosen")
    shape = find_shape_or_explain(loaded) if loaded else None
with picture:
    reading = choose_reading(loaded, shape is not None)
    hero = make_hero(text, reading) if reading else None
    if reading and hero:
        show_hero(text, hero, "what if")
if reading and hero:
    end_stop(text, partial(tell_first_token, reading))
    section, change = CHANGES[hero.chosen(controls.what_if)]
    ask_first_token(reading)
    text("how")
    show_source(type(change), compute_losses)
    if loaded and shape:
        take_outcome(loaded, written, (change,))
        go_deeper(
            text,
            {
                "changing": partial(change_anything, loaded, shape, written),
                "silencing": partial(show_silencing, text, loaded, page.read_seed()),
                "notice": partial(text, "notice"),
            },
        )
end_stop(text)
show_one_sentence(text)
check_yourself(text, {"hidden": count_visible, "certain": lose_certainty})
