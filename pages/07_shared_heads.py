"""Fewer keys and values: MHA, GQA, MQA, MLA; and where positions enter the scores."""

import streamlit as st

from explainers import trained
from explainers.attention import masks
from explainers.attention.grouped_query import average_kv_heads, grouped_query, share
from explainers.attention.latent import absorbed, compress, latent_attention, queries
from explainers.lessons.layer_choice import LayerChoices, read_layer
from explainers.lessons.shared_heads.cached import show_cache
from explainers.lessons.shared_heads.compressed import show_latent
from explainers.lessons.shared_heads.dealt import show_mistake
from explainers.lessons.shared_heads.given import D_MODEL, HEAD_DIM, ROPE_DIM, given_to_latent
from explainers.lessons.shared_heads.learned import learned_sharing
from explainers.lessons.shared_heads.penalties import show_penalties
from explainers.lessons.shared_heads.sharing import divisors, show_shared
from explainers.lessons.shared_heads.turning import show_turning
from explainers.lessons.shared_heads.uptraining import show_uptraining
from explainers.lessons.taken import shared_heads as taken
from explainers.ui import common, controls
from explainers.ui.provenance import random_weights
from explainers.ui.source import show_source

text = common.page_text(__file__)


@st.fragment
def sharing(tokens: tuple[str, ...]) -> None:
    """The sentence through heads that share keys and values."""
    with st.container(horizontal=True):
        is_trained, rule = controls.weights() == "trained", controls.mask(list(masks.RULES))
        num_heads = int(controls.num_heads())
        num_kv_heads = int(controls.num_kv_heads(divisors(num_heads)))
    of_heads = num_heads, D_MODEL // num_heads
    choices = LayerChoices(tokens, is_trained, *of_heads, rule, D_MODEL, common.seed())

    layer, origin = read_layer(text, choices)
    averaged = average_kv_heads(layer.heads, num_kv_heads)
    run = grouped_query(layer.x, averaged, layer.mask)
    learned = learned_sharing(layer, num_kv_heads, choices.seed)
    show_shared(text, layer, averaged, run, learned, common.queries_down(), origin)
    show_source(average_kv_heads, share, grouped_query)
    taken.sharing(choices, layer, num_kv_heads, run)
    own = trained.Configuration(num_heads, *of_heads, rule)
    show_uptraining(text, own, num_kv_heads, common.seed(), tokens)


@st.fragment
def latent(tokens: tuple[str, ...]) -> None:
    """One short row per word instead of keys and values."""
    latent_dim, seed = controls.latent_dim(), common.seed()
    given = given_to_latent(tokens, latent_dim, seed)
    run, short = latent_attention(*given), absorbed(*given)
    origin = random_weights(seed, given.x.device)
    taken.latent(tokens, latent_dim, seed, run, short)
    show_latent(text, tokens, run, short, given.mask, common.queries_down(), origin)


text("question")
words = controls.sentence().tokens
text("sharing")
sharing(words)
st.fragment(show_cache)(text, words)
st.fragment(show_mistake)(text, words, common.seed(), common.queries_down())
st.fragment(show_turning)(text, words, common.seed(), common.queries_down())
st.fragment(show_penalties)(text, words, common.seed(), common.queries_down())
text("latent", rope=ROPE_DIM, d_k=HEAD_DIM)
latent(words)
st.fragment(show_source)(compress, queries, latent_attention, absorbed)
text("notice")
