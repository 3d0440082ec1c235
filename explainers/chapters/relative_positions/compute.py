"""Scores that know distances: RoPE's while words move, together or one alone, and ALiBi's."""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from explainers.attention import masks
from explainers.attention.multi_head import multi_head
from explainers.attention.position_bias import alibi_bias, alibi_slopes, biased_attention
from explainers.attention.positions import sinusoidal
from explainers.attention.rotary import angles, rotary_attention, rotate
from explainers.attention.scaled_dot_product import attention
from explainers.attention.single_head import SingleHead, project
from explainers.chapters.common.score_matrix import name_by_head
from explainers.messages import N_
from explainers.toys import examples

NUM_HEADS, HEAD_DIM, D_MODEL = 4, 16, 64
"""The layer that ALiBi acts on; the reader does not choose another."""
TURNED_DIM = 8
"""Numbers of a query and a key: four pairs, few enough to be drawn."""
ANSWERS = (
    N_("no score changes"),
    N_("all scores grow"),
    N_("all scores fall"),
    N_("the scores change, some up, some down"),
)
SHIFTS = 0, 1, 2, 3, 4, 5, 6, 8, 12, 16, 32, 64
"""Moves of all words for which all scores are compared."""
ROUNDING = 1e-4
"""Angles of float32 are off by about 1e-7 of themselves, and the largest shift is large."""


@dataclass(frozen=True, eq=False)
class RotaryHead:
    """A head whose queries and keys are rotated, and the words that it reads."""

    tokens: tuple[str, ...]
    x: Tensor
    """(tokens, d_model)"""
    weights: SingleHead
    base: float
    """Of the speeds: the slowest pair turns nearly so many times slower than the first."""
    seed: int | None = None
    """Of random numbers."""
    name: str = ""
    """Of the head, if it is a model's."""
    model: str = ""
    provenance: str = ""

    @property
    def head_dim(self) -> int:
        """Numbers of a query."""
        return self.weights.w_query.shape[-1]

    @property
    def is_small(self) -> bool:
        """Is it the small trained head: neither random nor a model's?"""
        return self.seed is None and not self.name

    def as_call(self) -> tuple[Callable[..., "RotaryHead"], dict[str, Any]]:
        """What makes it again: its seed, or its numbers."""
        if self.seed is not None:
            return draw_rotary_head, {"tokens": self.tokens, "seed": self.seed}
        names = "tokens", "x", "weights", "base"
        return RotaryHead, {name: getattr(self, name) for name in names}


@functools.lru_cache(maxsize=64)
def draw_rotary_head(tokens: tuple[str, ...], seed: int) -> RotaryHead:
    """Random words and a random head."""
    x = examples.draw_embeddings(tuple(tokens), D_MODEL, seed)
    head = examples.random_head(D_MODEL, TURNED_DIM, TURNED_DIM, seed)
    return RotaryHead(tuple(tokens), x, head, examples.LONGEST, seed)


