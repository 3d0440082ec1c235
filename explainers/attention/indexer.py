"""Which keys are worth reading: lightning indexer (DeepSeek-AI 2025, "DeepSeek-V3.2", eq. 1).

>>> scores, mask = torch.tensor([[3.0, 1.0, 2.0]]), torch.ones(1, 3).bool()
>>> keep_best(scores, kept=2, mask=mask)
tensor([[ True, False,  True]])
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import layer_norm

from explainers.attention.multi_head import split_heads
from explainers.attention.rotary import rotate_halves


class Indexer(NamedTuple):
    """The weights of one layer's indexer: a few short queries, one key, a share for each query.

    w_query (d_model, index_heads · index_dim), w_key (d_model, index_dim), gain and shift
    (index_dim,), w_share (d_model, index_heads).
    """

    w_query: Tensor
    w_key: Tensor
    gain: Tensor
    shift: Tensor
    w_share: Tensor


class IndexInputs(NamedTuple):
    """What an indexer compares: the queries of all its heads, one key a token, and the shares."""

    query: Tensor
    key: Tensor
    share: Tensor


def turn_first(x: Tensor, angle: Tensor) -> Tensor:
    """Turn the first numbers by their position, as RoPE does, and leave the others."""
    turned, kept = x.tensor_split([2 * angle.shape[-1]], dim=-1)
    placed = torch.cat([rotate_halves(turned, angle), kept], dim=-1)  # (..., length, index_dim)
    return placed


def project_index(x: Tensor, indexer: Indexer, angle: Tensor) -> IndexInputs:
    """Make an indexer's queries, key and shares from what the layer reads (..., length, d_model).

    angle (length, pairs): two numbers a pair are turned, of the index_dim that a key has.
    """
    index_dim = indexer.w_key.shape[-1]
    query = split_heads(x @ indexer.w_query, index_dim)  # (..., index_heads, length, index_dim)
    key = layer_norm(x @ indexer.w_key, (index_dim,), indexer.gain, indexer.shift, 1e-6)
    share = x @ indexer.w_share  # (..., length, index_heads)
    return IndexInputs(turn_first(query, angle), turn_first(key, angle), share)


def index_scores(query: Tensor, key: Tensor, share: Tensor) -> Tensor:
    """How much each key is worth reading: products below 0 count as 0, heads by their shares.

    query (..., index_heads, q_len, index_dim), key (..., kv_len, index_dim), one for all heads,
    share (..., q_len, index_heads).
    """
    index_heads, _, index_dim = query.shape[-3:]
    every_key = key.mT.unsqueeze(-3)  # (..., 1, index_dim, kv_len)
    products = query @ every_key / math.sqrt(index_dim)  # (..., index_heads, q_len, kv_len)
    found = products.relu() * share.mT.unsqueeze(-1)  # (..., index_heads, q_len, kv_len)
    scores = found.sum(dim=-3) / math.sqrt(index_heads)  # (..., q_len, kv_len)
    return scores


def keep_best(scores: Tensor, kept: int, mask: Tensor) -> Tensor:
    """A mask: the `kept` visible keys of each query with the largest scores; fewer, if fewer are.

    Of equal scores the earlier key goes first.
    """
    visible = scores.masked_fill(~mask, -torch.inf)  # (..., q_len, kv_len)
    order = visible.sort(dim=-1, descending=True, stable=True).indices  # (..., q_len, kv_len)
    nothing = torch.zeros_like(visible, dtype=torch.bool)  # (..., q_len, kv_len)
    chosen = nothing.scatter(-1, order[..., :kept], True) & mask  # (..., q_len, kv_len)
    return chosen
