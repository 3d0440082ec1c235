"""Our attention inside a real model: put in, run, and recorded layer by layer.

>>> query, key = torch.zeros(1, 4, 2, 8), torch.zeros(1, 2, 2, 8)  # (batch, heads, tokens, d_k)
>>> repeat_kv_heads(query, key).shape
torch.Size([1, 4, 2, 8])
"""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor, nn

from explainers.attention.bounded_scores import capped_attention
from explainers.attention.grouped_query import share
from explainers.attention.position_bias import biased_attention
from explainers.attention.scaled_dot_product import Attention, attention
from explainers.attention.sinks_and_gates import attention_with_sinks
from explainers.messages import InputError, get_message
from explainers.models.registry import RefusedModelError
from explainers.models.replaced_methods import find_replacement, replace_methods

if TYPE_CHECKING:
    from transformers import PreTrainedModel


@dataclass
class ActiveRun:
    """The run that is under way in this thread, and what it has recorded so far."""

    module_names: dict[nn.Module, str]
    is_encoder_decoder: bool
    changes: Sequence[Any]
    record: Callable[[Any], Any]
    layers: list[Any] = field(default_factory=list)
    foreign_classes: list[str] = field(default_factory=list)
    """Classes of the attention modules that have run without calling our function."""
    masks: list[Tensor] = field(default_factory=list)
    """The masks that were made for the model: what it passes on must be one of them."""
    counts_before: list[int] = field(default_factory=list)
    """For each attention module that is running, outermost first: what was counted before it."""

    def count_attentions(self) -> int:
        """How many attentions were computed so far, by our function or by another one."""
        return len(self.layers) + len(self.foreign_classes)

    def has_made(self, mask: Tensor) -> bool:
        """Is this one of the masks that were made in this run, or one that forbids more?

        A model that reads numbers to be added into it would allow what none of them allows.
        """
        return any(
            mask.shape[-2:] == made.shape[-2:] and not (mask & ~made.to(mask.device)).any()
            for made in self.masks
        )


active_run: ContextVar[ActiveRun | None] = ContextVar("active_run", default=None)
"""Visitors share a model, and each has a thread: so the run belongs to the thread."""
_ATTENTION = re.compile("Attention|Attn|MLA")
"""What the classes of transformers that attend are called."""


def watch_attention(model: "PreTrainedModel") -> bool:
    """Have every attention module of a model counted, each time that it runs in an active run.

    Not in layers of linear attention: they have no weights that a function of ours could compute.
    False if there is nothing to count.
    """
    linear_layers = find_linear_layers(model)
    attentions = [
        module
        for name, module in model.named_modules()
        if _ATTENTION.search(type(module).__name__) and find_layer_index(name) not in linear_layers
    ]
    for module in attentions:
        if _note_end not in module._forward_hooks.values():
            module.register_forward_pre_hook(_note_start)
            module.register_forward_hook(_note_end)
    return bool(attentions)


def find_linear_layers(model: "PreTrainedModel") -> set[int]:
    """The layers that a model's configuration calls linear: a recurrence, not a softmax."""
    config = model.config.get_text_config(decoder=True)
    kinds = getattr(config, "layer_types", None) or getattr(config, "layers_block_type", None)
    return {index for index, kind in enumerate(kinds or ()) if kind == "linear_attention"}


def find_layer_index(module_name: str) -> int | None:
    """The first number in a module's name; None outside the layers."""
    return next((int(part) for part in module_name.split(".") if part.isdigit()), None)


def _note_start(*_: Any) -> None:
    run = active_run.get()
    if run:
        run.counts_before.append(run.count_attentions())


def _note_end(module: nn.Module, *_: Any) -> None:
    """Where nothing was counted inside, neither by a module within, it attended by itself."""
    run = active_run.get()
    if run and run.counts_before.pop() == run.count_attentions():
        run.foreign_classes.append(type(module).__name__)


@dataclass(frozen=True)
class AttentionCall:
    """What one attention layer of a model passes to its attention function.

    query (batch, heads, q_len, head_dim), key (batch, kv_heads, kv_len, head_dim),
    value (batch, kv_heads, kv_len, value_dim), mask boolean (batch, 1, q_len, kv_len). Where a
    model scales its scores by another factor than 1/√d_k, the query is multiplied by the ratio.
    """

    kind: str
    """One of "self", "encoder", "cross"; in an encoder–decoder, "self" is the decoder's."""
    layer_index: int
    """Counted from 0."""
    window: int | None
    """How many tokens a local layer sees; the mask already says the same."""
    function: Callable[[Tensor, Tensor, Tensor, Tensor], Attention]
    """One of explainers.attention: `attention`, or a variant for a model that adds a term."""
    query: Tensor
    key: Tensor
    value: Tensor
    mask: Tensor


@dataclass(frozen=True)
class RecordedAttention(AttentionCall):
    """A call with its result: scores and weights (batch, heads, q_len, kv_len)."""

    scores: Tensor
    weights: Tensor
    output: Tensor


