"""Write with it: a model writes token by token, and what a smaller cache costs it."""

from dataclasses import replace

import streamlit as st

from explainers.chapters.common.recording import describe_live_run
from explainers.chapters.writing import cards
from explainers.chapters.writing.cards import SETTINGS, sample_candidates
from explainers.chapters.writing.hero import make_hero, written_text
from explainers.models.load import find_loaded_model
from explainers.models.registry import describe_package
from explainers.models.shipped_measurements import MODEL, ShippedWriting, read_shipped_writing
from explainers.models.written_tokens import draw, heat, keep_top_k, keep_top_p
from explainers.translations import _
from explainers.ui import page
from explainers.ui.figure.hero import show_hero
from explainers.ui.page import show_one_sentence
from explainers.ui.page_parts.check_yourself import check_yourself
from explainers.ui.page_parts.go_deeper import go_deeper
from explainers.ui.provenance import shipped_run
from explainers.ui.source import show_source
from explainers.ui.takeaway_files import run_and_hand_over
from explainers.ui.text.language import fragment

text = page.Prose(__file__)


@fragment
def show_page(shipped: ShippedWriting) -> None:
    """The picture, the question, and the cards."""
    own = cards.find_written()
    texts = {**shipped.texts, **own}
    hero = make_hero(text, texts, origin)
    if hero.chosen(written_text) in own and (loaded := find_loaded_model(MODEL)):
        hero = replace(hero, origin=describe_live_run(loaded))
    show_hero(text, hero, "writing")
    shown = texts[hero.chosen(written_text)]
    step = shown.steps[min(hero.choices[1].value, len(shown.steps) - 1)]
    logits = [logit for _token, logit in step.candidates]
    title = _("How a token is drawn from its candidates")
    run_and_hand_over("candidates", title, sample_candidates, logits=logits, **SETTINGS)
    cards.ask_sinks(text, shipped.losses, origin)
    text("how", **cards.describe_shape(shipped))
    show_source(heat, keep_top_k, keep_top_p, draw)
    of_cards = {"own": lambda: cards.show_own(text)}
    go_deeper(text, of_cards | {"rounding": lambda: cards.show_rounding(text, shipped)})


text("question")
origin = shipped_run(describe_package(MODEL))
if shipped := read_shipped_writing():
    show_page(shipped)
else:
    st.container(key="hero")
    text("other_weights")
show_one_sentence(text)
check_yourself(text, {"bytes": cards.recall_bytes, "channel": cards.recall_channel})
