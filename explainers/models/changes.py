"""Changes of a real model's attention, for one run, and their effect on what it predicts.

What a smaller cache costs is one of them: every token is read as it stands in the text (teacher
forcing); only what the cache holds differs.

>>> before, after = torch.tensor([[0.5, 0.5]]), torch.tensor([[0.25, 0.75]])
>>> compute_divergence(before.log(), after.log())  # in nats
tensor([0.1438])
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

import torch
from torch import Tensor

from explainers.attention import masks
from explainers.attention.cache.compression import round_in_channels, round_in_tokens
from explainers.attention.rotary import angles, rotate_halves
from explainers.attention.scaled_dot_product import Attention
from explainers.models.attention_hook import AttentionCall, Change, repeat_kv_heads, run_model
from explainers.models.registry import ModelError
from explainers.models.token_text import spell_token, tokenise_text

if TYPE_CHECKING:
    from explainers.models.load import RealModel


@dataclass(frozen=True, kw_only=True)
class Temperature(Change):
    """Scores divided by a temperature: weights get sharper below 1 and flatter above."""

    temperature: float

    def __post_init__(self) -> None:
        if not self.temperature > 0:
            raise ValueError(f"a temperature is above 0, and {self.temperature} is not")

    def change_inputs(self, call: AttentionCall) -> AttentionCall:
        return replace(call, query=call.query / self.temperature)


@dataclass(frozen=True)
class NoScaling(Change):
    """Scores not divided by √d_k."""

    def change_inputs(self, call: AttentionCall) -> AttentionCall:
        return replace(call, query=call.query * math.sqrt(call.query.shape[-1]))


@dataclass(frozen=True, kw_only=True)
class Window(Change):
    """A token sees itself, the `width - 1` before it, and the first `sinks` of the text."""

    width: int
    sinks: int = 0

    def change_inputs(self, call: AttentionCall) -> AttentionCall:
        window = masks.sliding_window(self.width)
        rule = masks.Rule(lambda query, key: (key < self.sinks) | window(query, key))
        return narrow_mask(call, rule)


@dataclass(frozen=True)
class HiddenFirstToken(Change):
    """Nobody sees the first token but itself: without it its own row would have nothing."""

    def change_inputs(self, call: AttentionCall) -> AttentionCall:
        rule = masks.Rule(lambda query, key: (key > 0) | (key == query))
        return narrow_mask(call, rule)


@dataclass(frozen=True)
class NoCausalMask(Change):
    """Every token may attend to every other, later ones too, but not to padding."""

    def change_inputs(self, call: AttentionCall) -> AttentionCall:
        real_keys = call.mask.any(dim=-2, keepdim=True)
        return replace(call, mask=real_keys.expand_as(call.mask))


@dataclass(frozen=True, kw_only=True)
class AblatedHeads(Change):
    """Heads whose output is set to 0, as pairs of layer index and head index."""

    heads: frozenset[tuple[int, int]]

    def change_result(self, call: AttentionCall, result: Attention) -> Attention:
        head_indices = [head for layer, head in self.heads if layer == call.layer_index]
        available = result.output.shape[1]
        if not all(0 <= head < available for head in head_indices):
            last, layer = max(head_indices), call.layer_index
            raise ValueError(f"layer {layer} has {available} heads, counted from 0: not {last}")
        is_ablated = torch.zeros(available, dtype=torch.bool, device=result.output.device)
        is_ablated[head_indices] = True
        return result._replace(output=result.output.masked_fill(is_ablated[:, None, None], 0.0))


@dataclass(frozen=True)
class UniformWeights(Change):
    """The same weight on every token that the mask allows."""

    def change_result(self, call: AttentionCall, result: Attention) -> Attention:
        allowed = call.mask.expand_as(result.weights).to(result.weights.dtype)
        weights = allowed / allowed.sum(dim=-1, keepdim=True).clamp(min=1)
        return replace_weights(call, result, weights)


@dataclass(frozen=True)
class HardAttention(Change):
    """All weight on the key with the largest weight (argmax)."""

    def change_result(self, call: AttentionCall, result: Attention) -> Attention:
        largest = result.weights.argmax(dim=-1, keepdim=True)
        one_hot = torch.zeros_like(result.weights).scatter(-1, largest, 1.0)
        return replace_weights(call, result, one_hot)


@dataclass(frozen=True, kw_only=True)
class FewerKVHeads(Change):
    """Neighbouring KV heads averaged into fewer, as is done to turn a trained model into GQA."""

    num_kv_heads: int

    def change_inputs(self, call: AttentionCall) -> AttentionCall:
        available = call.key.shape[1]
        if self.num_kv_heads < 1 or available % self.num_kv_heads:
            raise ValueError(f"{available} KV heads cannot be averaged into {self.num_kv_heads}")
        key, value = (
            torch.stack(heads.chunk(self.num_kv_heads, dim=1)).mean(dim=2).transpose(0, 1)
            for heads in (call.key, call.value)
        )
        return replace(call, key=key, value=value)


@dataclass(frozen=True, kw_only=True)
class QuantisedCache(Change):
    """Keys and values rounded as in a cache of few bits, with one scale per token and head."""

    bits: int

    def __post_init__(self) -> None:
        if self.bits < 2:
            raise ValueError(f"{self.bits} bits cannot tell more from less: 2 are the fewest")

    def change_inputs(self, call: AttentionCall) -> AttentionCall:
        return replace(call, key=self.quantise(call.key), value=self.quantise(call.value))

    def quantise(self, numbers: Tensor) -> Tensor:
        """Round to whole steps, the same number on each side of 0."""
        steps = 2 ** (self.bits - 1) - 1
        step = numbers.abs().amax(dim=-1, keepdim=True).clamp(min=1e-12) / steps
        return (numbers / step).round() * step


def replace_weights(call: AttentionCall, result: Attention, weights: Tensor) -> Attention:
    """Keep the scores, take other weights, and compute the output that they give."""
    return Attention(result.scores, weights, weights @ repeat_kv_heads(call.query, call.value))


def narrow_mask(call: AttentionCall, rule: masks.Rule) -> AttentionCall:
    """Forbid in addition what a rule forbids."""
    allowed = masks.build(rule, *call.mask.shape[-2:]).to(call.mask.device)
    return replace(call, mask=call.mask & allowed)


MOST_TOKENS = 256
"""A longer text would need too much memory: each token has a row over the whole vocabulary."""
MOST_NEXT_TOKENS = 5
"""The likeliest next tokens that are listed of each of the two models."""


class HeadCounts(NamedTuple):
    """The number of query heads and of KV heads, layer by layer; and d_k, as the model has it."""

    num_heads: tuple[int, ...]
    num_kv_heads: tuple[int, ...]
    head_dim: int


class Effect(NamedTuple):
    """One text read by a model as it is and by the same model with changes.

    `losses` of both, in nats, for every token but the first; `divergences`, in nats, between both
    predictions after every token; `next_tokens` has the likeliest continuations with the
    probability that each of the two gives them.
    """

    tokens: tuple[str, ...]
    losses: tuple[list[float], list[float]]
    divergences: list[float]
    next_tokens: list[tuple[str, float, float]]

    @property
    def mean_losses(self) -> tuple[float, float]:
        """The mean loss per token of both models; 0 for a text of one token."""
        before, after = (sum(losses) / max(1, len(losses)) for losses in self.losses)
        return before, after


def count_heads(real_model: "RealModel") -> HeadCounts:
    """Count the heads in a run on three tokens; refuse a model that predicts no next token."""
    if real_model.model.config.is_encoder_decoder:
        raise ModelError(
            "{model} has an encoder and a decoder: what it says depends on another text. "
            "This page changes models that go on with one text.",
            model=real_model.name,
        )
    ids = torch.arange(3, device=real_model.model.device)[None]
    output, layers = run_model(real_model.model, input_ids=ids)
    if "logits" not in output or any(layer.mask[0, 0].triu(1).any() for layer in layers):
        raise ModelError(
            "{model} is an encoder: it reads a whole text in both directions and does not "
            "say which token comes next, so there is no loss to compare.",
            model=real_model.name,
        )
    return HeadCounts(
        tuple(layer.query.shape[1] for layer in layers),
        tuple(layer.key.shape[1] for layer in layers),
        layers[0].query.shape[-1],
    )


def measure_effect(real_model: "RealModel", text: str, changes: Sequence[Change]) -> Effect:
    """Read a text with the model as it is, and with the changes."""
    ids, tokens = tokenise_text(real_model, text, MOST_TOKENS)
    before = compute_log_probabilities(real_model, ids)
    after = compute_log_probabilities(real_model, ids, changes)
    last_before, last_after = before[0, -1].exp(), after[0, -1].exp()
    count = min(MOST_NEXT_TOKENS, before.shape[-1])
    candidates = [one[0, -1].topk(count).indices.tolist() for one in (before, after)]
    next_tokens = [
        (spell_token(real_model.tokenizer, one), float(last_before[one]), float(last_after[one]))
        for one in dict.fromkeys([*candidates[0], *candidates[1]])
    ]
    losses = compute_losses(before, ids)[0].tolist(), compute_losses(after, ids)[0].tolist()
    return Effect(tokens, losses, compute_divergence(before, after)[0].tolist(), next_tokens)


def compute_log_probabilities(
    real_model: "RealModel", ids: Tensor, changes: Sequence[Change] = (), last: int = 0
) -> Tensor:
    """Log-probabilities of the token after each token (batch, tokens, vocabulary).

    With `last`, after so many tokens at the end only.
    """
    given = {"input_ids": ids, "use_cache": False} | ({"logits_to_keep": last} if last else {})
    output, _ = run_model(real_model.model, changes=changes, record=lambda _: None, **given)
    log_probabilities: Tensor = output.logits.float().log_softmax(dim=-1)
    return log_probabilities


def compute_losses(log_probabilities: Tensor, ids: Tensor) -> Tensor:
    """−ln of the probability of every token but the first (batch, tokens - 1), in nats."""
    return -log_probabilities[:, :-1].gather(-1, ids[:, 1:, None])[..., 0]


def compute_divergence(before: Tensor, after: Tensor) -> Tensor:
    """KL(before ‖ after) after each token (batch, tokens), in nats: 0 where both agree."""
    return (before.exp() * (before - after)).sum(dim=-1)


LENGTH, SCORED, NUM_TEXTS = 256, 128, 8
"""Tokens of a text, of which the last are predicted for the loss; and how many texts."""
GROUP = 32
"""Numbers that share a step, as KIVI (Liu et al. 2024) has it."""
FEWEST_SINKS, ROWS, FEWER_ROWS = 4, 64, 32
BITS = 8, 4, 2
SCALE_BITS = 32
"""A group's step and its lowest number, in 16 bits each."""


