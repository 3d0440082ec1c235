"""The layer that the reader does not choose: its sizes, and all that MLA needs to run."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from explainers.attention import masks
from explainers.attention.latent_layer import Latent
from explainers.attention.rotary import angles
from explainers.toys import examples

NUM_HEADS, HEAD_DIM, D_MODEL = 4, 16, 64
"""The layer of this page, where the reader does not choose another."""
ROPE_DIM = 8
"""How many numbers of a query and of the shared key say where a token stands."""


class LatentInputs(NamedTuple):
    """All that MLA needs to run."""

    x: Tensor
    layer: Latent
    mask: Tensor
    angle: Tensor


def make_latent_inputs(tokens: Sequence[str], latent_dim: int, seed: int) -> LatentInputs:
    """Untrained weights, the causal mask, and no position in x: RoPE brings it in."""
    x = examples.draw_embeddings(tuple(tokens), D_MODEL, seed)
    layer = examples.random_latent(D_MODEL, NUM_HEADS, HEAD_DIM, latent_dim, ROPE_DIM, seed)
    mask = masks.build(masks.causal, len(tokens), len(tokens)).to(x.device)
    angle = angles(torch.arange(len(tokens), device=x.device), ROPE_DIM, examples.LONGEST)
    return LatentInputs(x, layer, mask, angle)
