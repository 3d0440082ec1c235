"""A sentence read token by token with a KV cache, and everything it is compared with."""

from dataclasses import dataclass
from functools import cached_property, lru_cache, partial

import torch
from torch import Tensor

from explainers.attention import masks
from explainers.attention.cache.decoding import Reader, Recomputed, Step, decode, recompute, through
from explainers.attention.cache.kv_cache import Cache, empty_cache, read
from explainers.attention.cache.windows import empty_ring, read_ring
from explainers.attention.layer import MultiHead
from explainers.attention.rules import Rule
from explainers.toys import examples
from explainers.ui.provenance import random_weights

D_MODEL, HEAD_DIM, LAYERS = 8, 4, 2
ANOTHER = 100
"""Added to the seed for the next layer's weights."""


def make_reader(rule: Rule) -> Reader:
    """A layer that reads with a cache under a mask."""
    return partial(read, rule=rule)


CAUSAL = make_reader(masks.causal)


def measure_gap(left: Tensor, right: Tensor) -> float:
    """The largest difference of any number."""
    return (left - right).abs().max().item()


@dataclass(frozen=True)
class DecodedText:
    """A text, and small layers of one head each whose weights are drawn from the seed."""

    tokens: tuple[str, ...]
    seed: int

    @cached_property
    def x(self) -> Tensor:
        """A vector per word; RoPE tells the layers where it stands."""
        return examples.draw_embeddings(self.tokens, D_MODEL, self.seed)

    @cached_property
    def layers(self) -> list[MultiHead]:
        """Each reads what the one below gave."""
        seeds = [self.seed + ANOTHER * layer for layer in range(LAYERS)]
        return [examples.random_heads(D_MODEL, 1, 1, HEAD_DIM, seed) for seed in seeds]

    @property
    def empty(self) -> list[Cache]:
        """The caches before the first word."""
        return [empty_cache(self.x, layer) for layer in self.layers]

    @cached_property
    def steps(self) -> list[Step]:
        """Word by word, with a cache in each layer."""
        return decode(self.x, self.layers, self.empty, CAUSAL)

    @cached_property
    def recomputed(self) -> list[Recomputed]:
        """The text up to each word, computed without any cache."""
        return [recompute(self.x[: n + 1], self.layers) for n in range(len(self.tokens))]

    def read_at_once(self, length: int, rule: Rule) -> Step:
        """The first words at once, in one large product for each matrix."""
        return through(self.x[:length], self.layers, self.empty, make_reader(rule))

    @cached_property
    def beginnings(self) -> list[Cache]:
        """By layer: keys and values of the text up to each word, where every word sees all others.

        All beginnings are one batch (tokens, kv_heads, tokens, head_dim), padded at their ends.
        """
        words = len(self.tokens)
        texts = self.x.expand(words, *self.x.shape)  # (tokens, tokens, d_model)
        caches = [empty_cache(texts, layer) for layer in self.layers]
        lengths = torch.arange(1, words + 1)
        reads = through(texts, self.layers, caches, make_reader(masks.padding(lengths))).reads
        return [done.cache for done in reads]

    def compute_outputs(self, reader: Reader) -> Tensor:
        """What each word gets from the last layer (tokens, d_model), read with some cache."""
        steps = decode(self.x, self.layers, self.empty, reader)
        return torch.cat([step.output for step in steps])

    def compute_ring_outputs(self, slots: int, sinks: int) -> Tensor:
        """The same with a cache of so many slots."""
        rings = [empty_ring(self.x, layer, slots) for layer in self.layers]
        steps = decode(self.x, self.layers, rings, partial(read_ring, sinks=sinks))
        return torch.cat([step.output for step in steps])

    @cached_property
    def row_by_row(self) -> list[float]:
        """After each word: cached against recomputed, in products of the same shapes."""
        return [
            self._compare(step, again)
            for step, again in zip(self.steps, self.recomputed, strict=True)
        ]

    @staticmethod
    def _compare(step: Step, other: Recomputed) -> float:
        """Over all keys and values of all layers, and the output of the word that was read."""
        caches = zip((done.cache for done in step.reads), other.caches, strict=True)
        rows = [
            measure_gap(a, b)
            for pair in caches
            for a, b in zip(pair[0][:2], pair[1][:2], strict=True)
        ]
        return max(*rows, measure_gap(step.output, other.output[-1:]))


@dataclass(frozen=True)
class DrawnText(DecodedText):
    """A text that is read, in pictures."""

    @property
    def origin(self) -> str:
        """The badge of the pictures."""
        return random_weights(self.seed, self.x.device)


@lru_cache(maxsize=32)
def read_text(tokens: tuple[str, ...], seed: int) -> DrawnText:
    """A text that is read, computed once for all runs of the page."""
    return DrawnText(tokens, seed)