@dataclass(frozen=True, kw_only=True)
class RoundedRows(Change):
    """Keys or values kept in few bits: groups within a token, or within a channel.

    With `longest`, the base of RoPE, keys are rounded as they were before they were turned.
    """

    part: Literal["key", "value"]
    bits: int
    is_in_channels: bool
    longest: float | None = None

    def change_inputs(self, call: AttentionCall) -> AttentionCall:
        round_rows = round_in_channels if self.is_in_channels else round_in_tokens
        if self.part == "value":
            return replace(call, value=round_rows(call.value, self.bits, GROUP))
        if self.longest is None:
            return replace(call, key=round_rows(call.key, self.bits, GROUP))
        places = torch.arange(call.key.shape[-2], device=call.key.device)
        angle = angles(places, call.key.shape[-1], self.longest)
        before = round_rows(rotate_halves(call.key, -angle), self.bits, GROUP)
        return replace(call, key=rotate_halves(before, angle))


FULL, RING, SINKS = "full", "ring", "ring and sinks"
SHORT_RING, SHORT_SINKS = "short ring", "short ring and sinks"
KEYS, VALUES = "keys", "values"
TOKEN, CHANNEL, BEFORE = "token", "channel", "channel before RoPE"


def name_rounding(part: str, way: str, bits: int) -> str:
    """As the file of losses has it."""
    return f"{part} {way} {bits}"


def measure_text(loaded: "RealModel", ids: Tensor, changes: Sequence[Change]) -> float:
    """The mean loss of the last tokens of one text, ids (1, tokens), in nats per token."""
    said = compute_log_probabilities(loaded, ids, changes, last=SCORED + 1)
    return float(compute_losses(said, ids[:, -SCORED - 1 :]).mean())


def count_bits(bits: int) -> float:
    """What a number takes that is kept in so many bits, its share of the group's step included."""
    return bits + SCALE_BITS / GROUP
