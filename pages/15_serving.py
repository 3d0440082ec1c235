"""Serving tricks: shared beginnings, pages, chunks and drafts, which differ by rounding only."""

from functools import partial

import streamlit as st

from explainers.attention.serving.kept_drafts import (
    keep_probability,
    left_over,
    tree_mask,
    tree_positions,
    written_distribution,
)
from explainers.attention.serving.paged_cache import gather, make_room, write_row
from explainers.chapters.common.choose_real_model import choose_name, obtain_model
from explainers.chapters.exercises import predict
from explainers.chapters.serving import cards
from explainers.chapters.serving.cards import Serving
from explainers.chapters.serving.hero import changed_token, make_hero
from explainers.translations import _
from explainers.ui import page
from explainers.ui.export_mode import get_export
from explainers.ui.figure.hero import show_hero
from explainers.ui.page import show_one_sentence
from explainers.ui.page_parts.check_yourself import check_yourself
from explainers.ui.page_parts.go_deeper import go_deeper
from explainers.ui.source import show_source
from explainers.ui.takeaway_files import hand_over
from explainers.ui.text.language import fragment

text = page.Prose(__file__)


@fragment
def show_how(serving: Serving) -> None:
    """A draft is kept, or another word is drawn: six bars."""
    guesses, tree = serving.guesses(), serving.drafts()
    cards.show_exchange(text, guesses, serving.origin)
    title, (draft, target) = _("Keep a draft or draw again"), (guesses.draft, guesses.target)
    hand_over("exchange", title, cards.exchange_drafts, draft=draft, target=target)
    title = _("A tree of drafts")
    hand_over("tree", title, cards.check_tree, length=len(tree.text), parents=tree.parents)
    show_source(keep_probability, left_over, written_distribution)
    show_source(tree_mask, tree_positions)


def show_engines() -> None:
    """Pages in an engine, and what they save; the code of the picture."""
    text("engines", **cards.name_pages())
    show_source(make_room, write_row, gather)


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
show_how(serving)
go_deeper(text, {"lookup": partial(cards.show_lookup, text, serving), "engines": show_engines})
show_one_sentence(text)
recalls = {"rows": predict.rows_after_a_change, "kept": predict.kept_drafts}
check_yourself(text, recalls)
