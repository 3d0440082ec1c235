"""One word's query and another one's key at every position that a reader can move them to."""

import functools
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any

import streamlit as st
import torch
from torch import Tensor

from explainers.attention.positions import sinusoidal
from explainers.attention.rotary import angles, rotate
from explainers.attention.single_head import SingleHead, project
from explainers.chapters.common.own_words import run_beginning
from explainers.chapters.common.sentence_reading import choose_causal_reader
from explainers.chapters.relative_positions.position_scores import (
    TURNED_DIM,
    RotaryHead,
    draw_rotary_head,
    name_head,
)
from explainers.toys import examples
from explainers.toys.sentence import Sentence
from explainers.ui.page import read_seed
from explainers.ui.page_parts.check_yourself import Recall

if TYPE_CHECKING:
    from explainers.models.load import RealModel

RELATION = "object → verb"
"""The head finds this best: in a model that writes, a word sees none behind it."""
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

    @property
    def drawn(self) -> slice:
        """The pairs that have a dial: the first of each group."""
        return slice(None, None, self.head.head_dim // 2 // DIALS)

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

    def directions(self) -> tuple[Tensor, Tensor]:
        """Where the query and the key point in the planes drawn, in radians (positions, dials)."""
        query, key = (
            torch.atan2(x[..., 1::2], x[..., 0::2])[..., self.drawn] for x in (self.query, self.key)
        )
        return query, key

    def angles_between(self) -> Tensor:
        """The angle from the key to the query in each plane, from 0 to 180 degrees
        (moves alone, shifts, dials)."""
        query, key = self.directions()
        turn = query.unfold(0, len(key), 1).transpose(1, 2) - key  # (moves alone, shifts, pairs)
        return torch.atan2(turn.sin(), turn.cos()).abs().rad2deg()

    def find(self, apart: int, shift: int) -> Tensor:
        """Parts of one place, then their sum (2, dials + 1), with RoPE and with added positions."""
        parts = self.parts[:, apart - self.least, shift]
        return torch.cat([parts, parts.sum(dim=-1, keepdim=True)], dim=-1)


@st.cache_resource(show_spinner=False, max_entries=12)
def read_rotary_head(
    name: str, which: int, sentence: str, _loaded: "RealModel"
) -> RotaryHead | None:
    """A sentence in the head of a Llama that finds verbs best; `which` tells models apart.

    Its code pairs numbers 0 and 32, ours neighbours: columns of W_Q and W_K are reordered alike.
    None if its scores are not known, or its pairs cannot be dealt to the dials.
    """
    from explainers.models.head_roles import find_relation_heads
    from explainers.models.shipped_scores import find_known_scores

    scores = find_known_scores(name)
    if not scores or _loaded.model.config.head_dim % (2 * DIALS):
        return None
    best = next(one for one in find_relation_heads(scores) if one.relation == RELATION)
    layer, number = best.layer_index, best.head_index
    tokens, _own, _count, read = run_beginning(_loaded, sentence, layer)
    model: Any = _loaded.model
    block, config = model.model.layers[layer], model.config
    size, shared = config.head_dim, config.num_attention_heads // config.num_key_value_heads
    order = torch.arange(size).view(2, -1).T.flatten()
    own, kv = (slice(n * size, (n + 1) * size) for n in (number, number // shared))
    attention = block.self_attn
    w_query, w_key = (
        one.weight[part][order].T.detach().float()
        for one, part in ((attention.q_proj, own), (attention.k_proj, kv))
    )
    weights = SingleHead(w_query, w_key, attention.v_proj.weight[kv].T.detach().float())
    with torch.no_grad():
        x = block.input_layernorm(read)
    base, named = float(config.rope_parameters["rope_theta"]), f"L{layer}.H{number}"
    model_name = name.split("/")[-1]
    return RotaryHead(tokens, x, weights, base, None, named, model_name, _loaded.provenance)


def choose_rotary_head(sentence: Sentence) -> tuple[RotaryHead, bool]:
    """Who reads the sentence, which is said in a line; and is a real model wanted?"""

    def read(loaded: "RealModel") -> RotaryHead | None:
        return read_rotary_head(loaded.name, id(loaded), sentence.text, loaded)

    found, wants_model = choose_causal_reader(sentence, read, name_head)
    return found or draw_rotary_head(sentence.tokens, read_seed()), wants_model


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


def recall_rotation(draw: Random) -> Recall:
    """How far one of the head's pairs is rotated at some position."""
    number, position = draw.randint(2, 4), draw.randint(3, 60)
    angle = angles(torch.tensor([position]), TURNED_DIM, examples.LONGEST)
    given = {"number": f"{number}", "position": f"{position}"}
    return Recall(angle[0, number - 1].item(), given, tolerance=1e-4)


def compute_moved_pair(
    head: RotaryHead, words: tuple[int, int], apart: int, shift: int
) -> dict[str, Tensor]:
    """The parts of one score and their sum, with RoPE and with added positions."""
    return {"parts": MovedPair.of(head, words).find(apart, shift)}
