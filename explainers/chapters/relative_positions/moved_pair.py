"""One word's query and another one's key at every position that a reader can move them to."""

import functools
from dataclasses import dataclass
from random import Random

import torch
from torch import Tensor

from explainers.attention.positions import sinusoidal
from explainers.attention.rotary import angles, rotate
from explainers.attention.single_head import project
from explainers.chapters.relative_positions.position_scores import D_MODEL, TURNED_DIM
from explainers.toys import examples
from explainers.ui.page_parts.check_yourself import Recall

FARTHEST_SHIFT, FARTHEST_APART = 64, 6
"""How far both words can be moved, and how far one of them alone."""


@dataclass(frozen=True)
class MovedPair:
    """Two words at each of their positions, for each move of one alone and of both."""

    tokens: tuple[str, ...]
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
    """(2, moves alone, shifts, pairs): what each pair of numbers adds to the score, with RoPE and
    with added positions."""

    @classmethod
    @functools.lru_cache(maxsize=64)
    def of(cls, tokens: tuple[str, ...], words: tuple[int, int], seed: int) -> "MovedPair":
        """Move both words 0 to 64 positions, and the asking one up to 6 more or fewer."""
        x = examples.draw_embeddings(tuple(tokens), D_MODEL, seed)
        head = examples.random_head(D_MODEL, TURNED_DIM, TURNED_DIM, seed)
        asking, asked = words
        least = -min(FARTHEST_APART, asking)
        shifts = FARTHEST_SHIFT + 1
        places = torch.arange(asking + least, asking + FARTHEST_SHIFT + FARTHEST_APART + 1)
        key_places = torch.arange(asked, asked + shifts)
        views = project(x, head)
        plain = torch.stack([views.query[asking], views.key[asked]])  # (2, head_dim)
        query = _turn(plain[0], places)  # (positions, head_dim)
        key = _turn(plain[1], key_places)  # (shifts, head_dim)
        length = int(max(places[-1], key_places[-1])) + 1
        waves = sinusoidal(length, D_MODEL, examples.LONGEST).to(x.device)
        added_query = project(x[asking] + waves[places], head).query
        added_key = project(x[asked] + waves[key_places], head).key
        rotary = _split_scores(query, key)
        added = _split_scores(added_query, added_key)
        parts = torch.stack([rotary, added])
        return cls(tuple(tokens), words, least, plain, query, key, parts)

    def scores(self) -> Tensor:
        """The score of the two words (2, moves alone, shifts), with RoPE and added positions."""
        return self.parts.sum(dim=-1)

    def directions(self) -> tuple[Tensor, Tensor]:
        """Where the query and the key point in each pair's plane, in radians (positions, pairs)."""
        query, key = (torch.atan2(x[..., 1::2], x[..., 0::2]) for x in (self.query, self.key))
        return query, key

    def angles_between(self) -> Tensor:
        """The angle from the key to the query in each plane, from 0 to 180 degrees
        (moves alone, shifts, pairs)."""
        query, key = self.directions()
        turn = query.unfold(0, len(key), 1).transpose(1, 2) - key  # (moves alone, shifts, pairs)
        return torch.atan2(turn.sin(), turn.cos()).abs().rad2deg()

    def find(self, apart: int, shift: int) -> Tensor:
        """Parts of one place, then their sum (2, pairs + 1), with RoPE and with added positions."""
        parts = self.parts[:, apart - self.least, shift]
        return torch.cat([parts, parts.sum(dim=-1, keepdim=True)], dim=-1)


def _turn(vector: Tensor, places: Tensor) -> Tensor:
    """One vector at each of some positions."""
    angle = angles(places.to(vector.device), TURNED_DIM, examples.LONGEST)
    return rotate(vector.expand(len(places), -1), angle)


def _split_scores(query: Tensor, key: Tensor) -> Tensor:
    """Scores by pair (moves alone, shifts, pairs): each move alone pairs off other positions."""
    moved = query.unfold(0, len(key), 1).transpose(1, 2)  # (moves alone, shifts, head_dim)
    products = moved * key
    by_pair = products.view(*products.shape[:-1], -1, 2)
    return by_pair.sum(dim=-1) / TURNED_DIM**0.5


def recall_rotation(draw: Random) -> Recall:
    """How far one of the head's pairs is rotated at some position."""
    number, position = draw.randint(2, 4), draw.randint(3, 60)
    angle = angles(torch.tensor([position]), TURNED_DIM, examples.LONGEST)
    given = {"number": f"{number}", "position": f"{position}"}
    return Recall(angle[0, number - 1].item(), given, tolerance=1e-4)
