"""Many heads: each looks for something else, and what they find is added up."""

import streamlit as st

from explainers.attention.multi_head import (
    contributions,
    merge_heads,
    multi_head,
    multi_head_one_by_one,
    split_heads,
)
from explainers.chapters.common.choose_layer import (
    choose_head_dim,
    list_unknown,
    offer_training,
    origin_of,
    read_by_heads,
)
from explainers.chapters.common.mask_names import choose_mask
from explainers.chapters.many_heads import heads_at_equal_parameters
from explainers.chapters.many_heads import takeaway as taken
from explainers.chapters.many_heads.dropout_draws import show_dropout
from explainers.chapters.many_heads.head_arithmetic import arithmetic_of_heads
from explainers.chapters.many_heads.head_panels import compare, follow, head_id, panels_of
from explainers.chapters.many_heads.selection import Selection
from explainers.toys.layers import D_MODEL
from explainers.translations import _
from explainers.ui import page
from explainers.ui.controls import controls
from explainers.ui.controls.choose_text import choose_text
from explainers.ui.figure.clickable_figure import explore_figure
from explainers.ui.source import show_source
from explainers.ui.text.language import fragment

text = page.open_prose(__file__)


@fragment
def one_layer(tokens: tuple[str, ...]) -> None:
    """Choose a kind of layer, and look at it."""
    with st.container(horizontal=True):
        is_trained, num_heads = controls.weights() == "trained", int(controls.num_heads())
        mask = choose_mask(controls.mask)
        d_model = controls.d_model(fixed=D_MODEL if is_trained else None)
        off = controls.switched_off_heads([str(n) for n in range(num_heads)])
    looked_at(tokens, is_trained, d_model, num_heads, mask, frozenset(map(int, off)))
    show_source(multi_head, split_heads, merge_heads, contributions, multi_head_one_by_one)


@fragment
def looked_at(
    tokens: tuple[str, ...],
    is_trained: bool,
    d_model: int,
    num_heads: int,
    mask: str,
    off: frozenset[int],
) -> None:
    """All heads of a layer, one of them enlarged, and what each adds to the output.

    In a fragment of its own the choices above are not sent again at every d_k and every click.
    """
    with st.container(horizontal=True):
        head_dim = choose_head_dim(is_trained, num_heads)
        head = controls.enlarged_head(0, num_heads - 1)
        word = controls.followed_word(0, len(tokens) - 1)

    layer = read_by_heads(tokens, is_trained, d_model, num_heads, head_dim, mask)
    if layer.unknown:
        text("unknown", words=list_unknown(layer))
    looked = Selection.of(layer, head, word, off)
    if len(off) == looked.num_heads:
        text("all_off")
    panels, working = panels_of(looked, page.has_queries_down()), arithmetic_of_heads(looked)
    alt = _("Every head's weights, one head enlarged, W_O, and what each head adds to a word.")
    explore_figure(
        panels, working, origin_of(layer), "heads", alt, on_pick=follow, first=head_id(0)
    )
    taken.take_heads(looked)
    offer_training(layer)
    compare(text, layer, looked.run, multi_head_one_by_one(layer.x, layer.heads, layer.mask))


text("question")
words = choose_text().tokens
heads_at_equal_parameters.show_contrast(text)
text("guide")
one_layer(words)
heads_at_equal_parameters.show_table(text)
show_dropout(text, words, page.read_seed(), page.has_queries_down())
text("notice")
