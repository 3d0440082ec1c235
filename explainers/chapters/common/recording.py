"""A short text run through a real model: what was recorded, and its weights packed for tiles."""

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import streamlit as st
import torch
from torch import Tensor

from explainers.attention.bounded_scores import capped_attention
from explainers.attention.position_bias import biased_attention
from explainers.attention.scaled_dot_product import attention
from explainers.attention.sinks_and_gates import attention_with_sinks
from explainers.chapters.common.choose_real_model import BY_MODEL
from explainers.device import describe_device
from explainers.models.attention_hook import RecordedAttention
from explainers.models.borrowed_model import make_inputs
from explainers.takeaway.recipe import Recipe
from explainers.translations import _
from explainers.ui.figure.chart import tabulate
from explainers.ui.figure.head_tiles import HIDDEN, STEPS
from explainers.ui.provenance import real_model

if TYPE_CHECKING:
    from explainers.models.load import RealModel


ZLIB_LEVEL = 1
"""Of zlib's levels: the higher ones take seconds for a tenth less."""


def pack_weights(weights: Tensor, hidden: Tensor) -> bytes:
    """weights (tiles, tokens, tokens) in steps of 1/10,000; what is `hidden` (bool) is a blank."""
    steps = (weights * STEPS).round_().masked_fill_(hidden, HIDDEN).to(torch.int32).cpu()
    parts = steps.numpy().astype("<u2").reshape(-1, 1).view("u1")  # low byte, high byte
    return zlib.compress(parts.T.tobytes(), ZLIB_LEVEL)


def tabulate_strongest_keys(weights: Tensor, layers: Sequence[int], tokens: Sequence[str]) -> Any:
    """For each layer, head and query of weights (layers, heads, tokens, tokens), its first key."""
    best = weights.max(dim=-1)
    place = torch.cartesian_prod(*(torch.arange(size) for size in best.values.shape)).tolist()
    columns = ["layer", "head", "position", "query", "strongest_key", "weight"]
    keys, values = best.indices.flatten().tolist(), best.values.flatten().tolist()
    return tabulate(
        [
            (layers[layer], head, query, tokens[query], tokens[key], value)
            for (layer, head, query), key, value in zip(place, keys, values, strict=True)
        ],
        columns,
    )


@dataclass(frozen=True)
class Recording:
    """One text in one model: every layer's attention, and whether the model goes on to write.

    weights (layers, heads, tokens, tokens).
    `words` has the number of each token's word, where tokens were merged: then `tokens` are words.
    """

    name: str
    origin: str
    tokens: tuple[str, ...]
    layers: list[RecordedAttention]
    writes: bool
    num_left_out: int = 0
    words: tuple[int, ...] = ()

    @cached_property
    def weights(self) -> Tensor:
        return self._merge(torch.stack([layer.weights[0] for layer in self.layers]).float())

    @cached_property
    def masks(self) -> Tensor:
        """(layers, tokens, tokens), True = may attend: a word, if any of its tokens may."""
        return self._merge(torch.stack([layer.mask[0, 0] for layer in self.layers]).float()) > 0

    def _merge(self, numbers: Tensor) -> Tensor:
        from explainers.models.token_text import merge_weights

        return merge_weights(numbers, self.words, self.words) if self.words else numbers

    @property
    def shape(self) -> tuple[int, int]:
        """(layers, query heads)"""
        return self.weights.shape[0], self.weights.shape[1]

    @property
    def group_size(self) -> int:
        """Query heads per KV head."""
        return self.layers[0].query.shape[1] // self.layers[0].key.shape[1]

    def is_plain(self, layer: int) -> bool:
        """Is nothing added to attention in this layer?"""
        return self.layers[layer].function is attention


def merge_tokens(loaded: "RealModel", text: str, seen: Recording) -> Recording:
    """The same between words; as it is, if none has several tokens or the tokenizer tells none."""
    from explainers.models.token_text import find_words

    beginning, _left_out = cut_text(loaded, text, MOST_TOKENS)
    words = find_words(loaded, beginning, seen.tokens)
    return replace(seen, tokens=words.spelled, words=words.numbers) if words else seen


def average_weight_on_key(weights: Tensor, place: int) -> Tensor:
    """The weight on one key, mean over the queries behind it: those before it may not see it."""
    behind = weights[..., place + 1 :, place]
    return behind.mean(dim=-1) if behind.shape[-1] else weights[..., place, place]


MOST_TOKENS = 64
"""Tokens of the text whose heads are all shown; a longer text has a place of its own."""


def record_text(loaded: "RealModel", text: str, before: tuple[int, ...] = ()) -> Recording:
    """Run the model on a text, with ids put `before` it if wished; raises what cannot be read."""
    from explainers.models.registry import ModelError
    from explainers.models.token_text import spell_token, tokenise_text

    if loaded.model.main_input_name != "input_ids":
        raise ModelError(
            "{model} reads sound or pictures in a way that this page does not know.",
            model=loaded.name,
        )
    beginning, num_left_out = cut_text(loaded, text, MOST_TOKENS)
    ids, tokens = tokenise_text(loaded, beginning)
    if before:
        first = torch.tensor([before], device=ids.device)
        ids = torch.cat([first, ids], dim=1)[:, : loaded.context_length]
        tokens = (*(spell_token(loaded.tokenizer, one) for one in before), *tokens)[: ids.shape[1]]
    layers, writes = _run(loaded, tuple(ids[0].tolist()))
    origin = describe_live_run(loaded)
    return Recording(loaded.name, origin, tokens, layers, writes, num_left_out)


