"""One head changed: W_Q and W_K exchanged, or a bias added to all queries, or to all keys."""

import streamlit as st
import torch

from explainers.attention.single_head import project
from explainers.attention.steps import attention_steps, dot_products
from explainers.chapters.common.token_vectors import show_matrix_pair
from explainers.chapters.query_key_value.takeaway import exchange, take_exchange
from explainers.charts.matrix import make_pair_matrix
from explainers.messages import N_
from explainers.toys.examples import make_generator
from explainers.toys.layers import Layer
from explainers.translations import _
from explainers.ui.source import show_source
from explainers.ui.text.numbers import bound_rounding

SAME, MIRRORED = N_("the same table"), N_("the table mirrored")
OTHER = N_("other numbers")
ANSWERS = SAME, MIRRORED, OTHER
CLAIMS, CLAIM = "pages/17_claims.py", {"claim": "biases do not matter"}


def find_exchange(layer: Layer) -> str:
    """How the table of products changes if W_Q and W_K are exchanged."""
    products, swapped = exchange(layer).values()
    if torch.allclose(swapped, products, atol=1e-5):
        return SAME
    return MIRRORED if torch.allclose(swapped, products.T, atol=1e-5) else OTHER


def draw_exchange(layer: Layer, origin: str, queries_down: bool) -> None:
    """The two tables of products."""
    tables, views = exchange(layer), project(layer.x, layer.head())
    products, swapped = (table.tolist() for table in tables.values())
    left = make_pair_matrix(_("as it was"), "Q · Kᵀ", products, layer.tokens)
    right = make_pair_matrix(_("exchanged"), "K · Qᵀ", swapped, layer.tokens)
    factors = [(views.query, views.key), (views.key, views.query)]
    show_matrix_pair(left, right, origin, "swap", queries_down, factors)
    show_source(dot_products)
    take_exchange(layer, tables)


def measure_biases(layer: Layer) -> dict[str, str]:
    """By how much a weight changes at most, with a random bias on the keys, or on the queries."""
    query, key, value = project(layer.x, layer.head())
    seeded = make_generator("biases", layer.seed)
    bias = torch.randn(key.shape[-1], generator=seeded).to(key.device)

    def weights(query: torch.Tensor, key: torch.Tensor) -> torch.Tensor:
        return attention_steps(query, key, value, layer.mask).weights

    plain = weights(query, key)
    on_keys = (weights(query, key + bias) - plain).abs().max().item()
    on_queries = (weights(query + bias, key) - plain).abs().max().item()
    return {"on_keys": bound_rounding(on_keys), "on_queries": f"{on_queries:.2f}"}


def link_claim() -> None:
    """What people write about it, checked."""
    label, icon = _("The claim on this"), ":material/fact_check:"
    st.page_link(CLAIMS, label=label, icon=icon, query_params=CLAIM)
