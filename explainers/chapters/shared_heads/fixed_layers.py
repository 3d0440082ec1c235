"""Layers that the reader does not choose, and what they compute: MLA, ALiBi and RoPE."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from explainers.attention import masks
from explainers.attention.latent_layer import Latent
from explainers.attention.multi_head import multi_head
from explainers.attention.position_bias import alibi_bias, alibi_slopes, biased_attention
from explainers.attention.positions import sinusoidal
from explainers.attention.rotary import angles, rotary_attention, rotate
from explainers.attention.single_head import project, single_head
from explainers.messages import N_
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


def given_to_latent(tokens: Sequence[str], latent_dim: int, seed: int) -> LatentInputs:
    """Untrained weights, the causal mask, and no position in x: RoPE brings it in."""
    x = examples.draw_embeddings(tuple(tokens), D_MODEL, seed)
    layer = examples.random_latent(D_MODEL, NUM_HEADS, HEAD_DIM, latent_dim, ROPE_DIM, seed)
    mask = masks.build(masks.causal, len(tokens), len(tokens)).to(x.device)
    angle = angles(torch.arange(len(tokens), device=x.device), ROPE_DIM, examples.LONGEST)
    return LatentInputs(x, layer, mask, angle)


class AlibiWeights(NamedTuple):
    """Weights of every head (heads, q_len, kv_len), without and with ALiBi."""

    mask: Tensor
    slopes: Tensor
    without: Tensor
    weights: Tensor


def compute_alibi(tokens: Sequence[str], seed: int) -> AlibiWeights:
    """Untrained heads under the causal mask; nothing else tells them where a word stands."""
    x = examples.draw_embeddings(tuple(tokens), D_MODEL, seed)
    layer = examples.random_heads(D_MODEL, NUM_HEADS, NUM_HEADS, HEAD_DIM, seed)
    mask = masks.build(masks.causal, len(tokens), len(tokens)).to(x.device)
    run = multi_head(x, layer, mask)
    slopes = alibi_slopes(NUM_HEADS).to(x.device)
    bias = alibi_bias(slopes, len(tokens), len(tokens))
    weights = biased_attention(run.query, run.key, run.value, mask, bias).weights
    return AlibiWeights(mask, slopes, run.weights, weights)


TURNED_DIM = 8
"""Numbers of a query and a key: four pairs, few enough to be drawn."""
ANSWERS = (
    N_("no score changes"),
    N_("all scores grow"),
    N_("the scores change, some up, some down"),
)
DRAWN = 1.0, 0.75
"""How long the arrows of the query and of the key are drawn: they turn and never grow."""
ROUNDING = 1e-4
"""Angles of float32 are off by about 1e-7 of themselves, and the largest shift is large."""


@dataclass(frozen=True)
class ShiftedScores:
    """Scores of one head, and two of its vectors turned, for each shift (shifts, …)."""

    tokens: tuple[str, ...]
    shifts: tuple[int, ...]
    rotary: Tensor
    added: Tensor
    arrows: Tensor

    @classmethod
    def of(cls, tokens: Sequence[str], shifts: Sequence[float], seed: int) -> "ShiftedScores":
        """Let every word stand `shift` places further on, and compute the scores again."""
        x = examples.draw_embeddings(tuple(tokens), D_MODEL, seed)
        head = examples.random_head(D_MODEL, TURNED_DIM, TURNED_DIM, seed)
        full = masks.build(masks.full, len(tokens), len(tokens)).to(x.device)
        views = project(x, head)
        asking, asked = pair(tokens)
        rotary, added, arrows = [], [], []
        for shift in map(int, shifts):
            places = torch.arange(shift, shift + len(tokens), device=x.device)
            angle = angles(places, TURNED_DIM, examples.LONGEST)
            rotary.append(rotary_attention(*views, full, angle).scores)
            waves = sinusoidal(shift + len(tokens), D_MODEL, examples.LONGEST)[shift:]
            added.append(single_head(x + waves.to(x.device), head, full).scores)
            turned = rotate(views.query, angle)[asking], rotate(views.key, angle)[asked]
            arrows.append(torch.stack(turned))
        stacks = (torch.stack(some) for some in (rotary, added, arrows))
        return cls(tuple(tokens), tuple(map(int, shifts)), *stacks)

    def answer(self) -> str:
        """What moving all words does to RoPE's scores, in words."""
        changes = self.rotary - self.rotary[0]
        if changes.abs().max() < ROUNDING:
            return ANSWERS[0]
        return ANSWERS[1] if (changes[1:] > 0).all() else ANSWERS[2]

    def directions(self) -> Tensor:
        """Where the arrows point, all queries' as long as each other, all keys' a bit shorter."""
        pairs = torch.stack(
            [self.arrows[..., 0::2], self.arrows[..., 1::2]], dim=-1
        )  # (shifts, 2, pairs, 2)
        drawn = torch.tensor(DRAWN, device=pairs.device)[:, None, None]
        return (pairs / pairs.norm(dim=-1, keepdim=True) * drawn).flatten(-2)


def pair(tokens: Sequence[str]) -> tuple[int, int]:
    """Which word asks and which is asked: in the running sentence, announced asks CEO."""
    return min(2, len(tokens) - 1), min(1, len(tokens) - 1)