@functools.lru_cache(maxsize=64)
def shift_words(rotary_head: RotaryHead, shifts: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    """Let every word stand so many positions further on, and compute all scores again.

    With RoPE, and with added positions, each (shifts, words, words).
    """
    x, head = rotary_head.x, rotary_head.weights
    words = len(x)
    full = masks.build(masks.full, words, words).to(x.device)
    views = project(x, head)
    rotary, added = [], []
    for shift in map(int, shifts):
        position = torch.arange(shift, shift + words, device=x.device)
        angle = angles(position, rotary_head.head_dim, rotary_head.base)
        rotary.append(rotary_attention(*views, full, angle).scores)
        waves = sinusoidal(shift + words, x.shape[-1], examples.LONGEST)[shift:]
        added.append(attention(*project(x + waves.to(x.device), head), full).scores)
    return torch.stack(rotary), torch.stack(added)


def find_answer(added: Tensor) -> str:
    """What the longest move of all words does to scores with added positions, in words."""
    changes = added[-1] - added[0]
    if changes.abs().max() < ROUNDING:
        return ANSWERS[0]
    if (changes > 0).all():
        return ANSWERS[1]
    return ANSWERS[2] if (changes < 0).all() else ANSWERS[3]


def compute_moved_text(head: RotaryHead, shift: int) -> dict[str, Tensor]:
    """Scores with RoPE and with added positions, and how they changed since all words moved."""
    rotary, added = shift_words(head, (0, shift))
    return {
        "scores with RoPE": rotary[1],
        "change with RoPE": rotary[1] - rotary[0],
        "scores with added positions": added[1],
        "change with added positions": added[1] - added[0],
    }


def compute_alibi(tokens: Sequence[str], seed: int) -> dict[str, Tensor]:
    """The slopes, and every head's weights without ALiBi and with it, under the causal mask.

    The heads are untrained, and nothing else tells them where a word stands.
    """
    x = examples.draw_embeddings(tuple(tokens), D_MODEL, seed)
    layer = examples.random_heads(D_MODEL, NUM_HEADS, NUM_HEADS, HEAD_DIM, seed)
    mask = masks.build(masks.causal, len(tokens), len(tokens)).to(x.device)
    run = multi_head(x, layer, mask)
    slopes = alibi_slopes(NUM_HEADS).to(x.device)
    bias = alibi_bias(slopes, len(tokens), len(tokens))
    weights = biased_attention(run.query, run.key, run.value, mask, bias).weights
    without = name_by_head("without, head", run.weights)
    return {"slopes": slopes, **without, **name_by_head("with ALiBi, head", weights)}


DIALS = 4
"""Each draws one pair of numbers, and its bar adds up as many as there are for each dial."""
FARTHEST_SHIFT, FARTHEST_APART = 64, 6
"""How far both words can be moved, and how far one of them alone."""


@dataclass(frozen=True)
class MovedPair:
    """Two words at each of their positions, for each move of one alone and of both."""

    head: RotaryHead
    words: tuple[int, int]
    """Which one asks, and which is asked, where they stand at first."""
    least: int
    """The smallest move of the asking word alone: no word stands before the beginning."""
    plain: Tensor
    """(2, head_dim): the query and the key, before they are rotated."""
    query: Tensor
    """(positions, head_dim): rotated, from the first of its positions on."""
    key: Tensor
    """(shifts, head_dim)"""
    parts: Tensor
    """(2, moves alone, shifts, dials): what the pairs of each dial add to the score, with RoPE and
    with added positions."""

    @property
    def tokens(self) -> tuple[str, ...]:
        """All words."""
        return self.head.tokens

    @classmethod
    @functools.lru_cache(maxsize=64)
    def of(cls, rotary_head: RotaryHead, words: tuple[int, int]) -> "MovedPair":
        """Move both words 0 to 64 positions, and the asking one up to 6 more or fewer."""
        x, head, base = rotary_head.x, rotary_head.weights, rotary_head.base
        asking, asked = words
        least = -min(FARTHEST_APART, asking)
        shifts = FARTHEST_SHIFT + 1
        places = torch.arange(asking + least, asking + FARTHEST_SHIFT + FARTHEST_APART + 1)
        key_places = torch.arange(asked, asked + shifts)
        views = project(x, head)
        plain = torch.stack([views.query[asking], views.key[asked]])  # (2, head_dim)
        query = _turn(plain[0], places, base)  # (positions, head_dim)
        key = _turn(plain[1], key_places, base)  # (shifts, head_dim)
        length = int(max(places[-1], key_places[-1])) + 1
        waves = sinusoidal(length, x.shape[-1], examples.LONGEST).to(x.device)
        added_query = project(x[asking] + waves[places], head).query
        added_key = project(x[asked] + waves[key_places], head).key
        rotary = _split_scores(query, key)
        added = _split_scores(added_query, added_key)
        parts = torch.stack([rotary, added])
        return cls(rotary_head, words, least, plain, query, key, parts)

    def scores(self) -> Tensor:
        """The score of the two words (2, moves alone, shifts), with RoPE and added positions."""
        return self.parts.sum(dim=-1)


def _turn(vector: Tensor, places: Tensor, base: float) -> Tensor:
    """One vector at each of some positions."""
    angle = angles(places.to(vector.device), len(vector), base)
    return rotate(vector.expand(len(places), -1), angle)


def _split_scores(query: Tensor, key: Tensor) -> Tensor:
    """Scores by dial (moves alone, shifts, pairs): each move alone pairs off other positions."""
    moved = query.unfold(0, len(key), 1).transpose(1, 2)  # (moves alone, shifts, head_dim)
    products = moved * key
    by_dial = products.view(*products.shape[:-1], DIALS, -1)
    return by_dial.sum(dim=-1) / key.shape[-1] ** 0.5


def compute_moved_pair(
    head: RotaryHead, words: tuple[int, int], apart: int, shift: int
) -> dict[str, Tensor]:
    """Parts of one score, then their sum (2, dials + 1), with RoPE and with added positions."""
    moved = MovedPair.of(head, words)
    parts = moved.parts[:, apart - moved.least, shift]
    return {"parts": torch.cat([parts, parts.sum(dim=-1, keepdim=True)], dim=-1)}
