"""Serving tricks: shared beginnings, pages, chunks and drafts, which differ by rounding only."""

import streamlit as st

from explainers.chapters.common.choose_real_model import choose_name, obtain_model
from explainers.chapters.exercises import predict
from explainers.chapters.serving import cards
from explainers.chapters.serving.hero import changed_token, make_hero
from explainers.translations import _
from explainers.ui import page
from explainers.ui.export_mode import get_export
from explainers.ui.figure.hero import show_hero
from explainers.ui.page import show_one_sentence
from explainers.ui.page_parts.check_yourself import check_yourself
from explainers.ui.page_parts.go_deeper import go_deeper
from explainers.ui.takeaway_files import hand_over

text = page.Prose(__file__)


text("question")
with st.container(key="hero-controls nameless", horizontal=True, vertical_alignment="bottom"):
    beginning = cards.shared_beginning(is_named=False)
    named = choose_name(is_named=False)
picture, below = st.container(), st.container()
with below:
    loaded = obtain_model(named, "chosen")
with picture:
    # As it was measured beforehand where there is no model that can, or no server.
    live = cards.read_or_explain(loaded, beginning) if loaded and not get_export() else None
    serving = live or cards.read_shipped()
    hero = make_hero(text, serving)
    show_hero(text, hero, "serving")
    if serving.beginning != beginning:
        text("hero_other_text")
changed = hero.chosen(changed_token)
one, two = serving.prompts.ids[0], serving.prompts.change(changed)
prompts = {"one": one, "two": two, "block": cards.BLOCK}
hand_over("prompts", _("Two prompts share blocks"), cards.share_prompts, **prompts)
cards.ask_layer(text, serving)
cards.show_exchange(text, serving)
go_deeper(
    text,
    {
        "lookup": lambda: cards.show_lookup(text, serving),
        "engines": lambda: cards.show_engines(text),
    },
)
show_one_sentence(text)
recalls = {"rows": predict.rows_after_a_change, "kept": predict.kept_drafts}
check_yourself(text, recalls)
