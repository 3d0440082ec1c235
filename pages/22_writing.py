"""Write with it: a model writes token by token, and what a smaller cache costs it."""

from dataclasses import replace

import streamlit as st

from explainers.attention.cache.compression import (
    round_in_channels,
    round_in_groups,
    round_in_tokens,
)
from explainers.chapters.common.measured_heads import CODE_ROLE
from explainers.chapters.writing import cards
from explainers.chapters.writing.cards import SETTINGS, sample_candidates
from explainers.chapters.writing.hero import make_hero, written_text
from explainers.models.changes import BITS, RoundedRows, count_bits, measure_text
from explainers.models.registry import describe_package
from explainers.models.shipped_measurements import MODEL, ShippedWriting, read_shipped_writing
from explainers.models.written_tokens import draw, heat, keep_top_k, keep_top_p
from explainers.translations import _
from explainers.ui import page
from explainers.ui.figure.hero import show_hero
from explainers.ui.page import show_one_sentence
from explainers.ui.page_parts.check_yourself import check_yourself
from explainers.ui.page_parts.go_deeper import go_deeper
from explainers.ui.prediction import revealed
from explainers.ui.provenance import shipped_run
from explainers.ui.source import show_source
from explainers.ui.takeaway_files import run_and_hand_over
from explainers.ui.text.language import fragment

text = page.Prose(__file__)


@fragment
def ask_sinks(shipped: ShippedWriting) -> None:
    """A window harms; how much of that is gone with the first four tokens?"""
    told = cards.describe_losses(shipped.losses)
    if revealed(text, "sinks", cards.SHARES, cards.answer_sinks(shipped.losses), **told):
        cards.draw_losses(shipped.losses, origin)
        text("losses", **told)


def show_rounding(shipped: ShippedWriting) -> None:
    """Keys and values in few bits, in groups of two directions."""
    told = cards.describe_losses(shipped.losses) | cards.describe_shape(shipped)
    told |= {f"bits_{bits}": f"{count_bits(bits):g}" for bits in BITS}
    text("rounding", rows=cards.list_rounded(shipped.losses), **told)
    show_source(round_in_groups, round_in_tokens, round_in_channels, that=CODE_ROLE)
    show_source(RoundedRows, measure_text, that=CODE_ROLE)


@fragment
def show_page(shipped: ShippedWriting) -> None:
    """The picture, the question, and the cards."""
    own = cards.find_written()
    hero = make_hero(text, {**shipped.texts, **own}, origin)
    if hero.chosen(written_text) in own:
        hero = replace(hero, origin=cards.describe_origin(origin))
    show_hero(text, hero, "writing")
    shown = {**shipped.texts, **own}[hero.chosen(written_text)]
    step = shown.steps[min(hero.choices[1].value, len(shown.steps) - 1)]
    logits = [logit for _token, logit in step.candidates]
    title = _("How a token is drawn from its candidates")
    run_and_hand_over("candidates", title, sample_candidates, logits=logits, **SETTINGS)
    ask_sinks(shipped)
    text("how", **cards.describe_shape(shipped))
    show_source(heat, keep_top_k, keep_top_p, draw)
    go_deeper(
        text, {"own": lambda: cards.show_own(text), "rounding": lambda: show_rounding(shipped)}
    )


text("question")
origin = shipped_run(describe_package(MODEL))
if shipped := read_shipped_writing():
    show_page(shipped)
else:
    st.container(key="hero")
    text("other_weights")
show_one_sentence(text)
check_yourself(text, {"bytes": cards.recall_bytes, "channel": cards.recall_channel})
