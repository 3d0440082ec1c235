"""Head gallery: what every head of a real model does, measured on texts that are known."""

import streamlit as st

from explainers.chapters.common import measured_heads
from explainers.chapters.common.choose_real_model import choose_name, obtain_model
from explainers.chapters.common.measured_heads import Gallery
from explainers.chapters.head_gallery import cards
from explainers.chapters.head_gallery.hero import find_head, gallery_head, gallery_layer, make_hero
from explainers.models.head_scores import build_patterns, compute_mass, score_pattern
from explainers.ui import page
from explainers.ui.figure.hero import show_chosen, show_hero
from explainers.ui.page import show_one_sentence
from explainers.ui.page_parts.check_yourself import check_yourself
from explainers.ui.page_parts.go_deeper import go_deeper
from explainers.ui.source import show_source
from explainers.ui.text.language import fragment

text = page.Prose(__file__)


@fragment
def show_gallery(gallery: Gallery, named: str) -> None:
    """The picture, the question below it, and the cards, if it is that of the chosen model."""
    hero = make_hero(text, gallery, named)
    if stands_in := gallery.name != named:
        text("hero_other_model", model=gallery.name)
    show_hero(text, hero, "gallery")
    if stands_in and (loaded := obtain_model(named, "chosen")):
        text("measure", **measured_heads.count_texts())
        measured_heads.offer_measuring(loaded)
    cards.ask_keeps(text, gallery)
    text("how")

    def show_score() -> None:
        cards.show_score_steps(text, gallery, find_head(hero))

    show_chosen("score", show_score, gallery_layer, gallery_head)
    show_source(build_patterns, compute_mass, score_pattern)
    of_head = {"measures": lambda: cards.show_measures(text, gallery, find_head(hero))}
    of_head |= {"evidence": lambda: cards.show_evidence(text, gallery, find_head(hero))}
    if not stands_in:
        go_deeper(text, cards.follow_choice(of_head, gallery, find_head(hero)))


text("question")
with st.container(key="hero-controls", horizontal=True, vertical_alignment="bottom"):
    name = choose_name()
if gallery := measured_heads.choose_gallery(name):
    show_gallery(gallery, name)
show_one_sentence(text)
check_yourself(text, {"baseline": cards.recall_baseline, "prose": cards.recall_prose})