def describe_live_run(loaded: "RealModel") -> str:
    """The badge of a figure whose numbers a model computes while the reader looks."""
    return describe_live_numbers(loaded.provenance, loaded.model.device)


def describe_live_numbers(provenance: str, device: torch.device) -> str:
    """The same, by whose numbers they are and where."""
    where = describe_device(device)
    return real_model(_("{model} · computed live on {device}", model=provenance, device=where))


def cut_text(loaded: "RealModel", text: str, most: int) -> tuple[str, int]:
    """As much of a text as makes `most` tokens, or as the model can read; and how many are left.

    A model's own tokens at the end of a text stay.
    """
    most = min(most, loaded.context_length or most)
    encoded = loaded.tokenizer(text, verbose=False, return_special_tokens_mask=True)
    left_out = len(encoded["input_ids"]) - most
    if left_out <= 0 or not encoded.encodings:
        return text, 0
    own = encoded["special_tokens_mask"]
    ends = [
        end
        for (_unused, end), mine in zip(encoded.encodings[0].offsets, own, strict=True)
        if not mine
    ]
    return text[: ends[max(0, most - sum(own) - 1)]], left_out


# Not copied for each reader: hundreds of tensors, which nobody changes.
@st.cache_resource(show_spinner=False, max_entries=12, hash_funcs=BY_MODEL)
def _run(loaded: "RealModel", ids: tuple[int, ...]) -> tuple[list[RecordedAttention], bool]:
    """The layers that look at the whole text, and whether the model predicts a next token."""
    from explainers.models.attention_hook import run_model

    model = loaded.model
    given = make_inputs(model, torch.tensor([ids], device=model.device))
    output, layers = run_model(model, **given)
    kind = "encoder" if model.config.is_encoder_decoder else "self"
    found = [layer for layer in layers if layer.kind == kind]
    return found, "logits" in output and getattr(model, "can_generate", bool)()


Computed = dict[str, Tensor]


def compute_head(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Computed:
    """One head of the model, from what its layer handed to attention."""
    return attention(query, key, value, mask)._asdict()


def compute_capped_head(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor, cap: float
) -> Computed:
    """The same where no score is beyond the cap."""
    return capped_attention(query, key, value, mask, cap)._asdict()


def compute_biased_head(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor, bias: Tensor
) -> Computed:
    """The same where a learned number is added for every distance."""
    return biased_attention(query, key, value, mask, bias)._asdict()


def compute_head_with_sink(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor, sink: Tensor
) -> Computed:
    """The same where the head may also look at nothing."""
    result = attention_with_sinks(query[None], key[None], value[None], mask, sink)
    return {name: numbers[0] for name, numbers in result._asdict().items()}


COMPUTATIONS: dict[Callable[..., Any], Callable[..., Computed]] = {
    attention: compute_head,
    capped_attention: compute_capped_head,
    biased_attention: compute_biased_head,
    attention_with_sinks: compute_head_with_sink,
}
"""What is written into the file for what a model adds to attention."""


def collect_inputs(layer: RecordedAttention, head: int) -> dict[str, Any]:
    """What went into one head, with what the model adds for it."""
    shared = head // (layer.query.shape[1] // layer.key.shape[1])
    inputs: dict[str, Any] = {"query": layer.query[0, head], "key": layer.key[0, shared]}
    inputs |= {"value": layer.value[0, shared], "mask": layer.mask[0, 0]}
    function: Any = layer.function
    extra = {
        name: _select_head(item, layer, head)
        for name, item in getattr(function, "keywords", {}).items()
    }
    return {name: to_cpu(item) for name, item in (inputs | extra).items()}


def _select_head(extra: Any, layer: RecordedAttention, head: int) -> Any:
    """A head's part of what was learned for all of them: a sink, or a table of biases."""
    if not isinstance(extra, Tensor):
        return extra
    heads = layer.query.shape[1]
    if extra.dim() == 1:
        return extra[head : head + 1]
    table = extra.expand(*extra.shape[:-3], heads, *extra.shape[-2:])
    return table.reshape(-1, *table.shape[-2:])[head]


def to_cpu(item: Any) -> Any:
    """As the file holds numbers: exactly, in float32."""
    if not isinstance(item, Tensor):
        return item
    return item.cpu() if item.dtype == torch.bool else item.detach().float().cpu()


def make_head_recipe(title: str, layer: RecordedAttention, head: int) -> Recipe:
    """One head of a layer that was recorded."""
    function: Any = layer.function
    computation = COMPUTATIONS[getattr(function, "func", function)]
    made = {"scores": layer.scores, "weights": layer.weights, "output": layer.output}
    results = {name: to_cpu(item[0, head]) for name, item in made.items()}
    return Recipe(title, computation, collect_inputs(layer, head), results)


def record_layer(loaded: "RealModel", number: int, ids: Tensor) -> RecordedAttention:
    """One layer of a run of the model; the others are not kept."""
    from explainers.models.attention_hook import run_model

    def take(layer: RecordedAttention) -> RecordedAttention | None:
        return layer if layer.layer_index == number and layer.kind == "self" else None

    layers = run_model(loaded.model, record=take, input_ids=ids, use_cache=False).layers
    return next(layer for layer in layers if layer is not None)
