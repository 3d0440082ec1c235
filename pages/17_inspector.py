"""Inspector: a real model with our function inside, every head of it, number by number."""

from functools import partial

import streamlit as st

from explainers.chapters.common.choose_real_model import choose_name, obtain_model
from explainers.chapters.inspector import cards, sentence_run
from explainers.chapters.inspector.hero import make_hero
from explainers.chapters.inspector.sentence_run import find_heads, show_other_model
from explainers.ui import page
from explainers.ui.controls.choose_text import choose_text
from explainers.ui.figure.hero import show_hero
from explainers.ui.page import show_one_sentence
from explainers.ui.page_parts.check_yourself import check_yourself
from explainers.ui.page_parts.go_deeper import go_deeper

text = page.Prose(__file__)


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
    sentence_run.show_run(text, view)
    head = cards.take_head(view)
    show_other_model(text, hero, sentence)
    cards.ask_position(text, view)
    sentence_run.show_how(text, view, head.function)
    deeper = {"head": lambda: cards.show_head(text, find_view())}
    go_deeper(text, deeper | {"sinks": lambda: cards.show_all_heads(text, find_view())})
text("notice")
show_one_sentence(text)
check_yourself(text, {"first": cards.recall_sink, "zero": sentence_run.recall_difference})
