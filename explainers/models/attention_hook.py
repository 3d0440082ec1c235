"""Our attention inside a real model: put in, run, and recorded layer by layer."""

import math
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor, nn

from explainers.attention.alibi import biased_attention
from explainers.attention.grouped_query import share
from explainers.attention.scaled_dot_product import Attention, attention
from explainers.attention.sinks import attention_with_sinks
from explainers.attention.softcap import capped_attention
from explainers.messages import N_
from explainers.models.unhooked_families import LAYER_FORWARDS

if TYPE_CHECKING:
    from transformers import PreTrainedModel


@dataclass(frozen=True)
class AttentionCall:
    """What a layer hands to attention.

    query (batch, heads, q_len, head_dim), key (batch, kv_heads, kv_len, head_dim),
    value (batch, kv_heads, kv_len, value_dim), mask boolean (batch, 1, q_len, kv_len). A model
    that does not divide its scores by √d_k has in its queries what makes up for it.
    """

    kind: str
    """One of "self", "encoder", "cross"; in an encoder-decoder, "self" is the decoder's own."""
    layer_index: int
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
class RecordedAttention(AttentionCall):
    """A call and what was computed: scores and weights (batch, heads, q_len, kv_len)."""

    scores: Tensor
    weights: Tensor
    output: Tensor


@dataclass(frozen=True)
class Change:
    """A change of a model's self-attention, in some layers; None stands for all."""

    layers: frozenset[int] | None = None

    def applies_to(self, call: AttentionCall) -> bool:
        """Is it one of the layers? An encoder and cross-attention stay as they are."""
        return call.kind == "self" and (self.layers is None or call.layer_index in self.layers)

    def change_inputs(self, call: AttentionCall) -> AttentionCall:
        """Change what goes in: queries, keys, values, the mask."""
        return call

    def change_result(self, call: AttentionCall, step: Attention) -> Attention:
        """Change what came out; whoever changes weights mixes the values again."""
        return step


def compute_attention(call: AttentionCall) -> Attention:
    """Compute it; each KV head serves its group of query heads."""
    key, value = repeat_kv_heads(call.query, call.key), repeat_kv_heads(call.query, call.value)
    # A query of padding has nothing to look at (0/0): it sees all, and nobody reads its row.
    mask = call.mask | ~call.mask.any(dim=-1, keepdim=True)
    return call.function(call.query, key, value, mask)


def replace_weights(call: AttentionCall, step: Attention, weights: Tensor) -> Attention:
    """The same scores with other weights, and the output that these give."""
    return Attention(step.scores, weights, weights @ repeat_kv_heads(call.query, call.value))


def repeat_kv_heads(query: Tensor, tensor: Tensor) -> Tensor:
    """The keys or values of each query head; where no heads share, no copy is made."""
    group_size = query.shape[1] // tensor.shape[1]
    return tensor if group_size == 1 else share(tensor, group_size)


CROSS_ATTENTION_NAMES = {"encoder_attn", "EncDecAttention", "crossattention"}
"""What models call their decoder's attention on the encoder."""

EXTRA_TERMS: dict[str, tuple[Callable[..., Attention], str]] = {
    "softcap": (capped_attention, "cap"),
    "s_aux": (attention_with_sinks, "sink"),
    "position_bias": (biased_attention, "bias"),
}
"""What a model may add to attention, as transformers calls it: our function and its argument."""

IGNORED_ARGUMENTS = {
    *("cache_position", "is_causal", "output_attentions", "output_hidden_states"),
    *("position_ids", "return_dict", "sliding_window", "use_cache"),
}
"""What models also hand over and what changes no weight: the mask has all of it."""


@dataclass
class ActiveRun:
    """One run of one visitor."""

    module_names: dict[nn.Module, str]
    is_encoder_decoder: bool
    changes: Sequence[Change]
    record: Callable[[RecordedAttention], Any]
    layers: list[Any] = field(default_factory=list)


active_run: ContextVar[ActiveRun | None] = ContextVar("now", default=None)
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
    running = active_run.get()
    kind, number = locate_layer(module, running) if running else ("self", 0)
    function, window = choose_function(module, extra), extra.get("sliding_window")
    seen = require_boolean_mask(module, query, key, attention_mask)
    call = AttentionCall(
        kind, number, window, function, scale_query(query, scaling), key, value, seen
    )
    changes = [c for c in running.changes if c.applies_to(call)] if running else []
    for change in changes:
        call = change.change_inputs(call)
    step = compute_attention(call)
    for change in changes:
        step = change.change_result(call, step)
    if running:
        running.layers.append(running.record(RecordedAttention(**vars(call), **step._asdict())))
    return step.output.transpose(1, 2).contiguous(), step.weights


