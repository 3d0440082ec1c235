"""To take away: the weights of the chosen heads, learned and with others instead."""

from typing import Any

import torch
from torch import Tensor

from explainers.attention.scaled_dot_product import attention
from explainers.chapters.cross_attention.alignment_view import TranslationView
from explainers.takeaway.recipe import Recipe
from explainers.translations import _
from explainers.ui.takeaway_files import take

Computed = dict[str, Tensor]


def compute_head_weights(
    query: Tensor, key: Tensor, value: Tensor, head: int | None, first: int, rows: int
) -> Computed:
    """Where each syllable looks, in one head or in the mean of all; nothing is hidden."""
    mask = torch.ones(query.shape[-2], key.shape[-2], dtype=torch.bool)
    weights = attention(query, key, value, mask).weights
    head_weights = weights.mean(dim=0) if head is None else weights[head]
    return {"weights": head_weights[first : first + rows], "every head": weights}


def take_weights(view: TranslationView) -> None:
    """The picture of both sentences."""
    cross = view.translation.decoder[view.layer].cross
    head = int(view.head) if view.head.isdigit() else None
    inputs: dict[str, Any] = {"query": cross.query, "key": cross.key, "value": cross.value}
    inputs |= {"head": head, "first": view.first_row, "rows": view.num_syllables}
    shown_values = {"weights": view.weights, "every head": cross.weights}
    take(
        "weights",
        Recipe(_("Where each syllable looks"), compute_head_weights, inputs, shown_values),
    )
