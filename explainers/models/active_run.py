"""The run of a real model in this thread: what is recorded, and what attended without ours.

>>> find_layer_index("model.layers.3.self_attn")
3
"""

import re
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from torch import Tensor, nn

from explainers.messages import InputError

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


def require_our_attention(run: ActiveRun, kind: str) -> None:
    """Raise ValueError unless something attended, and everything that did so called ours.

    `kind` is the model's class.
    """
    if run.foreign_classes:
        raise InputError(
            "{kind} attends outside our function, in {classes}: ours is not in all of it",
            kind=kind,
            classes=", ".join(sorted(set(run.foreign_classes))),
        )
    if not run.layers:
        raise InputError("{kind} never asked for attention: is ours in it?", kind=kind)
