"""A trained head small enough to read: d_model 8, d_k 4, on the task of the other toy weights.

It names the words that a token is related to, but not on which side they stand, and with a matrix
of its own; that little is enough for eight numbers a word. How it was trained stands in
`workshop.toys.readable_training`, how well it does in its REPORT.md.
"""

import functools
from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor

from explainers.attention.layer import MultiHead
from explainers.attention.single_head import SingleHead, single_head
from explainers.device import choose_device
from explainers.folders import ASSETS
from explainers.toys.grammar import find_language
from explainers.toys.layers import Layer, LearnedWords, Tokens, build_mask, read_tensors

READABLE_FILES = {
    "en": ASSETS / "weights" / "readable.safetensors",
    "vi": ASSETS / "weights" / "readable_vi.safetensors",
}
"""By the language of the words that the head learned."""
READABLE_D_MODEL, READABLE_HEAD_DIM = 8, 4
READABLE_SEEDS = (0, 1, 2, 3, 4)
FILM_SEED = READABLE_SEEDS[0]
"""The training of which not only the end is kept."""
READABLE_PARTS = ("embedding", "w_query", "w_key", "w_value", "w_words", "bias")


@dataclass(frozen=True)
class ReadableHead(LearnedWords):
    """All that the head learned, or that it had learned at several stages of its training."""

    head: SingleHead
    w_words: Tensor
    """(..., d_k, words); the output times this scores each word"""
    bias: Tensor
    """(..., words)"""

    @classmethod
    def from_parts(cls, words: tuple[str, ...], parts: Iterable[Tensor]) -> "ReadableHead":
        """Put together what training or the file holds in the order of `READABLE_PARTS`."""
        embedding, w_query, w_key, w_value, w_words, bias = parts
        return cls(words, embedding, SingleHead(w_query, w_key, w_value), w_words, bias)

    def score_words(self, output: Tensor) -> Tensor:
        """How strongly each word is named (..., words), above 0 it is."""
        return output @ self.w_words + self.bias


def name_readable_part(seed: int, part: str) -> str:
    """The name of one tensor in the file."""
    return f"seed {seed}: {part}"


@functools.lru_cache(maxsize=len(READABLE_FILES) * len(READABLE_SEEDS))
def load_readable_stages(seed: int, language: str = "en") -> ReadableHead:
    """The stages of a seed's training that are shipped: the end, of `FILM_SEED` 39 before it.

    It learned the words of a language.
    """
    if seed not in READABLE_SEEDS:
        raise ValueError(f"seed {seed}: trained are {', '.join(map(str, READABLE_SEEDS))}")
    names = [name_readable_part(seed, part) for part in READABLE_PARTS]
    words, tensors = read_tensors(names, READABLE_FILES[language])
    return ReadableHead.from_parts(
        words, (part.float().to(choose_device()) for part in tensors.values())
    )


@functools.lru_cache(maxsize=len(READABLE_FILES) * len(READABLE_SEEDS))
def load_readable_head(seed: int, language: str = "en") -> ReadableHead:
    """The shipped head of a seed, at the end of its training."""
    stages = load_readable_stages(seed, language)
    head = stages.head
    parts = stages.embedding, head.w_query, head.w_key, head.w_value, stages.w_words, stages.bias
    return ReadableHead.from_parts(stages.words, (part[-1] for part in parts))


@functools.lru_cache(maxsize=128)
def load_readable_layer(tokens: Tokens, rule: str, seed: int) -> Layer:
    """A sentence and the head that reads it, under any mask: it learned under the full one.

    There is a head for English and one for Vietnamese words.
    Of a layer it has no W_O: what the head hands over goes on as it is, in the first d_k numbers.
    """
    learned = load_readable_head(seed, find_language(tokens))
    x, unknown = learned.read_words(tokens)
    head = learned.head
    unchanged = torch.eye(READABLE_HEAD_DIM, READABLE_D_MODEL, device=x.device)
    heads = MultiHead(head.w_query, head.w_key, head.w_value, unchanged, READABLE_HEAD_DIM)
    mask = build_mask(rule, x)
    return Layer(tokens, x, heads, mask, rule, seed, learned=learned, unknown=unknown)


@dataclass(frozen=True)
class Film:
    """How a head divides its attention over a sentence while it learns."""

    batches: tuple[int, ...]
    """How many batches it had learned from at each stage; the first is 0."""
    losses: tuple[float, ...]
    """Its loss on held-out sentences at each stage."""
    weights: Tensor
    """(stages, q_len, kv_len)"""


@functools.lru_cache(maxsize=128)
def film_of(tokens: Tokens, rule: str) -> Film:
    """The training of `FILM_SEED` as it looks on a sentence, all stages computed at once."""
    language = find_language(tokens)
    stages = load_readable_stages(FILM_SEED, language)
    x, _ = stages.read_words(tokens)  # (stages, tokens, d_model)
    weights = single_head(x, stages.head, build_mask(rule, x[0])).weights
    return Film(*_read_film_counts(language), weights)


@functools.cache
def _read_film_counts(language: str) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Batches and losses of the stages: read once, a visit asks for them several times."""
    names = [name_readable_part(FILM_SEED, counted) for counted in ("batches", "losses")]
    _, counts = read_tensors(names, READABLE_FILES[language])
    batches, losses = (counts[name].tolist() for name in names)
    return tuple(batches), tuple(losses)
