"""Small weights that learned with RoPE: a head, layers that write, and models on longer texts.

The head sees all words and names the related ones. The two layers see earlier words alone and say
which word comes next. How they were trained stands in `workshop.toys.rotary_training`, how well
they do in its REPORT.md. What models that learned on 32 tokens lose on longer texts was measured by
`python -m workshop.toys --longer`.
"""

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import mean

import torch
from torch import Tensor

from explainers import kept
from explainers.attention.layer import MultiHead
from explainers.attention.rotary import angles
from explainers.attention.stretching import (
    find_slowed_share,
    interpolate,
    interpolate_slow_pairs,
    raise_base,
)
from explainers.toys.grammar import GRAMMARS
from explainers.toys.layers import (
    READABLE_PARTS,
    LearnedWords,
    ReadableHead,
    name_weights,
    read_parts,
)

ROTARY_SEED = 0
"""The training that is kept."""
FINDER, WRITER = "finder", "writer"
FINDER_D_MODEL, FINDER_HEAD_DIM = 16, 8
WRITER_D_MODEL, WRITER_HEAD_DIM, WRITER_LAYERS = 8, 4, 2
MATRICES = "w_query", "w_key", "w_value", "w_output"
PARTS = {
    FINDER: READABLE_PARTS,
    WRITER: (
        "embedding",
        *(f"layer {n}: {name}" for n in range(1, WRITER_LAYERS + 1) for name in MATRICES),
        "w_words",
        "bias",
    ),
}
"""The tensors of each, in the order in which they are trained."""


@dataclass(frozen=True)
class Writer(LearnedWords):
    """Layers of one causal head each; what attention finds is added to what was there."""

    layers: tuple[MultiHead, ...]
    w_words: Tensor
    """(d_model, words)"""
    bias: Tensor
    """(words,)"""

    @classmethod
    def from_parts(cls, words: tuple[str, ...], parts: Iterable[Tensor]) -> "Writer":
        """Put together what training or the file holds in the order of `PARTS`."""
        embedding, *matrices, w_words, bias = parts
        layers = []
        for first in range(0, len(matrices), len(MATRICES)):
            w_query, w_key, w_value, w_output = matrices[first : first + len(MATRICES)]
            layers.append(MultiHead(w_query, w_key, w_value, w_output, WRITER_HEAD_DIM))
        return cls(words, embedding, tuple(layers), w_words, bias)

    def score_words(self, output: Tensor) -> Tensor:
        """Logits of the next word (..., words), from what comes out of the last layer."""
        return output @ self.w_words + self.bias


def name_rotary_part(kind: str, part: str) -> str:
    """The name of one tensor in the file."""
    return f"{kind}: {part}"


@functools.lru_cache(maxsize=len(GRAMMARS))
def load_finder(language: str) -> ReadableHead:
    """The shipped head that finds related words of a language."""
    return ReadableHead.from_parts(*_read_parts(FINDER, language))


@functools.lru_cache(maxsize=len(GRAMMARS))
def load_writer(language: str) -> Writer:
    """The shipped layers that write short news in a language."""
    return Writer.from_parts(*_read_parts(WRITER, language))


def _read_parts(kind: str, language: str) -> tuple[tuple[str, ...], list[Tensor]]:
    names = [name_rotary_part(kind, part) for part in PARTS[kind]]
    return read_parts(names, name_weights("rotary", language))


ROTARY, PARTIAL, NOWHERE = KINDS = "rope", "partial", "none"
PLAIN, PI, NTK, YARN = WAYS = "plain", "pi", "ntk", "yarn"
TRAINED, ROTARY_BASE, HEAD_DIM = 32, 10_000.0, 32
PAIRS = HEAD_DIM // 2
TURNED_NUMBERS = {ROTARY: HEAD_DIM, PARTIAL: HEAD_DIM // 2, NOWHERE: 0}
"""How many numbers of a head RoPE turns."""


def find_speeds(kind: str, way: str, factor: float) -> Tensor:
    """Radians per position of each pair (pairs,); 0 for pairs that are not turned at all."""
    turned = TURNED_NUMBERS[kind]
    if not turned:
        return torch.zeros(PAIRS)
    plain = angles(torch.ones(1), turned, ROTARY_BASE)[0]
    share = find_slowed_share(turned, ROTARY_BASE, TRAINED)
    speed = {
        PLAIN: plain,
        PI: interpolate(plain, factor),
        NTK: raise_base(turned, ROTARY_BASE, factor),
        YARN: interpolate_slow_pairs(plain, factor, share),
    }[way]
    return torch.cat([speed, torch.zeros(PAIRS - len(speed))])


LONGER = "weights/longer_texts"
SEEDS = 0, 1, 2, 3, 4
LENGTHS = TRAINED, 64, 128
FURTHER = 50
"""Batches of texts of the last length, in the rows of models that were trained further."""
Key = tuple[str, str, int]
"""Kind, way, and batches of further training."""


@dataclass(frozen=True)
class LengthRow:
    """One kind of positions and one way to slow down: by seed, then by length."""

    kind: str
    way: str
    further: int
    losses: list[list[float]]
    """Mean loss in nats of tokens that can be known."""
    rights: list[list[float]]
    """The share of them that is predicted."""

    @property
    def lengths(self) -> tuple[int, ...]:
        """Of the texts; a model that was trained further is asked on the last length alone."""
        return LENGTHS[-1:] if self.further else LENGTHS

    def average(self, length: int) -> tuple[float, float]:
        """The mean over the seeds of the loss and of the share that is right."""
        place = self.lengths.index(length)
        return mean(one[place] for one in self.losses), mean(one[place] for one in self.rights)


@functools.cache
def read_longer_results() -> dict[Key, LengthRow]:
    """The stored rows by kind, way and batches of further training."""
    rows = [LengthRow(**row) for row in kept.read(LONGER).numbers["rows"]]
    return {(row.kind, row.way, row.further): row for row in rows}
