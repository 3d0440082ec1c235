"""A text read token by token with a KV cache, and everything that it is compared with."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, Any, ClassVar, cast

import streamlit as st
import torch
from torch import Tensor

from explainers.attention import masks
from explainers.attention.cache.decoding import Reader, Recomputed, Step, decode, recompute, through
from explainers.attention.cache.faults import append_after, drop_row, forget_offset
from explainers.attention.cache.kv_cache import Cache, Read, empty_cache, read
from explainers.attention.cache.step_costs import cache_bytes, with_cache, without_cache
from explainers.attention.cache.windows import empty_ring, read_ring, slot_of
from explainers.attention.layer import MultiHead
from explainers.attention.rules import Rule
from explainers.chapters.common.choose_real_model import BY_MODEL
from explainers.chapters.common.own_words import choose_head, pair_neighbours, run_beginning
from explainers.chapters.common.score_matrix import ROUNDING
from explainers.chapters.common.sentence_reading import choose_causal_reader, drop_end_marks
from explainers.messages import N_
from explainers.toys import examples, rotary_layers
from explainers.toys.grammar import find_language, find_unknown_words
from explainers.toys.sentence import MAX_TOKENS, Sentence
from explainers.translations import _
from explainers.ui.page import read_seed
from explainers.ui.provenance import random_weights, writing_weights

if TYPE_CHECKING:
    from explainers.models.load import RealModel

D_MODEL, HEAD_DIM, LAYERS = (
    rotary_layers.WRITER_D_MODEL,
    rotary_layers.WRITER_HEAD_DIM,
    rotary_layers.WRITER_LAYERS,
)
ANOTHER = 100
"""Added to the seed for the next layer's weights."""


def measure_gap(left: Tensor, right: Tensor) -> float:
    """The largest difference of any number."""
    return (left - right).abs().max().item()


@dataclass(frozen=True, eq=False)
class DecodedText:
    """A text, and small layers of one head each."""

    tokens: tuple[str, ...]
    x: Tensor
    """A vector per word; RoPE tells the layers where it stands."""
    layers: Sequence[MultiHead]
    """Each reads what the one below gave."""
    seed: int | None = None
    """Of random numbers."""
    rounding: ClassVar[float] = ROUNDING
    """Rows that differ by more are other rows."""

    def as_call(self) -> tuple[Callable[..., "DecodedText"], dict[str, Any]]:
        """What makes it again: its seed, or its numbers."""
        if self.seed is not None:
            return draw_text, {"tokens": self.tokens, "seed": self.seed}
        return DecodedText, {"tokens": self.tokens, "x": self.x, "layers": self.layers}

    def compute_input(self, layer: int, word: int) -> Tensor:
        """What the matrices of a layer read of a word: x and what the layers below have added."""
        x = self.x[word]
        for below in self.steps[word].reads[:layer]:
            x = x + below.output[0]
        return x

    def make_reader(self, rule: Rule) -> Reader:
        """A layer that reads with a cache under a mask."""
        return partial(read, rule=rule)

    @property
    def empty(self) -> list[Cache]:
        """The caches before the first word."""
        return [empty_cache(self.x, layer) for layer in self.layers]

    @cached_property
    def steps(self) -> list[Step]:
        """Word by word, with a cache in each layer."""
        return decode(self.x, self.layers, self.empty, self.make_reader(masks.causal))

    @cached_property
    def recomputed(self) -> list[Recomputed]:
        """The text up to each word, computed without any cache."""
        return [recompute(self.x[: n + 1], self.layers) for n in range(len(self.tokens))]

    def read_at_once(self, length: int) -> Step:
        """The first words at once, in one large product for each matrix."""
        reader = self.make_reader(masks.causal)
        return through(self.x[:length], self.layers, self.empty, reader)

    @cached_property
    def beginnings(self) -> list[Cache]:
        """By layer: keys and values of the text up to each word, where every word sees all others.

        All beginnings are one batch (tokens, kv_heads, tokens, head_dim), padded at their ends.
        """
        words = len(self.tokens)
        texts = self.x.expand(words, *self.x.shape)  # (tokens, tokens, d_model)
        caches = [empty_cache(texts, layer) for layer in self.layers]
        lengths = torch.arange(1, words + 1)
        reads = through(texts, self.layers, caches, self.make_reader(masks.padding(lengths))).reads
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
        """After each word: cached against recomputed, in products of the same shapes.

        Over all keys and values of all layers, and the output of the word that was read.
        """
        found = []
        for step, again in zip(self.steps, self.recomputed, strict=True):
            caches = zip((done.cache for done in step.reads), again.caches, strict=True)
            pairs = [pair for both in caches for pair in zip(both[0][:2], both[1][:2], strict=True)]
            pairs.append((step.output, again.output[-1:]))
            found.append(max(measure_gap(*pair) for pair in pairs))
        return found


