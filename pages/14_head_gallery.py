"""Head gallery: what every head of a real model does, measured on texts that are known."""

from random import Random
from typing import TYPE_CHECKING

import streamlit as st

from explainers.chapters.common.choose_real_model import obtain_model
from explainers.chapters.common.measured_heads import (
    Gallery,
    find_gallery,
    measure_gallery,
    name_head,
    show_measuring,
)
from explainers.chapters.head_gallery import takeaway
from explainers.chapters.head_gallery.head_card import ask_keeps, show_labels, show_patterns
from explainers.chapters.head_gallery.hero import Place, make_hero
from explainers.chapters.head_gallery.layer_entropy import show_layers
from explainers.chapters.head_gallery.partner_heads import show_partners
from explainers.chapters.head_gallery.score_mosaic import follow_choice, show_map, veil_induction
from explainers.chapters.head_gallery.score_steps import show_score_steps
from explainers.messages import N_
from explainers.models.probes import NUM_TEXTS, REPEATED_LENGTH
from explainers.models.registry import OFFERED_MODELS
from explainers.ui import page
from explainers.ui.controls import controls
from explainers.ui.controls.choose_text import choose_text
from explainers.ui.figure.hero import show_hero
from explainers.ui.page_parts.check_yourself import Recall, check_yourself
from explainers.ui.page_parts.go_deeper import go_deeper
from explainers.ui.page_parts.one_sentence import show_one_sentence
from explainers.ui.text.language import fragment

if TYPE_CHECKING:
    from explainers.models.load import RealModel

text = page.open_prose(__file__)
BASELINE = N_("whether the score could be reached at random")
NEW_ROLE, SPEED = N_("which layer a head is in"), N_("how fast the model is")
NOTHING_THERE = N_("prose seldom repeats a text, so there is little to find")
OTHER_HEADS, TOO_LONG = N_("other heads read the prose"), N_("prose is too long for it")


def show_measures(gallery: Gallery, chosen: Place) -> None:
    """Every head by one score, with its null baseline."""
    text("looking", texts=NUM_TEXTS, length=REPEATED_LENGTH)
    veil_induction(text, gallery)
    show_map(text, gallery, chosen)


def show_evidence(gallery: Gallery, chosen: Place) -> None:
    """The names of a head, what speaks against them, and its weights on three texts."""
    text("head")
    sentence = choose_text(is_english=True).text
    loaded: RealModel | None = gallery.loaded or obtain_model(gallery.name, "chosen")
    if loaded:
        show_labels(text, gallery, loaded, chosen)
        show_patterns(text, gallery, loaded, chosen, sentence, page.has_queries_down())
    text("notice")


def show_gallery(gallery: Gallery) -> None:
    """The picture, the question below it, and the cards."""
    hero, chosen = make_hero(text, gallery)
    show_hero(text, hero, "gallery")
    takeaway.scores(gallery, "repeated", chosen, name_head(*chosen))
    fragment(ask_keeps)(text, gallery)
    text("how")
    show_score_steps(text, gallery, chosen)
    cards = {
        "measures": lambda: show_measures(gallery, chosen),
        "evidence": lambda: show_evidence(gallery, chosen),
        "partners": lambda: show_partners(text, gallery),
    }
    about_head = {name: follow_choice(show, gallery, chosen) for name, show in cards.items()}
    go_deeper(
        text,
        {
            **about_head,
            "layers": lambda: show_layers(text, gallery),
            "measure": lambda: show_measuring(text, gallery),
        },
    )


def ask_baseline(draw: Random) -> Recall:
    """What the shuffled weights are for."""
    return Recall(BASELINE, {}, [NEW_ROLE, BASELINE, SPEED])


def ask_prose(draw: Random) -> Recall:
    """Why a surest head does little in prose."""
    return Recall(NOTHING_THERE, {}, [OTHER_HEADS, NOTHING_THERE, TOO_LONG])


text("question")
with st.container(key="hero-controls", horizontal=True, vertical_alignment="bottom"):
    name = controls.real_model([one.id for one in OFFERED_MODELS])
gallery = find_gallery(name)
if not gallery and (loaded := obtain_model(name, "chosen")):
    gallery = measure_gallery(text, loaded)
if gallery:
    show_gallery(gallery)
show_one_sentence(text)
check_yourself(text, {"baseline": ask_baseline, "prose": ask_prose})
