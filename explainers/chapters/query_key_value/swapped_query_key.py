"""What the scores are if W_Q and W_K are exchanged."""

import torch

from explainers.attention.single_head import project
from explainers.attention.steps import dot_products
from explainers.chapters.common.token_vectors import show_matrix_pair
from explainers.chapters.query_key_value.takeaway import exchange, take_exchange
from explainers.charts.matrix import make_pair_matrix
from explainers.messages import N_
from explainers.toys.layers import Layer
from explainers.translations import _
from explainers.ui.source import show_source

SAME, MIRRORED = N_("the same table"), N_("the table mirrored")
OTHER = N_("other numbers")
ANSWERS = SAME, MIRRORED, OTHER


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
