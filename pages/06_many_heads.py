"""Many heads: each looks for something else, and what they find is added up."""

from dataclasses import dataclass

import streamlit as st

from explainers.attention import masks
from explainers.attention.multi_head import (
    contributions,
    merge_heads,
    multi_head,
    multi_head_one_by_one,
    split_heads,
)
from explainers.lessons.layer_choice import LayerChoices, choose_head_dim, read_layer
from explainers.lessons.many_heads import report
from explainers.lessons.many_heads.arithmetic import arithmetic_of_heads
from explainers.lessons.many_heads.dropout import show_dropout
from explainers.lessons.many_heads.looked import Looked, compare
from explainers.lessons.many_heads.pictures import follow, head_id, panels_of
from explainers.lessons.train_here import train_here
from explainers.trained import D_MODEL
from explainers.ui import common, controls
from explainers.ui.numbers import explore
from explainers.ui.source import show_source

text = common.page_text(__file__)


@dataclass(frozen=True)
class Choices(LayerChoices):
    """Everything the reader can change about the layer."""

    queries_down: bool
    head: int
    word: int
    off: tuple[str, ...]


@st.fragment
def one_layer(tokens: tuple[str, ...]) -> None:
    """All heads of a layer, one of them enlarged, and what each adds to the output."""
    with st.container(horizontal=True):
        is_trained, num_heads = controls.weights() == "trained", int(controls.num_heads())
        sizes = num_heads, choose_head_dim(is_trained, num_heads), controls.mask(list(masks.RULES))
        d_model = controls.d_model(fixed=D_MODEL if is_trained else None)
    with st.container(horizontal=True):
        head, word = controls.head(0, num_heads - 1), controls.word(0, len(tokens) - 1)
        off = controls.off([str(n) for n in range(num_heads)])
    everywhere = common.seed(), common.queries_down()
    choices = Choices(tokens, is_trained, *sizes, d_model, *everywhere, head, word, off)

    layer, origin = read_layer(text, choices)
    picture = st.container()
    run = multi_head(layer.x, layer.heads, layer.mask)
    compare(text, layer, run, multi_head_one_by_one(layer.x, layer.heads, layer.mask))
    show_source(multi_head, split_heads, merge_heads, contributions, multi_head_one_by_one)
    looked = Looked(layer, run, choices.head, choices.word, frozenset(map(int, choices.off)))
    with picture:
        if len(looked.off) == num_heads:
            text("all_off")
        panels, working = panels_of(looked, choices.queries_down), arithmetic_of_heads(looked)
        alt = "Every head's weights, one head enlarged, W_O, and what each head adds to a word."
        explore(panels, working, origin, "heads", alt, on_pick=follow, first=head_id(0))
        if is_trained:
            train_here(tokens, num_heads, num_heads, layer.heads.head_dim, layer.rule, choices.seed)


text("question")
words = controls.sentence().tokens
report.show_contrast(text)
text("guide")
one_layer(words)
report.show_table(text)
show_dropout(text, words, common.seed(), common.queries_down())
text("notice")
