"""Scores that know distances: RoPE's while all words move, and what ALiBi and T5 add to them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from explainers.attention import masks
from explainers.attention.multi_head import multi_head
from explainers.attention.position_bias import (
    alibi_bias,
    alibi_slopes,
    biased_attention,
    both_ways,
    bucket,
    relative_bias,
)
from explainers.attention.positions import sinusoidal
from explainers.attention.rotary import angles, rotary_attention
from explainers.attention.scaled_dot_product import attention
from explainers.attention.single_head import project
from explainers.messages import N_
from explainers.toys import examples

NUM_HEADS, HEAD_DIM, D_MODEL = 4, 16, 64
"""The layer that ALiBi acts on; the reader does not choose another."""
TURNED_DIM = 8
"""Numbers of a query and a key: four pairs, few enough to be drawn."""
ANSWERS = (
    N_("no score changes"),
    N_("all scores grow"),
    N_("the scores change, some up, some down"),
)
SHIFTS = 0, 1, 2, 3, 4, 5, 6, 8, 12, 16, 32, 64
"""Moves of all words for which all scores are compared."""
ROUNDING = 1e-4
"""Angles of float32 are off by about 1e-7 of themselves, and the largest shift is large."""
BUCKETS, FARTHEST = 32, 128
"""T5's: rows of the table, and the distance from which on all share the last."""
DISTANCES = 0, 1, 2, 4, 8, 15, 16, 20, 24, 32, 48, 64, 96, 127, 128, 500
"""Some near ones, and more and more of those that share a bucket."""


@dataclass(frozen=True)
class ShiftedScores:
    """Scores of one head for each shift of all words (shifts, words, words)."""

    tokens: tuple[str, ...]
    shifts: tuple[int, ...]
    rotary: Tensor
    added: Tensor

    @classmethod
    def of(cls, tokens: Sequence[str], shifts: Sequence[float], seed: int) -> "ShiftedScores":
        """Let every word stand `shift` positions further on, and compute the scores again."""
        x = examples.draw_embeddings(tuple(tokens), D_MODEL, seed)
        head = examples.random_head(D_MODEL, TURNED_DIM, TURNED_DIM, seed)
        full = masks.build(masks.full, len(tokens), len(tokens)).to(x.device)
        views = project(x, head)
        rotary, added = [], []
        for shift in map(int, shifts):
            position = torch.arange(shift, shift + len(tokens), device=x.device)
            angle = angles(position, TURNED_DIM, examples.LONGEST)
            rotary.append(rotary_attention(*views, full, angle).scores)
            waves = sinusoidal(shift + len(tokens), D_MODEL, examples.LONGEST)[shift:]
            moved = project(x + waves.to(x.device), head)
            added.append(attention(*moved, full).scores)
        return cls(tuple(tokens), tuple(map(int, shifts)), torch.stack(rotary), torch.stack(added))

    def answer(self) -> str:
        """What moving all words does to RoPE's scores, in words."""
        changes = self.rotary - self.rotary[0]
        if changes.abs().max() < ROUNDING:
            return ANSWERS[0]
        return ANSWERS[1] if (changes[1:] > 0).all() else ANSWERS[2]

    def largest_changes(self) -> tuple[float, float]:
        """How far any score is from the one at the first shift, with RoPE and with added ones."""
        rotary, added = ((s - s[0]).abs().max().item() for s in (self.rotary, self.added))
        return rotary, added


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


class BucketBiases(NamedTuple):
    """T5's buckets of some distances, and what a table drawn at random adds to scores."""

    rows: Tensor
    """(3, distances): of a decoder, and of an encoder for keys behind and ahead."""
    mask: Tensor
    added: Tensor
    """(heads, q_len, kv_len)"""


def compute_buckets(words: int, seed: int) -> BucketBiases:
    """An untrained table of T5's size, under the causal mask."""
    back = torch.tensor(DISTANCES)
    ways = (
        bucket(back, BUCKETS, FARTHEST),
        both_ways(back, BUCKETS, FARTHEST),
        both_ways(-back, BUCKETS, FARTHEST),
    )
    position = torch.arange(words)
    offset = position[:, None] - position  # (q_len, kv_len)
    table = torch.randn(BUCKETS, NUM_HEADS, generator=examples.make_generator("buckets", seed))
    added = relative_bias(table, bucket(offset, BUCKETS, FARTHEST))
    return BucketBiases(torch.stack(ways), masks.build(masks.causal, words, words), added)
