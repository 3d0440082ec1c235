"""A sentence as a layer of heads reads it, with random weights or trained ones; the small head.

The small head, d_model 8 and d_k 4, names the words that a token is related to, but not on which
side they stand, and with a matrix of its own; that little is enough for eight numbers a word. How
it was trained stands in `workshop.toys.readable_training`, how well it does in its REPORT.md.
"""

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import torch
from safetensors import safe_open
from torch import Tensor

from explainers.attention import masks
from explainers.attention.layer import MultiHead
from explainers.attention.positions import sinusoidal
from explainers.attention.single_head import SingleHead, single_head
from explainers.device import choose_device
from explainers.folders import ASSETS
from explainers.messages import N_, Message
from explainers.toys.examples import LONGEST, make_generator, place_words, random_head, random_heads
from explainers.toys.grammar import GRAMMARS, find_language, fold_word, split_list

MASK_TITLES = {
    mask.label(): N_("{mask} of {number}", mask=Message(mask.name, {}), number=mask.usual)
    if mask.parameter
    else Message(mask.name, {})
    for mask in masks.MASKS
}
"""What readers call a mask, by what links and trained weights call it: "window of 5"."""


@dataclass(frozen=True)
class LearnedWords:
    """The words that training saw, and a learned vector for each."""

    words: tuple[str, ...]
    embedding: Tensor
    """(..., words, d_model); numbers in front of the words are stages of one training"""

    @functools.cached_property
    def places(self) -> dict[str, int]:
        """Where each word stands among those that training saw; case does not matter."""
        return {fold_word(word): place for place, word in enumerate(self.words)}

    def read_words(self, tokens: tuple[str, ...]) -> tuple[Tensor, tuple[str, ...]]:
        """Embedding + position (..., tokens, d_model), and the words that training never saw."""
        x = self.embed(tokens)
        unknown = {t: None for t in tokens if fold_word(t) not in self.places}
        return x + sinusoidal(len(tokens), x.shape[-1], LONGEST).to(x.device), (*unknown,)

    def embed(self, tokens: tuple[str, ...]) -> Tensor:
        """The words' vectors alone (..., tokens, d_model).

        An unknown word's vector is drawn as widely as the learned ones spread.
        """
        rows = [
            self.embedding[..., self.places[word], :]
            if word in self.places
            else self._draw_unknown_word(word)
            for word in map(fold_word, tokens)
        ]
        return torch.stack(rows, dim=-2)

    def _draw_unknown_word(self, word: str) -> Tensor:
        seeded = make_generator("unknown word", word)
        drawn = torch.randn(self.embedding.shape[-1], generator=seeded)
        return drawn.to(self.embedding.device) * self.embedding.std(dim=(-2, -1))[..., None]


@dataclass(frozen=True)
class TrainedHeads(LearnedWords):
    """All that training learns: embedding (words, d_model), heads, and bias (2 · words,)."""

    layer: MultiHead
    bias: Tensor

    @classmethod
    def from_parts(
        cls, words: tuple[str, ...], parts: Iterable[Tensor], head_dim: int
    ) -> "TrainedHeads":
        """Put together what training or the file holds in the order of `PART_NAMES`."""
        embedding, w_query, w_key, w_value, w_output, bias = parts
        return cls(words, embedding, MultiHead(w_query, w_key, w_value, w_output, head_dim), bias)

    def score_words(self, output: Tensor) -> Tensor:
        """How strongly each word is named (..., 2 · words), above 0 it is.

        Half of the output says which words stand before, half which stand after.
        """
        halves = zip(output.chunk(2, dim=-1), self.embedding.chunk(2, dim=-1), strict=True)
        return torch.cat([said @ words.T for said, words in halves], dim=-1) + self.bias


