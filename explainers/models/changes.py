"""Changes of a real model's attention, to be passed to `run_model` for one run.

Each may be limited to some `layers`; None stands for all.
"""

import math
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from explainers.attention import masks
from explainers.attention.scaled_dot_product import Attention
from explainers.models.attention_hook import AttentionCall, Change, replace_weights


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


def narrow_mask(call: AttentionCall, rule: masks.Rule) -> AttentionCall:
    """Forbid in addition what a rule forbids."""
    allowed = masks.build(rule, *call.mask.shape[-2:]).to(call.mask.device)
    return replace(call, mask=call.mask & allowed)
