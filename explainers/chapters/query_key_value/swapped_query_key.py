"""What the scores are if W_Q and W_K are exchanged."""

import torch

from explainers.attention.single_head import project
from explainers.attention.steps import dot_products
from explainers.chapters.common.token_vectors import show_matrix_pair
from explainers.chapters.query_key_value.takeaway import take_exchange
from explainers.charts.matrix import make_pair_matrix
from explainers.messages import N_
from explainers.toys.layers import Layer
from explainers.translations import _
from explainers.ui.page import Prose
from explainers.ui.prediction import revealed
from explainers.ui.source import show_source

SAME, MIRRORED = N_("the same table"), N_("the table mirrored")
OTHER = N_("other numbers")


def show_exchange(text: Prose, layer: Layer, origin: str, queries_down: bool) -> None:
    """The two tables of products, once the reader has said how they differ."""
    tokens, views = layer.tokens, project(layer.x, layer.head())
    products = dot_products(views.query, views.key)
    swapped_products = dot_products(views.key, views.query)
    other_answer = MIRRORED if torch.allclose(swapped_products, products.T, atol=1e-5) else OTHER
    answer = SAME if torch.allclose(swapped_products, products, atol=1e-5) else other_answer
    if revealed(text, "swap", (SAME, MIRRORED, OTHER), answer):
        left = make_pair_matrix(_("as it was"), "Q · Kᵀ", products.tolist(), tokens)
        right = make_pair_matrix(_("exchanged"), "K · Qᵀ", swapped_products.tolist(), tokens)
        factors = [(views.query, views.key), (views.key, views.query)]
        show_matrix_pair(left, right, origin, "swap", queries_down, factors)
        show_source(dot_products)
        take_exchange(layer, {"as it was": products, "exchanged": swapped_products})