Tokens = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Layer:
    """Words as vectors, the heads that read them, and who may look at whom."""

    tokens: Tokens
    x: Tensor
    """(tokens, d_model)"""
    heads: MultiHead
    mask: Tensor
    rule: str
    """The mask's name in the table."""
    seed: int
    other_values: Tensor | None = None
    """W_V of a single head whose values are not as long as its keys."""
    learned: LearnedWords | None = None
    """The words that training saw, if the heads were trained; many heads with all they learned."""
    unknown: Tokens = ()
    """Words that training never saw."""
    is_changed: bool = False
    """Its numbers are others than those that its seed draws."""
    origin: str = ""
    """Where they come from, if neither from a seed nor from the training of the toys."""

    def head(self, number: int = 0) -> SingleHead:
        """One of the heads by itself."""
        heads, head_dim = self.heads, self.heads.head_dim
        own, shared = (
            slice(n * head_dim, (n + 1) * head_dim) for n in (number, number // heads.group_size)
        )
        w_value = heads.w_value[:, shared] if self.other_values is None else self.other_values
        return SingleHead(heads.w_query[:, own], heads.w_key[:, shared], w_value)

    def single(self) -> tuple[Tensor, SingleHead, Tensor]:
        """The words, the first head and the mask, as functions of one head take them."""
        return self.x, self.head(), self.mask

    def reading(self, tokens: Tokens) -> "Layer":
        """The same heads, reading other words."""
        if self.learned:
            x, unknown = self.learned.read_words(tokens)
        else:
            x, unknown = place_words(tokens, self.x.shape[-1], self.seed), ()
        mask = build_mask(self.rule, x)
        return replace(self, tokens=tokens, x=x, mask=mask, unknown=unknown)

    def as_call(self) -> tuple[Callable[..., "Layer"], dict[str, Any]]:
        """What makes this layer again: its seed, or if it was trained or changed, its numbers."""
        if self.learned or self.is_changed:
            names = "tokens", "x", "heads", "mask", "rule", "seed"
            return Layer, {name: getattr(self, name) for name in names}
        heads = self.heads
        sizes = {"num_heads": heads.num_heads, "head_dim": heads.head_dim, "rule": self.rule}
        given = {"tokens": self.tokens, "d_model": self.x.shape[-1], **sizes, "seed": self.seed}
        if self.other_values is not None:
            given["value_dim"] = self.other_values.shape[-1]
        return draw_layer, given


def build_mask(rule: str, x: Tensor) -> Tensor:
    """Who may look at whom in a sentence (tokens, d_model), by the mask's name in the table."""
    return masks.build(masks.RULES[rule], len(x), len(x)).to(x.device)


def draw_layer(
    tokens: Tokens,
    d_model: int,
    num_heads: int,
    head_dim: int,
    rule: str,
    seed: int,
    value_dim: int | None = None,
) -> Layer:
    """A sentence with its positions, and untrained heads; a single one may have another d_v."""
    x = place_words(tokens, d_model, seed)
    heads = random_heads(d_model, num_heads, num_heads, head_dim, seed)
    values = None
    if value_dim not in (None, head_dim):
        values = random_head(d_model, head_dim, value_dim or head_dim, seed).w_value
    return Layer(tokens, x, heads, build_mask(rule, x), rule, seed, values)


def name_weights(kind: str, language: str) -> str:
    """What weights of a kind are kept under, by the language of the words that they learned."""
    return f"weights/{kind}" + ("" if language == "en" else f"_{language}")


D_MODEL = 64
NUM_HEADS = (1, 2, 4, 8)
HEAD_DIMS = (4, 8, 16, 32, 64)
MASK_NAMES = tuple(
    mask.label() for mask in masks.MASKS if mask.name in ("full", "causal", "window")
)
SEEDS = (0, 1)
MAX_NEWS_TOKENS = 8
"""Training saw no longer sentence, and no later position."""
PART_NAMES = ("embedding", "w_query", "w_key", "w_value", "w_output", "bias")


class Configuration(NamedTuple):
    """The sizes and the mask of heads that were trained, from several seeds."""

    num_heads: int
    num_kv_heads: int
    head_dim: int
    rule: str


def list_head_dims(num_heads: int) -> tuple[int, ...]:
    """All d_k that were trained: all heads together are never wider than d_model."""
    return tuple(size for size in HEAD_DIMS if num_heads * size <= D_MODEL)


def list_kv_heads(num_heads: int) -> tuple[int, ...]:
    """All numbers of KV heads that were trained: those that divide the query heads."""
    return tuple(number for number in NUM_HEADS if num_heads % number == 0)


def list_configurations() -> list[Configuration]:
    """All configurations that were trained."""
    layers = [(n, kv, d) for n in NUM_HEADS for kv in list_kv_heads(n) for d in list_head_dims(n)]
    return [Configuration(*layer, rule) for rule in MASK_NAMES for layer in layers]


def choose_shipped_seed(seed: int) -> int:
    """The seed itself if its weights are shipped, else the first one that is."""
    return seed if seed in SEEDS else SEEDS[0]


@functools.lru_cache(maxsize=64)
def load_heads(configuration: Configuration, seed: int, language: str) -> TrainedHeads:
    """The shipped weights of one configuration, for the words of a language."""
    num_heads, num_kv_heads, head_dim, rule = configuration
    _check_trained("query heads", num_heads, NUM_HEADS)
    _check_trained(f"KV heads for {num_heads} query heads", num_kv_heads, list_kv_heads(num_heads))
    _check_trained(f"d_k for {num_heads} query heads", head_dim, list_head_dims(num_heads))
    _check_trained("mask", rule, MASK_NAMES)
    _check_trained("seed", seed, SEEDS)
    names = [name_part(configuration, seed, part) for part in PART_NAMES]
    words_and_parts = read_parts(names, name_weights("relations", language))
    return TrainedHeads.from_parts(*words_and_parts, head_dim)


def read_tensors(names: Sequence[str], kept_as: str) -> tuple[tuple[str, ...], dict[str, Tensor]]:
    """The words and some tensors of shipped weights."""
    file = ASSETS / f"{kept_as}.safetensors"
    if not file.exists():
        made = "python -m workshop.toys makes it; see its --language"
        raise FileNotFoundError(f"no {file.name} yet: {made}")
    with safe_open(file, framework="pt") as stored:
        words = tuple(split_list(stored.metadata()["words"]))
        return words, {name: stored.get_tensor(name) for name in names}


def read_parts(names: Sequence[str], kept_as: str) -> tuple[tuple[str, ...], list[Tensor]]:
    """The same in 32 bits, in the order of their names, where tensors are computed."""
    words, tensors = read_tensors(names, kept_as)
    return words, [part.float().to(choose_device()) for part in tensors.values()]


def name_part(configuration: Configuration, seed: int, part: str) -> str:
    """The name of one tensor in the file."""
    return "{} heads, {} KV, d_k {}, {}, seed {}: {}".format(*configuration, seed, part)


def load_layer(tokens: Tokens, configuration: Configuration, seed: int) -> Layer:
    """A sentence, heads that learned to find related words, and the mask they learned under.

    There are heads for English and for Vietnamese words.
    """
    trained = load_heads(configuration, seed, find_language(tokens))
    x, unknown = trained.read_words(tokens)
    rule = configuration.rule
    mask = build_mask(rule, x)
    return Layer(tokens, x, trained.layer, mask, rule, seed, learned=trained, unknown=unknown)


def _check_trained(name: str, value: object, trained: Sequence[object]) -> None:
    if value not in trained:
        raise ValueError(f"{name} {value}: trained are {', '.join(map(str, trained))}")


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


@functools.lru_cache(maxsize=len(GRAMMARS) * len(READABLE_SEEDS))
def load_readable_stages(seed: int, language: str = "en") -> ReadableHead:
    """The stages of a seed's training that are shipped: the end, of `FILM_SEED` 39 before it.

    It learned the words of a language.
    """
    _check_trained("seed", seed, READABLE_SEEDS)
    names = [name_readable_part(seed, part) for part in READABLE_PARTS]
    return ReadableHead.from_parts(*read_parts(names, name_weights("readable", language)))


@functools.lru_cache(maxsize=len(GRAMMARS) * len(READABLE_SEEDS))
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
    _, counts = read_tensors(names, name_weights("readable", language))
    batches, losses = (counts[name].tolist() for name in names)
    return tuple(batches), tuple(losses)
