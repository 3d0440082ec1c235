"""Inspector: a real model with our function inside, every head of it, number by number."""

from typing import TYPE_CHECKING

import streamlit as st

from explainers.chapters.common.choose_real_model import choose_model
from explainers.chapters.common.recording import Recording
from explainers.chapters.inspector.both_directions import show_beside
from explainers.chapters.inspector.head_figure import Head, show_head
from explainers.chapters.inspector.head_overview import (
    ask_most,
    chosen_head,
    show_overview,
    show_position,
    show_sinks,
)
from explainers.chapters.inspector.long_text import show_long
from explainers.chapters.inspector.sentence_run import (
    run_or_explain,
    show_difference,
    show_next_tokens,
)
from explainers.chapters.inspector.sound_attention import given_sound, show_heard
from explainers.ui import page
from explainers.ui.controls import controls
from explainers.ui.controls.choose_text import choose_text
from explainers.ui.text.language import fragment

if TYPE_CHECKING:
    from explainers.models.load import RealModel

text = page.open_prose(__file__)
queries_down = page.has_queries_down()


@fragment
def looking(shown: Recording, sentence: str) -> None:
    """All heads small, one of them large, and what is parked on the first token."""
    text("looking")
    if not ask_most(text, shown):
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        layer, head = chosen_head(shown)
        is_dimmed = controls.dim_first_token()
    show_overview(text, shown, (layer, head), is_dimmed)
    show_head(text, Head(shown, layer, head), is_dimmed, queries_down)
    show_sinks(text, shown)
    show_beside(text, shown, layer, head, sentence, queries_down)


@fragment
def asking(shown: Recording, loaded: "RealModel", sentence: str) -> None:
    """Is it the word or its place; what comes next; is it really the model?"""
    show_position(text, shown, loaded, sentence)
    show_next_tokens(text, shown)
    show_difference(text, shown, loaded, sentence)


@fragment
def long(shown: Recording, loaded: "RealModel") -> None:
    """A text of many tokens, one layer at a time."""
    show_long(text, shown, loaded)


@fragment
def listening(loaded: "RealModel") -> None:
    """A model that hears gets a sound instead."""
    samples = given_sound(text, loaded)
    if samples is not None:
        show_heard(text, loaded, samples)


text("question")
loaded = choose_model()
if loaded and loaded.feature_extractor:
    listening(loaded)
else:
    sentence = choose_text(is_english=True).text
    shown = run_or_explain(text, loaded, sentence) if loaded else None
    if loaded and shown:
        looking(shown, sentence)
        asking(shown, loaded, sentence)
        long(shown, loaded)
text("notice")