@dataclass(frozen=True)
class Change:
    """A change of a model's self-attention in some layers; None stands for all of them."""

    layers: frozenset[int] | None = None

    def applies_to(self, call: AttentionCall) -> bool:
        """Is this self-attention in one of the layers? Encoder and cross-attention never change."""
        return call.kind == "self" and (self.layers is None or call.layer_index in self.layers)

    def change_inputs(self, call: AttentionCall) -> AttentionCall:
        """Return the call with other queries, keys, values or another mask."""
        return call

    def change_result(self, call: AttentionCall, result: Attention) -> Attention:
        """Return another result; a change of the weights also needs a new output."""
        return result


def compute_changed(
    call: AttentionCall, changes: Sequence[Change]
) -> tuple[AttentionCall, Attention]:
    """The call as the changes that apply to it leave it, one after the other, and its result."""
    made = [change for change in changes if change.applies_to(call)]
    for change in made:
        call = change.change_inputs(call)
    key, value = repeat_kv_heads(call.query, call.key), repeat_kv_heads(call.query, call.value)
    # A padding query may attend to nothing (0/0): let it attend to all, its row is never read.
    mask = call.mask | ~call.mask.any(dim=-1, keepdim=True)
    result = call.function(call.query, key, value, mask)
    for change in made:
        result = change.change_result(call, result)
    return call, result


def repeat_kv_heads(query: Tensor, tensor: Tensor) -> Tensor:
    """Give every query head its keys or values; without sharing, nothing is copied."""
    group_size = query.shape[1] // tensor.shape[1]
    return tensor if group_size == 1 else share(tensor, group_size)


CROSS_ATTENTION_NAMES = {"encoder_attn", "EncDecAttention", "crossattention"}
"""What models call the decoder's attention to the encoder."""

EXTRA_TERMS: dict[str, tuple[Callable[..., Attention], str]] = {
    "softcap": (capped_attention, "cap"),
    "s_aux": (attention_with_sinks, "sink"),
    "position_bias": (biased_attention, "bias"),
}
"""Extra terms by transformers' argument name: our function for each, and its argument."""

IGNORED_ARGUMENTS = {
    *("cache_position", "is_causal", "output_attentions", "output_hidden_states"),
    *("position_ids", "return_dict", "sliding_window", "use_cache"),
}
"""Arguments that change no weight: the mask already contains their effect."""


def attend(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    **extra_arguments: Any,
) -> tuple[Tensor, Tensor]:
    """The function that a model calls instead of its own; it expects positions before heads."""
    run = active_run.get()
    kind, layer_index = locate_layer(module, run) if run else ("self", 0)
    indices = extra_arguments.pop("indices", None)
    function = choose_function(module, extra_arguments)
    mask = require_boolean_mask(module, query, key, attention_mask)
    if indices is not None:  # the keys that an indexer chose for each query
        chosen = torch.zeros(*indices.shape[:2], key.shape[2], dtype=torch.bool, device=key.device)
        mask = mask & chosen.scatter(-1, indices.long(), True)[:, None]
    dtype, window = value.dtype, extra_arguments.get("sliding_window")
    query, key, value = scale_query(widen(query), scaling), widen(key), widen(value)
    call = AttentionCall(kind, layer_index, window, function, query, key, value, mask)
    call, result = compute_changed(call, run.changes if run else ())
    if run:
        run.layers.append(run.record(RecordedAttention(**vars(call), **result._asdict())))
    return result.output.to(dtype).transpose(1, 2).contiguous(), result.weights


def locate_layer(module: nn.Module, run: ActiveRun) -> tuple[str, int]:
    """The kind of this attention module, and the index of its layer."""
    parts = run.module_names[module].split(".")
    kind = "encoder" if run.is_encoder_decoder and "encoder" in parts else "self"
    kind = "cross" if CROSS_ATTENTION_NAMES & set(parts) else kind
    return kind, find_layer_index(run.module_names[module]) or 0


def choose_function(module: nn.Module, extra_arguments: dict[str, Any]) -> Callable[..., Attention]:
    """The attention function of ours that has every term of this model."""
    arguments = {n: a for n, a in extra_arguments.items() if isinstance(a, Tensor) or a}
    terms = [name for name in EXTRA_TERMS if name in arguments]
    if len(terms) > 1 or set(arguments) - set(terms) - IGNORED_ARGUMENTS:
        more = ", ".join(sorted(set(arguments) - IGNORED_ARGUMENTS))
        raise InputError(
            "{kind} does more than our functions do: {more}", kind=type(module).__name__, more=more
        )
    if not terms:
        return attention
    function, argument = EXTRA_TERMS[terms[0]]
    return partial(function, **{argument: arguments[terms[0]]})


def scale_query(query: Tensor, scaling: float | None) -> Tensor:
    """Our function divides by √d_k: multiply the queries by what a model does instead."""
    factor = 1.0 if scaling is None else scaling * math.sqrt(query.shape[-1])
    return query if math.isclose(factor, 1.0) else query * factor


