"""Ways to change the attention of a real model for one run, given to `run` as `changes`.

Each may name its `layers`; None stands for all.
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
    """Products of queries and keys divided by a temperature: below 1 sharper, above 1 flatter."""

    temperature: float

    def __post_init__(self) -> None:
        if not self.temperature > 0:
            raise ValueError(f"a temperature is above 0, and {self.temperature} is not")

    def change_inputs(self, call: AttentionCall) -> AttentionCall:
        return replace(call, query=call.query / self.temperature)


@dataclass(frozen=True)
class NoScaling(Change):
    """Scores that are not divided by √d_k."""

    def change_inputs(self, call: AttentionCall) -> AttentionCall:
        return replace(call, query=call.query * math.sqrt(call.query.shape[-1]))


@dataclass(frozen=True, kw_only=True)
class Window(Change):
    """A token sees itself, the `width - 1` before it, and the first `sinks` of the text."""

    width: int
    sinks: int = 0

    def change_inputs(self, call: AttentionCall) -> AttentionCall:
        near = masks.sliding_window(self.width)
        kept = masks.Rule(lambda query, key: (key < self.sinks) | near(query, key))
        return narrow_mask(call, kept)


@dataclass(frozen=True)
class HiddenFirstToken(Change):
    """Nobody sees the first token but itself: without it its own row would have nothing."""

    def change_inputs(self, call: AttentionCall) -> AttentionCall:
        later = masks.Rule(lambda query, key: (key > 0) | (key == query))
        return narrow_mask(call, later)


@dataclass(frozen=True)
class NoCausalMask(Change):
    """Every token sees every other, the later ones too; padding stays unseen."""

    def change_inputs(self, call: AttentionCall) -> AttentionCall:
        anyone = call.mask.any(dim=-2, keepdim=True)
        return replace(call, mask=anyone.expand_as(call.mask))


@dataclass(frozen=True, kw_only=True)
class AblatedHeads(Change):
    """The output of some heads put to 0, each named by its layer and its number."""

    heads: frozenset[tuple[int, int]]

    def change_result(self, call: AttentionCall, step: Attention) -> Attention:
        off = [head for layer, head in self.heads if layer == call.layer_index]
        have = step.output.shape[1]
        if not all(0 <= head < have for head in off):
            raise ValueError(
                f"layer {call.layer_index} has {have} heads, counted from 0: not {max(off)}"
            )
        silent = torch.zeros(have, dtype=torch.bool, device=step.output.device)
        silent[off] = True
        return step._replace(output=step.output.masked_fill(silent[:, None, None], 0.0))


@dataclass(frozen=True)
class UniformWeights(Change):
    """The same weight for each token that may be seen."""

    def change_result(self, call: AttentionCall, step: Attention) -> Attention:
        seen = call.mask.expand_as(step.weights).to(step.weights.dtype)
        return replace_weights(call, step, seen / seen.sum(dim=-1, keepdim=True).clamp(min=1))


@dataclass(frozen=True)
class HardAttention(Change):
    """All weight on the largest (argmax)."""

    def change_result(self, call: AttentionCall, step: Attention) -> Attention:
        best = step.weights.argmax(dim=-1, keepdim=True)
        return replace_weights(call, step, torch.zeros_like(step.weights).scatter(-1, best, 1.0))


@dataclass(frozen=True, kw_only=True)
class FewerKVHeads(Change):
    """Neighbouring KV heads averaged into fewer, as GQA is started from a trained model."""

    num_kv_heads: int

    def change_inputs(self, call: AttentionCall) -> AttentionCall:
        have = call.key.shape[1]
        if self.num_kv_heads < 1 or have % self.num_kv_heads:
            raise ValueError(f"{have} KV heads cannot be averaged into {self.num_kv_heads}")
        key, value = (
            torch.stack(heads.chunk(self.num_kv_heads, dim=1)).mean(dim=2).transpose(0, 1)
            for heads in (call.key, call.value)
        )
        return replace(call, key=key, value=value)


@dataclass(frozen=True, kw_only=True)
class QuantisedCache(Change):
    """Keys and values as a cache of few bits gives them back: one scale per token and head."""

    bits: int

    def __post_init__(self) -> None:
        if self.bits < 2:
            raise ValueError(f"{self.bits} bits cannot tell more from less: 2 are the fewest")

    def change_inputs(self, call: AttentionCall) -> AttentionCall:
        return replace(call, key=self.quantise(call.key), value=self.quantise(call.value))

    def quantise(self, numbers: Tensor) -> Tensor:
        """To whole steps, as many on each side of 0."""
        steps = 2 ** (self.bits - 1) - 1
        step = numbers.abs().amax(dim=-1, keepdim=True).clamp(min=1e-12) / steps
        return (numbers / step).round() * step


def narrow_mask(call: AttentionCall, rule: masks.Rule) -> AttentionCall:
    """The mask and a rule on top of it."""
    seen = masks.build(rule, *call.mask.shape[-2:]).to(call.mask.device)
    return replace(call, mask=call.mask & seen)