def draw_text(tokens: tuple[str, ...], seed: int) -> DecodedText:
    """A text, and untrained layers; the vectors of its words are random as well."""
    tokens = tuple(tokens)
    seeds = [seed + ANOTHER * layer for layer in range(LAYERS)]
    layers = [examples.random_heads(D_MODEL, 1, 1, HEAD_DIM, one) for one in seeds]
    return DecodedText(tokens, examples.draw_embeddings(tokens, D_MODEL, seed), layers, seed)


@dataclass(frozen=True, eq=False)
class DrawnText(DecodedText):
    """A text that is read, in pictures."""

    def name_layers(self) -> str:
        """Whose keys and values are stored, for a text."""
        return _("the two layers")

    @property
    def origin(self) -> str:
        """The badge of the pictures."""
        if self.seed is None:
            return writing_weights(rotary_layers.ROTARY_SEED, self.x.device)
        return random_weights(self.seed, self.x.device)


@lru_cache(maxsize=32)
def read_text(tokens: tuple[str, ...], seed: int) -> DrawnText:
    """A text that is read, computed once for all runs of the page.

    Layers that learned its words read it, and untrained ones where they lack a word.
    """
    words = drop_end_marks(tokens)
    if find_unknown_words(words):
        return DrawnText(**vars(draw_text(tokens, seed)))
    writer = rotary_layers.load_writer(find_language(words))
    return DrawnText(words, writer.embed(words), writer.layers)


@dataclass(frozen=True, eq=False)
class Block(MultiHead):
    """A layer of a Llama: its heads, and what else of it stands around them."""

    longest: float
    """The base of RoPE."""
    before: Callable[[Tensor], Tensor]
    """What its matrices read of a token."""
    after: Callable[[Tensor], Tensor]
    """What its feed-forward network adds, once attention has added its own."""

    @property
    def first_head(self) -> MultiHead:
        """The query head that is drawn, and its KV head; two more query heads share that."""
        return choose_head(self, 0)


def read_block(x: Tensor, block: Block, cache: Cache, rule: Rule) -> Read:
    """New tokens in a layer of a model, whose whole addition is the output."""
    done = read(block.before(x), block, cache, rule, block.longest)
    return done._replace(output=done.output + block.after(x + done.output))


@dataclass(frozen=True, eq=False)
class ModelText(DrawnText):
    """A text in the first two layers of a real model; its first KV heads are drawn."""

    layers: Sequence[Block]
    model: str = field(kw_only=True)
    badge: str = field(kw_only=True)
    left_out: int = field(kw_only=True)
    """Tokens of the text for which the picture has no room."""
    rounding: ClassVar[float] = 1e-3  # its numbers are up to a hundred times as large

    def name_layers(self) -> str:
        """Whose keys and values are stored, for a text."""
        return _("the first two layers of {model}", model=self.model)

    @property
    def origin(self) -> str:
        """The badge of the pictures."""
        from explainers.chapters.common.recording import describe_live_numbers

        return describe_live_numbers(self.badge, self.x.device)

    def compute_input(self, layer: int, word: int) -> Tensor:
        """What the matrices of a layer read of a word: normalised before."""
        return self.layers[layer].before(super().compute_input(layer, word))

    def make_reader(self, rule: Rule) -> Reader:
        """A layer of the model that reads with a cache under a mask."""
        return cast(Reader, partial(read_block, rule=rule))  # its layers are blocks

    def name_parts(self) -> dict[str, str]:
        """What is drawn of which model, for a text."""
        block = self.layers[0]
        left_out = _("The last {count} tokens have no room here.", count=self.left_out)
        return {
            "model": self.model,
            "heads": f"{block.num_kv_heads}",
            "shared": f"{block.group_size}",
            "numbers": f"{block.head_dim}",
            "base": f"{block.longest:,.0f}",
            "left_out": left_out if self.left_out else "",
        }

    @cached_property
    def recomputed(self) -> list[Recomputed]:
        """The text up to each word at once, as the model reads it without a cache."""
        steps = [self.read_at_once(n + 1) for n in range(len(self.tokens))]
        return [Recomputed(step.output, [done.cache for done in step.reads]) for step in steps]


# Not copied for each reader: nobody changes it.
@st.cache_resource(show_spinner=False, max_entries=2, hash_funcs=BY_MODEL)
def read_blocks(loaded: "RealModel") -> tuple[Block, ...] | None:
    """The first layers of a Llama; None if there is more to one than is computed here."""
    model: Any = loaded.model
    config = model.config
    if config.model_type != "llama" or config.attention_bias:
        return None
    if config.rope_parameters["rope_type"] != "default":
        return None
    base, size = float(config.rope_parameters["rope_theta"]), config.head_dim

    def make_block(layer: Any) -> Block:
        attention = layer.self_attn
        w_query = pair_neighbours(attention.q_proj.weight, size)
        w_key = pair_neighbours(attention.k_proj.weight, size)
        w_value, w_output = (
            one.weight.T.detach().float() for one in (attention.v_proj, attention.o_proj)
        )

        @torch.no_grad()
        def normalise(x: Tensor) -> Tensor:
            return layer.input_layernorm(x)

        @torch.no_grad()
        def feed_forward(x: Tensor) -> Tensor:
            return layer.mlp(layer.post_attention_layernorm(x))

        return Block(w_query, w_key, w_value, w_output, size, base, normalise, feed_forward)

    return tuple(map(make_block, model.model.layers[:LAYERS]))


