"""Does it matter: a head's output replaced, and whether the next token follows."""

import streamlit as st

from explainers.chapters.common.measured_heads import CODE_ROLE
from explainers.chapters.does_it_matter import cards
from explainers.chapters.does_it_matter.hero import Shown, find_head, make_hero, read_shown
from explainers.models import replaced_heads
from explainers.models.layer_by_layer import compute_direct_effects, freeze_norm
from explainers.ui import page
from explainers.ui.figure.hero import show_hero
from explainers.ui.page import show_one_sentence
from explainers.ui.page_parts.check_yourself import check_yourself
from explainers.ui.page_parts.go_deeper import go_deeper
from explainers.ui.source import show_source
from explainers.ui.text.language import fragment

text = page.Prose(__file__)


@fragment
def show_page(shown: Shown) -> None:
    """The picture, the question, and the cards."""
    hero = make_hero(text, shown)
    show_hero(text, hero, "matter")
    cards.ask_zero(text, shown)
    text("how")
    show_source(replaced_heads.patch_heads, replaced_heads.refuse_small_leads, that=CODE_ROLE)
    show_source(compute_direct_effects, freeze_norm, that=CODE_ROLE)
    go_deeper(
        text,
        {
            "writes": lambda: cards.show_writing(text, shown, find_head(hero)),
            "ways": lambda: cards.show_ways(text, shown, find_head(hero)),
            "pair": lambda: cards.show_pair(text, shown, page.read_seed()),
        },
    )


text("question")
if shown := read_shown():
    show_page(shown)
else:
    st.container(key="hero")
    text("other_weights")
show_one_sentence(text)
recalls = {"effect": cards.recall_effect, "null": cards.recall_null}
check_yourself(text, recalls)
