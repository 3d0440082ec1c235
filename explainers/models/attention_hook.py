"""Our attention inside a real model: what it calls in place of its own, and what was recorded."""

import math
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from explainers.attention.alibi import biased_attention
from explainers.attention.grouped_query import share
from explainers.attention.scaled_dot_product import Attention, attention
from explainers.attention.sinks import attention_with_sinks
from explainers.attention.softcap import capped_attention
from explainers.messages import N_


@dataclass(frozen=True)
class Call:
    """What a layer hands to attention.

    query (batch, heads, q_len, head_dim), key (batch, kv_heads, kv_len, head_dim),
    value (batch, kv_heads, kv_len, value_dim), mask boolean (batch, 1, q_len, kv_len). A model
    that does not divide its scores by √d_k has in its queries what makes up for it.
    """

    kind: str
    """One of "self", "encoder", "cross"; in an encoder-decoder, "self" is the decoder's own."""
    number: int
    """Of the layer, counted from 0."""
    window: int | None
    """How many tokens a local layer sees, as the mask has it already."""
    function: Callable[[Tensor, Tensor, Tensor, Tensor], Attention]
    """Of explainers.attention: `attention`, or the one for what this model adds to it."""
    query: Tensor
    key: Tensor
    value: Tensor
    mask: Tensor


@dataclass(frozen=True)
class Layer(Call):
    """A call and what was computed: scores and weights (batch, heads, q_len, kv_len)."""

    scores: Tensor
    weights: Tensor
    output: Tensor


@dataclass(frozen=True)
class Change:
    """A change of a model's self-attention, in some layers; None stands for all."""

    layers: frozenset[int] | None = None

    def concerns(self, call: Call) -> bool:
        """Is it one of the layers? An encoder and cross-attention stay as they are."""
        return call.kind == "self" and (self.layers is None or call.number in self.layers)

    def before(self, call: Call) -> Call:
        """Change what goes in: queries, keys, values, the mask."""
        return call

    def after(self, call: Call, step: Attention) -> Attention:
        """Change what came out; whoever changes weights mixes the values again."""
        return step


def attended(call: Call) -> Attention:
    """Compute it; each KV head serves its group of query heads."""
    key, value = shared(call.query, call.key), shared(call.query, call.value)
    # A query of padding has nothing to look at (0/0): it sees all, and nobody reads its row.
    mask = call.mask | ~call.mask.any(dim=-1, keepdim=True)
    return call.function(call.query, key, value, mask)


def mixed(call: Call, step: Attention, weights: Tensor) -> Attention:
    """The same scores with other weights, and the output that these give."""
    return Attention(step.scores, weights, weights @ shared(call.query, call.value))


def shared(query: Tensor, tensor: Tensor) -> Tensor:
    """The keys or values of each query head; where no heads share, no copy is made."""
    group_size = query.shape[1] // tensor.shape[1]
    return tensor if group_size == 1 else share(tensor, group_size)


CROSS = {"encoder_attn", "EncDecAttention", "crossattention"}
"""What models call their decoder's attention on the encoder."""

ADDED: dict[str, tuple[Callable[..., Attention], str]] = {
    "softcap": (capped_attention, "cap"),
    "s_aux": (attention_with_sinks, "sink"),
    "position_bias": (biased_attention, "bias"),
}
"""What a model may add to attention, as transformers calls it: our function and its argument."""

NO_ARITHMETIC = {
    *("cache_position", "is_causal", "output_attentions", "output_hidden_states"),
    *("position_ids", "return_dict", "sliding_window", "use_cache"),
}
"""What models also hand over and what changes no weight: the mask has all of it."""


@dataclass
class Running:
    """One run of one visitor."""

    names: dict[nn.Module, str]
    encoder_decoder: bool
    changes: Sequence[Change]
    read: Callable[[Layer], Any]
    layers: list[Any] = field(default_factory=list)


now: ContextVar[Running | None] = ContextVar("now", default=None)
"""The run of this thread: each visitor has a thread, and all share a model."""


def attend(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    **extra: Any,
) -> tuple[Tensor, Tensor]:
    """What a model calls in place of its own attention; it wants heads behind positions."""
    running = now.get()
    kind, number = place(module, running) if running else ("self", 0)
    function, window = function_for(module, extra), extra.get("sliding_window")
    seen = checked(module, query, key, attention_mask)
    call = Call(kind, number, window, function, scaled(query, scaling), key, value, seen)
    changes = [c for c in running.changes if c.concerns(call)] if running else []
    for change in changes:
        call = change.before(call)
    step = attended(call)
    for change in changes:
        step = change.after(call, step)
    if running:
        running.layers.append(running.read(Layer(**vars(call), **step._asdict())))
    return step.output.transpose(1, 2).contiguous(), step.weights


def place(module: nn.Module, running: Running) -> tuple[str, int]:
    """Which attention this is: its kind, and the number of its layer."""
    parts = running.names[module].split(".")
    kind = "encoder" if running.encoder_decoder and "encoder" in parts else "self"
    return "cross" if CROSS & set(parts) else kind, int(next(filter(str.isdigit, parts)))


def function_for(module: nn.Module, extra: dict[str, Any]) -> Callable[..., Attention]:
    """Which of our functions does all that this model does."""
    asked = {name: given for name, given in extra.items() if isinstance(given, Tensor) or given}
    added = [name for name in ADDED if name in asked]
    if len(added) > 1 or set(asked) - set(added) - NO_ARITHMETIC:
        more = ", ".join(sorted(set(asked) - NO_ARITHMETIC))
        raise ValueError(
            N_(
                "{kind} does more than our functions do: {more}",
                kind=type(module).__name__,
                more=more,
            )
        )
    if not added:
        return attention
    function, argument = ADDED[added[0]]
    return partial(function, **{argument: asked[added[0]]})


def scaled(query: Tensor, scaling: float | None) -> Tensor:
    """Our function divides by √d_k; what a model does instead goes into its queries."""
    factor = 1.0 if scaling is None else scaling * math.sqrt(query.shape[-1])
    return query if math.isclose(factor, 1.0) else query * factor


def checked(module: nn.Module, query: Tensor, key: Tensor, given: Tensor | None) -> Tensor:
    """A mask of True and False; one is made only where a model has none at all."""
    if given is None and not (getattr(module, "is_causal", False) and query.shape[2] > 1):
        size = (1, 1, query.shape[2], key.shape[2])
        return torch.ones(size, dtype=torch.bool, device=query.device)
    if given is None or given.dtype != torch.bool:
        raise ValueError(
            N_("{kind} makes a mask of its own, which ours cannot read", kind=type(module).__name__)
        )
    return given


def mask(*arguments: Any, **named: Any) -> Tensor | None:
    """Transformers' own boolean mask, never replaced by a flag."""
    from transformers.masking_utils import sdpa_mask

    named |= {"allow_is_causal_skip": False, "allow_is_bidirectional_skip": False}
    return sdpa_mask(*arguments, **named)