@st.cache_resource(show_spinner=False, max_entries=12, hash_funcs=BY_MODEL)
def read_model_text(loaded: "RealModel", sentence: str) -> ModelText | None:
    """A sentence in the first layers of a model, if they can be computed here."""
    blocks = read_blocks(loaded)
    if not blocks:
        return None
    tokens, own, count, x = run_beginning(loaded, sentence, 0, MAX_TOKENS)
    left_out, model = count - (len(tokens) - len(own)), loaded.name.split("/")[-1]
    badge = loaded.provenance
    return ModelText(tokens, x, blocks, model=model, badge=badge, left_out=left_out)


def choose_text_reader(sentence: Sentence) -> tuple[DrawnText, bool]:
    """Who reads the sentence, which is said in a line; and is a real model wanted?"""
    found, wants_model = choose_causal_reader(sentence, read_model_text, ModelText.name_layers)
    return found or read_text(sentence.tokens, read_seed()), wants_model


WINDOW = 3
"""Of the mistake with a window: this wide it should be."""
MISTAKES = N_("no offset"), N_("row lost"), N_("too late"), N_("window − 1")


def read_words(run: DecodedText, words: int) -> dict[str, Any]:
    """What each layer keeps after some words, and how far that is from computing all again.

    The first difference is between products of the same shapes, so it is exactly 0.
    """
    found: dict[str, Any] = {
        "cached − recomputed": max(run.row_by_row),
        "outputs": torch.cat([step.output for step in run.steps]),
    }
    for number, done in enumerate(run.steps[words - 1].reads, start=1):
        found[f"layer {number}: K"] = done.cache.key[0]
        found[f"layer {number}: V"] = done.cache.value[0]
        found[f"layer {number}: weights"] = done.weights[0]
    return found


def read_in_one_head(x: Tensor, layer: MultiHead, longest: float, words: int) -> dict[str, Tensor]:
    """What one head of a model keeps after some words, of the vectors that its layer read."""
    cache = empty_cache(x, layer)
    for word in range(words):
        done = read(x[word : word + 1], layer, cache, masks.causal, longest)
        cache = done.cache
    return {"K": cache.key[0], "V": cache.value[0], "weights": done.weights[0]}


def measure_mistakes(run: DecodedText) -> dict[str, Tensor]:
    """How wrong each word's output is at most, a row for each mistake (mistakes, tokens)."""
    right = run.compute_outputs(run.make_reader(masks.causal))
    windowed = run.compute_outputs(run.make_reader(masks.sliding_window(WINDOW)))
    wrong = [run.compute_outputs(each) - right for each in (forget_offset, drop_row, append_after)]
    wrong.append(run.compute_ring_outputs(WINDOW - 1, sinks=0) - windowed)
    return {"wrong": torch.stack(wrong).abs().amax(dim=-1)}


def make_counted_layer() -> MultiHead:
    """A layer of one head, of which the work is counted and the cache is weighed."""
    return examples.random_heads(D_MODEL, 1, 1, HEAD_DIM, 0)


def count_costs(lengths: list[int]) -> dict[str, list[int]]:
    """The work of one layer, and the bytes that all layers hold, by the length of the text."""
    layer = make_counted_layer()
    kept, again = ([count(n, layer) for n in lengths] for count in (with_cache, without_cache))
    return {
        "rows with the cache": [work.rows for work in kept],
        "rows without": [work.rows for work in again],
        "scores with the cache": [work.scores for work in kept],
        "scores without": [work.scores for work in again],
        "bytes held": [LAYERS * cache_bytes(n, layer) for n in lengths],
    }


def compare_bounded_caches(run: DecodedText, window: int, sinks: int) -> dict[str, Tensor]:
    """How far each word's output is from full causal attention: a ring, and sinks with a ring."""
    full = run.read_at_once(len(run.tokens)).output
    caches = run.compute_ring_outputs(window, 0), run.compute_ring_outputs(sinks + window, sinks)
    return {"lost": torch.stack([(each - full).abs().amax(dim=-1) for each in caches])}


def trace_slots(words: int, sinks: int, window: int) -> list[list[float | None]]:
    """A row per slot, a column per word read: the number of the word whose row stands there."""
    held: list[float | None] = [None] * (sinks + window)
    columns = []
    for word in range(words):
        held[slot_of(word, sinks, window)] = word + 1.0
        columns.append(list(held))
    return [list(row) for row in zip(*columns, strict=True)]
