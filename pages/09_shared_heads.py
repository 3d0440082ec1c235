"""Fewer keys and values: MHA, GQA, MQA and MLA."""

import streamlit as st

from explainers.attention.grouped_query import average_kv_heads, grouped_query, share
from explainers.attention.latent import absorbed, compress, latent_attention, queries
from explainers.chapters.common.choose_layer import list_unknown, origin_of, read_by_heads
from explainers.chapters.common.mask_names import choose_mask
from explainers.chapters.shared_heads import takeaway as taken
from explainers.chapters.shared_heads.fixed_layers import (
    D_MODEL,
    HEAD_DIM,
    ROPE_DIM,
    given_to_latent,
)
from explainers.chapters.shared_heads.kv_sharing import (
    divisors,
    learned_sharing,
    show_cache,
    show_mistake,
    show_shared,
)
from explainers.chapters.shared_heads.latent_heads import show_latent
from explainers.chapters.shared_heads.uptraining_job import show_uptraining
from explainers.toys import layers
from explainers.ui import page
from explainers.ui.controls import controls
from explainers.ui.controls.choose_text import choose_text
from explainers.ui.provenance import random_weights
from explainers.ui.source import show_source
from explainers.ui.text.language import fragment

text = page.open_prose(__file__)


@fragment
def sharing(tokens: tuple[str, ...]) -> None:
    """The sentence through heads that share keys and values."""
    with st.container(horizontal=True):
        is_trained, rule = controls.weights() == "trained", choose_mask(controls.mask)
        num_heads = int(controls.num_heads())
        num_kv_heads = int(controls.num_kv_heads(divisors(num_heads)))
    of_heads, seed = (num_heads, D_MODEL // num_heads), page.read_seed()

    layer = read_by_heads(tokens, is_trained, D_MODEL, *of_heads, rule)
    if layer.unknown:
        text("unknown", words=list_unknown(layer))
    averaged = average_kv_heads(layer.heads, num_kv_heads)
    run = grouped_query(layer.x, averaged, layer.mask)
    learned = learned_sharing(layer, num_kv_heads)
    show_shared(text, layer, averaged, run, learned, page.has_queries_down(), origin_of(layer))
    show_source(average_kv_heads, share, grouped_query)
    taken.take_sharing(layer, num_kv_heads, run)
    own = layers.Configuration(num_heads, *of_heads, rule)
    show_uptraining(text, own, num_kv_heads, seed, tokens)


@fragment
def latent(tokens: tuple[str, ...]) -> None:
    """One short row per word instead of keys and values."""
    latent_dim, seed = controls.latent_dim(), page.read_seed()
    given = given_to_latent(tokens, latent_dim, seed)
    run, short = latent_attention(*given), absorbed(*given)
    origin = random_weights(seed, given.x.device)
    taken.take_latent(tokens, latent_dim, seed, run, short)
    show_latent(text, tokens, run, short, given.mask, page.has_queries_down(), origin)


text("question")
words = choose_text().tokens
text("sharing")
sharing(words)
fragment(show_cache)(text, words)
fragment(show_mistake)(text, words, page.read_seed(), page.has_queries_down())
text("latent", rope=ROPE_DIM, d_k=HEAD_DIM)
latent(words)
fragment(show_source)(compress, queries, latent_attention, absorbed)
text("notice")
