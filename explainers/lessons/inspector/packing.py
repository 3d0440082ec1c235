"""Weights of many heads as the bytes that `ui.tiles` sends, and the table that goes with them."""

import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from explainers.ui.tiles import HIDDEN, STEPS

if TYPE_CHECKING:
    import pandas as pd

QUICK = 1
"""Of zlib's levels: the higher ones take seconds for a tenth less."""


def planes(weights: Tensor, hidden: Tensor) -> bytes:
    """weights (tiles, tokens, tokens) in steps of 1/10,000; what is `hidden` (bool) is a blank."""
    steps = (weights * STEPS).round_().masked_fill_(hidden, HIDDEN).to(torch.int32).cpu()
    parts = steps.numpy().astype("<u2").reshape(-1, 1).view("u1")  # low byte, high byte
    return zlib.compress(parts.T.tobytes(), QUICK)


def strongest(weights: Tensor, layers: Sequence[int], tokens: Sequence[str]) -> "pd.DataFrame":
    """For each layer, head and query of weights (layers, heads, tokens, tokens), its first key."""
    import pandas as pd

    best = weights.max(dim=-1)
    place = torch.cartesian_prod(*(torch.arange(size) for size in best.values.shape)).tolist()
    columns = ["layer", "head", "position", "query", "strongest_key", "weight"]
    keys, values = best.indices.flatten().tolist(), best.values.flatten().tolist()
    return pd.DataFrame(
        [
            (layers[layer], head, query, tokens[query], tokens[key], value)
            for (layer, head, query), key, value in zip(place, keys, values, strict=True)
        ],
        columns=columns,
    )
