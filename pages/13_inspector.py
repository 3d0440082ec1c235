"""Inspector: a real model with our function inside, every head of it, number by number."""

from typing import TYPE_CHECKING

import streamlit as st

from explainers.chapters.common.choose_real_model import choose_name, obtain_model
from explainers.chapters.common.recording import Recording
from explainers.chapters.inspector import hero, recall
from explainers.chapters.inspector.both_directions import show_beside
from explainers.chapters.inspector.head_figure import Head, show_head, take_head
from explainers.chapters.inspector.head_overview import (
    ask_most,
    read_clicked_head,
    show_overview,
    show_position,
    show_sinks,
)
from explainers.chapters.inspector.long_text import show_long
from explainers.chapters.inspector.sentence_run import (
    name_model,
    run_or_explain,
    show_difference,
    show_next_tokens,
)
from explainers.chapters.inspector.shipped_sentence import read_shipped_sentence
from explainers.chapters.inspector.sound_attention import given_sound, play_ready_sound, show_heard
from explainers.toys.sentence import SENTENCE
from explainers.ui import page
from explainers.ui.controls import controls
from explainers.ui.controls.choose_text import choose_text
from explainers.ui.figure.hero import Hero, show_hero
from explainers.ui.page_parts.check_yourself import check_yourself
from explainers.ui.page_parts.go_deeper import go_deeper
from explainers.ui.page_parts.one_sentence import show_one_sentence
from explainers.ui.text.language import fragment

if TYPE_CHECKING:
    from explainers.models.load import RealModel

HEARING = "openai/whisper-tiny"
text = page.open_prose(__file__)
queries_down = page.has_queries_down()


@fragment
def ask_position(shown: Recording, loaded: "RealModel", sentence: str) -> None:
    """Is it the word or its position that gets the weight?"""
    show_position(text, shown, loaded, sentence)


@fragment
def show_how(shown: Recording, loaded: "RealModel", sentence: str) -> None:
    """Is it really the model? Ours against its own."""
    show_difference(text, shown, loaded, sentence)


def show_one_head(head: Head, is_dimmed: bool) -> None:
    """The chosen head, with all that led to its weights."""
    show_head(text, head, is_dimmed, queries_down)


def show_all_heads(shown: Recording, chosen: tuple[int, int], is_dimmed: bool) -> None:
    """Which token gets most; then all heads to point at, and how much each gives the first."""
    text("sinks")
    ask_most(text, shown)
    show_overview(text, shown, chosen, is_dimmed)
    show_sinks(text, shown)
    if read_clicked_head(chosen) != chosen:
        st.rerun()  # the picture at the top shows the head that was clicked


def show_listening() -> None:
    """A model that reads sound, and a sound that is ready."""
    play_ready_sound(text)
    loaded = obtain_model(HEARING, "listening")
    if loaded:
        listen(loaded)


@fragment
def listen(loaded: "RealModel") -> None:
    """A model that reads sound gets a sound instead of a sentence."""
    samples = given_sound(text, loaded)
    if samples is not None:
        show_heard(text, loaded, samples)


def open_on(heads: hero.Heads, sentence: str, model: str) -> Hero:
    """The picture, and what it shows."""
    picture = hero.make_hero(text, heads, sentence, model)
    show_hero(text, picture, "mosaic")
    return picture


def open_without(model: str, sentence: str) -> None:
    """The same picture before the model is loaded: as it was measured, or of small heads."""
    shipped = read_shipped_sentence(model) if sentence == SENTENCE else None
    open_on(shipped or hero.load_toy_heads(model), sentence, model)


def inspect(shown: Recording, loaded: "RealModel", sentence: str, model: str) -> None:
    """All of the page that needs a model."""
    picture = open_on(hero.cut_heads(shown), sentence, model)
    if len(shown.tokens) > hero.MOST_DRAWN:
        text("hero_cut", drawn=hero.MOST_DRAWN, tokens=len(shown.tokens))
    text("model", **name_model(shown, loaded))
    chosen = picture.chosen(controls.model_layer), picture.chosen(controls.model_head)
    is_dimmed = picture.chosen(controls.dim_first_token)
    head = Head(shown, *chosen)
    take_head(head)
    ask_position(shown, loaded, sentence)
    show_how(shown, loaded, sentence)
    go_deeper(
        text,
        {
            "head": lambda: show_one_head(head, is_dimmed),
            "sinks": lambda: show_all_heads(shown, chosen, is_dimmed),
            "beside": lambda: show_beside(text, shown, *chosen, sentence, queries_down),
            "predicted": lambda: show_next_tokens(text, shown),
            "long": lambda: show_long(text, shown, loaded),
            "listening": show_listening,
        },
    )


text("question")
beside_it, field = st.columns([1, 2], vertical_alignment="bottom")
with beside_it:
    model = choose_name(is_named=False)
picture, below = st.container(), st.container()
with below:
    loaded = obtain_model(model, "chosen")
if loaded and loaded.feature_extractor:
    listen(loaded)
else:
    with field:
        sentence = choose_text(is_english=True).text
    shown = run_or_explain(loaded, sentence) if loaded else None
    if loaded and shown:
        inspect(shown, loaded, sentence, model)
    else:
        with picture:
            open_without(model, sentence)
text("notice")
show_one_sentence(text)
check_yourself(text, {"first": recall.find_sink, "zero": recall.read_difference})
