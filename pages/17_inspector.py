"""Inspector: a real model with our function inside, every head of it, number by number."""

from functools import partial

import streamlit as st

from explainers.chapters.common.choose_real_model import choose_name, obtain_model
from explainers.chapters.inspector import cards, sentence_run
from explainers.chapters.inspector.cards import draw_head, take_head
from explainers.chapters.inspector.hero import MOST_DRAWN, make_hero
from explainers.chapters.inspector.sentence_run import find_heads, show_other_model
from explainers.translations import _
from explainers.ui import page
from explainers.ui.controls.choose_text import choose_text
from explainers.ui.figure.hero import show_hero
from explainers.ui.page import show_one_sentence
from explainers.ui.page_parts.check_yourself import check_yourself
from explainers.ui.page_parts.go_deeper import go_deeper
from explainers.ui.source import show_source
from explainers.ui.text.language import fragment

text = page.Prose(__file__)


@fragment
def show_how() -> None:
    """Is it really the model? Ours against its own."""
    text("equal", **(compared := sentence_run.compare_with_own(view)))
    show_source(head.function)
    with st.expander(_("Layer by layer"), key="equal rows", on_change="rerun") as box:
        if box.open:
            text("equal_rows", **compared)


def show_head() -> None:
    """The chosen head, with all that led to its weights."""
    now = find_view()
    chosen = take_head(now)
    is_whole = len(chosen.seen.tokens) <= MOST_DRAWN
    text("head_words" if now.words else "head" if is_whole else "head_long")
    shares = draw_head(chosen, now)
    if now.is_dimmed:
        text("dimmed_head", **shares)


text("question")
beside_it, field = st.columns([1, 2])
with beside_it:
    model = choose_name(is_named=False)
picture, below = st.container(), st.container()
with below:
    loaded = obtain_model(model, "chosen")
with field:
    sentence = choose_text(is_english=True, most_words=None).text
run = sentence_run.run_or_explain(loaded, sentence)
heads = find_heads(run, model, sentence)
with st.container() if run else picture:
    show_hero(text, hero := make_hero(text, heads, sentence, model), "mosaic")
if run:
    find_view = partial(run.select, hero, page.has_queries_down())
    view = find_view()
    if cut := sentence_run.describe_cut(view):
        text("hero_cut_long" if "shown" in cut else "hero_cut", **cut)
    text("model", **sentence_run.name_model(view))
    head = take_head(view)
    show_other_model(text, hero, sentence)
    cards.ask_position(text, view)
    show_how()
    go_deeper(text, {"head": show_head, "sinks": lambda: cards.show_all_heads(text, find_view())})
text("notice")
show_one_sentence(text)
check_yourself(text, {"first": cards.recall_sink, "zero": sentence_run.recall_difference})
