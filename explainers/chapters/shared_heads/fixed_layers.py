"""The layers that this page computes with, as far as the reader does not choose them."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from explainers.attention import masks
from explainers.attention.alibi import alibi_bias, alibi_slopes, biased_attention
from explainers.attention.latent_layer import Latent
from explainers.attention.multi_head import multi_head
from explainers.attention.rotary import angles
from explainers.toys import examples

NUM_HEADS, HEAD_DIM, D_MODEL = 4, 16, 64
"""The layer of this page, where the reader does not choose another."""
ROPE_DIM = 8
"""How many numbers of a query and of the shared key say where a token stands."""


class Given(NamedTuple):
    """All that MLA needs to run."""

    x: Tensor
    layer: Latent
    mask: Tensor
    angle: Tensor


def given_to_latent(tokens: Sequence[str], latent_dim: int, seed: int) -> Given:
    """Untrained weights, the causal mask, and no position in x: RoPE brings it in."""
    x = examples.draw_embeddings(tuple(tokens), D_MODEL, seed)
    layer = examples.random_latent(D_MODEL, NUM_HEADS, HEAD_DIM, latent_dim, ROPE_DIM, seed)
    mask = masks.build(masks.causal, len(tokens), len(tokens)).to(x.device)
    angle = angles(torch.arange(len(tokens), device=x.device), ROPE_DIM, examples.LONGEST)
    return Given(x, layer, mask, angle)


class Penalised(NamedTuple):
    """Weights of every head (heads, q_len, kv_len), without and with ALiBi."""

    mask: Tensor
    slopes: Tensor
    without: Tensor
    weights: Tensor


def penalised(tokens: Sequence[str], seed: int) -> Penalised:
    """Untrained heads under the causal mask; nothing else tells them where a word stands."""
    x = examples.draw_embeddings(tuple(tokens), D_MODEL, seed)
    layer = examples.random_heads(D_MODEL, NUM_HEADS, NUM_HEADS, HEAD_DIM, seed)
    mask = masks.build(masks.causal, len(tokens), len(tokens)).to(x.device)
    run = multi_head(x, layer, mask)
    slopes = alibi_slopes(NUM_HEADS).to(x.device)
    bias = alibi_bias(slopes, len(tokens), len(tokens))
    weights = biased_attention(run.query, run.key, run.value, mask, bias).weights
    return Penalised(mask, slopes, run.weights, weights)