def locate_layer(module: nn.Module, running: ActiveRun) -> tuple[str, int]:
    """Which attention this is: its kind, and the number of its layer."""
    parts = running.module_names[module].split(".")
    kind = "encoder" if running.is_encoder_decoder and "encoder" in parts else "self"
    return "cross" if CROSS_ATTENTION_NAMES & set(parts) else kind, int(
        next(filter(str.isdigit, parts))
    )


def choose_function(module: nn.Module, extra: dict[str, Any]) -> Callable[..., Attention]:
    """Which of our functions does all that this model does."""
    asked = {name: given for name, given in extra.items() if isinstance(given, Tensor) or given}
    added = [name for name in EXTRA_TERMS if name in asked]
    if len(added) > 1 or set(asked) - set(added) - IGNORED_ARGUMENTS:
        more = ", ".join(sorted(set(asked) - IGNORED_ARGUMENTS))
        raise ValueError(
            N_(
                "{kind} does more than our functions do: {more}",
                kind=type(module).__name__,
                more=more,
            )
        )
    if not added:
        return attention
    function, argument = EXTRA_TERMS[added[0]]
    return partial(function, **{argument: asked[added[0]]})


def scale_query(query: Tensor, scaling: float | None) -> Tensor:
    """Our function divides by √d_k; what a model does instead goes into its queries."""
    factor = 1.0 if scaling is None else scaling * math.sqrt(query.shape[-1])
    return query if math.isclose(factor, 1.0) else query * factor


def require_boolean_mask(
    module: nn.Module, query: Tensor, key: Tensor, given: Tensor | None
) -> Tensor:
    """A mask of True and False; one is made only where a model has none at all."""
    if given is None and not (getattr(module, "is_causal", False) and query.shape[2] > 1):
        size = (1, 1, query.shape[2], key.shape[2])
        return torch.ones(size, dtype=torch.bool, device=query.device)
    if given is None or given.dtype != torch.bool:
        raise ValueError(
            N_("{kind} makes a mask of its own, which ours cannot read", kind=type(module).__name__)
        )
    return given


def make_mask(*arguments: Any, **named: Any) -> Tensor | None:
    """Transformers' own boolean mask, never replaced by a flag."""
    from transformers.masking_utils import sdpa_mask

    named |= {"allow_is_causal_skip": False, "allow_is_bidirectional_skip": False}
    return sdpa_mask(*arguments, **named)


IMPLEMENTATION = "explained"
"""Ours, among the implementations of attention that transformers knows."""


class ModelRun(NamedTuple):
    """The model's own output, and every Layer in the order in which they ran, or what was read."""

    output: Any
    layers: list[Any]


def install_hook(model: "PreTrainedModel") -> None:
    """Put our function and our mask into a model, for good, and stop its dropout.

    Raises ValueError for a model that lets nobody replace its attention.
    """
    from transformers import AttentionInterface, AttentionMaskInterface, PreTrainedModel

    AttentionInterface.register(IMPLEMENTATION, attend)
    AttentionMaskInterface.register(
        IMPLEMENTATION, make_mask
    )  # without it the model runs with no mask at all
    outside = [module for module in model.modules() if type(module).__name__ in LAYER_FORWARDS]
    for part in model.modules():
        closed = isinstance(part, PreTrainedModel) and not part._can_set_attn_implementation()
        if closed and not outside:
            name = type(part).__name__
            raise ValueError(
                N_("{name} computes attention in its own class: ours cannot be put in", name=name)
            )
    for module in outside:
        module.forward = partial(LAYER_FORWARDS[type(module).__name__], attend, module)
    if outside:
        model.config._attn_implementation = IMPLEMENTATION  # for the mask, which even these ask for
    else:
        model.set_attn_implementation(IMPLEMENTATION)
    model.train(False)


def record_all(layer: RecordedAttention) -> RecordedAttention:
    """Keep all of it."""
    return layer


def run_model(
    model: "PreTrainedModel",
    *,
    changes: Sequence[Change] = (),
    read: Callable[[RecordedAttention], Any] = record_all,
    **inputs: Any,
) -> ModelRun:
    """Run a model that has our attention, and read what each layer's attention computed.

    `read` may take a part only, or one number: of a long text, all matrices of all layers would
    not fit in memory. `changes` are applied in this order, in this run and for nobody else.
    Raises ValueError if the model does something that our functions do not.
    """
    names = {module: name for name, module in model.named_modules()}
    running = ActiveRun(names, model.config.is_encoder_decoder, changes, read)
    token = active_run.set(running)
    try:
        with torch.no_grad():
            output = model(**inputs)
    finally:
        active_run.reset(token)
    if not running.layers:
        raise ValueError(
            N_("{kind} never asked for attention: is ours in it?", kind=type(model).__name__)
        )
    return ModelRun(output, running.layers)
