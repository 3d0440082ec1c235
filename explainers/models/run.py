"""Real models, run with our attention inside."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from explainers.messages import N_
from explainers.models.attention_hook import Change, Layer, Running, attend, mask, now
from explainers.models.unhooked_families import OUTSIDE

if TYPE_CHECKING:
    from transformers import PreTrainedModel

NAME = "explained"
"""Ours, among the implementations of attention that transformers knows."""


class Run(NamedTuple):
    """The model's own output, and every Layer in the order in which they ran, or what was read."""

    output: Any
    layers: list[Any]


def use_our_attention(model: "PreTrainedModel") -> None:
    """Put our function and our mask into a model, for good, and stop its dropout.

    Raises ValueError for a model that lets nobody replace its attention.
    """
    from transformers import AttentionInterface, AttentionMaskInterface, PreTrainedModel

    AttentionInterface.register(NAME, attend)
    AttentionMaskInterface.register(NAME, mask)  # without it the model runs with no mask at all
    outside = [module for module in model.modules() if type(module).__name__ in OUTSIDE]
    for part in model.modules():
        closed = isinstance(part, PreTrainedModel) and not part._can_set_attn_implementation()
        if closed and not outside:
            name = type(part).__name__
            raise ValueError(
                N_("{name} computes attention in its own class: ours cannot be put in", name=name)
            )
    for module in outside:
        module.forward = partial(OUTSIDE[type(module).__name__], attend, module)
    if outside:
        model.config._attn_implementation = NAME  # for the mask, which even these ask for
    else:
        model.set_attn_implementation(NAME)
    model.train(False)


def whole(layer: Layer) -> Layer:
    """Keep all of it."""
    return layer


def run(
    model: "PreTrainedModel",
    *,
    changes: Sequence[Change] = (),
    read: Callable[[Layer], Any] = whole,
    **inputs: Any,
) -> Run:
    """Run a model that has our attention, and read what each layer's attention computed.

    `read` may take a part only, or one number: of a long text, all matrices of all layers would
    not fit in memory. `changes` are applied in this order, in this run and for nobody else.
    Raises ValueError if the model does something that our functions do not.
    """
    names = {module: name for name, module in model.named_modules()}
    running = Running(names, model.config.is_encoder_decoder, changes, read)
    token = now.set(running)
    try:
        with torch.no_grad():
            output = model(**inputs)
    finally:
        now.reset(token)
    if not running.layers:
        raise ValueError(
            N_("{kind} never asked for attention: is ours in it?", kind=type(model).__name__)
        )
    return Run(output, running.layers)