def widen(tensor: Tensor) -> Tensor:
    """float32 for float16, which ends at 65,504: products pass it before √d_k divides them."""
    return tensor.float() if tensor.dtype == torch.float16 else tensor


def require_boolean_mask(
    module: nn.Module, query: Tensor, key: Tensor, mask: Tensor | None
) -> Tensor:
    """The model's boolean mask, or one that allows everything where the model has none."""
    if mask is None and not (getattr(module, "is_causal", False) and query.shape[2] > 1):
        size = (1, 1, query.shape[2], key.shape[2])
        return torch.ones(size, dtype=torch.bool, device=query.device)
    if mask is None or mask.dtype != torch.bool:
        raise InputError(
            "{kind} makes a mask of its own, which ours cannot read", kind=type(module).__name__
        )
    run = active_run.get()
    if run and not find_replacement(module) and not run.has_made(mask):
        raise InputError(
            "{kind} allows what the mask that was made for it forbids: ours cannot tell why",
            kind=type(module).__name__,
        )
    return mask


def make_mask(*arguments: Any, **options: Any) -> Tensor | None:
    """Make transformers' boolean mask, never shortened to a flag."""
    from transformers.masking_utils import sdpa_mask

    options |= {"allow_is_causal_skip": False, "allow_is_bidirectional_skip": False}
    made = sdpa_mask(*arguments, **options)
    run = active_run.get()
    if run and made is not None:
        run.masks.append(made)
    return made


IMPLEMENTATION = "explained"
"""The name of our attention among the implementations that transformers knows."""


class ModelRun(NamedTuple):
    """The model's output, and what was recorded of every attention layer, in running order."""

    output: Any
    layers: list[Any]


def install_hook(model: "PreTrainedModel") -> None:
    """Replace a model's attention and mask by ours, for good, and turn off its dropout.

    Raises ValueError for a model that lets nobody replace its attention.
    """
    from transformers import AttentionInterface, AttentionMaskInterface, PreTrainedModel

    AttentionInterface.register(IMPLEMENTATION, attend)
    # Without a mask function the model would run with no mask at all.
    AttentionMaskInterface.register(IMPLEMENTATION, make_mask)
    if replace_methods(model, attend):
        model.config._attn_implementation = IMPLEMENTATION  # even these ask for the mask
    else:
        submodels = [one for one in model.modules() if isinstance(one, PreTrainedModel)]
        for submodel in submodels:
            if not submodel._can_set_attn_implementation():
                name = type(submodel).__name__
                raise InputError(
                    "{name} computes attention in its own class: ours cannot be put in", name=name
                )
        model.set_attn_implementation(IMPLEMENTATION)
    if not watch_attention(model):
        raise InputError(
            "{name} has no attention that ours could replace", name=type(model).__name__
        )
    model.train(False)


def install_or_refuse(model: Any, name: str) -> None:
    """Put our attention into a model; RefusedModelError, with its name, where it cannot be."""
    try:
        install_hook(model)
    except ValueError as error:
        why = get_message(error)
        raise RefusedModelError("{model}: {error}", model=name, error=why) from error


@contextmanager
def running(
    model: "PreTrainedModel",
    changes: Sequence[Change],
    record: Callable[[RecordedAttention], Any],
    masks: Sequence[Tensor],
) -> Iterator[ActiveRun]:
    """A run of a model, or of some of its layers; `masks` are the caller's own.

    Raises ValueError at its end if something attended without our function, or nothing did.
    """
    names = {module: name for name, module in model.named_modules()}
    run = ActiveRun(names, model.config.is_encoder_decoder, changes, record, masks=[*masks])
    token = active_run.set(run)
    try:
        yield run
    finally:
        active_run.reset(token)
    kind = type(model).__name__
    if run.foreign_classes:
        raise InputError(
            "{kind} attends outside our function, in {classes}: ours is not in all of it",
            kind=kind,
            classes=", ".join(sorted(set(run.foreign_classes))),
        )
    if not run.layers:
        raise InputError("{kind} never asked for attention: is ours in it?", kind=kind)


def run_model(
    model: "PreTrainedModel",
    *,
    changes: Sequence[Change] = (),
    record: Callable[[RecordedAttention], Any] = lambda attention: attention,
    **inputs: Any,
) -> ModelRun:
    """Run a model that has our attention, and record what each layer's attention computed.

    `record` may keep only a part, or one number: of a long text, all matrices of all layers would
    not fit in memory. `changes` are applied in this order, in this run only.
    Raises ValueError if the model does something that our functions do not.
    """
    mask = inputs.get("attention_mask")
    masks = [mask] if mask is not None and mask.dim() == 4 else []  # else one of padding
    with running(model, changes, record, masks) as run, torch.no_grad():
        output = model(**inputs)
    return ModelRun(output, run.layers)
