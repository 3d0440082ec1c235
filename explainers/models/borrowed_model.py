"""A model of somebody else's with our attention inside for a moment, and then as it was."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from explainers.models.attention_hook import install_or_refuse
from explainers.models.registry import ModelError, is_hub_id

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from explainers.models.load import RealModel

_IMPLEMENTATION = "_attn_implementation_internal"
"""Where a configuration keeps which attention its model runs."""
_CAPTURING = "_output_capturing_hooks_installed"
"""What marks a module as having the hooks by which transformers returns all attentions."""
_HOOKS = (
    *("_forward_pre_hooks", "_forward_pre_hooks_with_kwargs"),
    *("_forward_hooks", "_forward_hooks_with_kwargs", "_forward_hooks_always_called"),
)
"""Where torch keeps the functions that it calls before and after a module."""
_lock = threading.RLock()
"""Two threads with one model would each take the other's hook for the owner's attention."""


@contextmanager
def borrow_model(model: Any, tokenizer: "PreTrainedTokenizerBase") -> Iterator["RealModel"]:
    """Put our attention into a model, and afterwards, or after an error, its own back.

    The weights are never copied or changed. Compiled models and adapters are taken as what they
    wrap. Raises RefusedModelError, with the reason, for a model that cannot have ours.
    """
    owned = unwrap_model(model)
    with keep_model(owned):
        install_or_refuse(owned, describe_name(owned))
        yield describe_model(owned, tokenizer)


@contextmanager
def keep_model(owned: Any) -> Iterator[None]:
    """Whatever is done to a model inside, its weights apart, is undone afterwards."""
    with _lock:
        restore = _remember(owned)
        try:
            yield
        finally:
            restore()


def describe_model(owned: Any, tokenizer: "PreTrainedTokenizerBase") -> "RealModel":
    """A model of somebody else's as the app describes its own."""
    from explainers.models.load import RealModel  # a page that only draws needs no loading
    from explainers.models.model_files import find_context_length

    name = describe_name(owned)
    count = sum(parameter.numel() for parameter in owned.parameters())
    return RealModel(name, owned, tokenizer, name, count, find_context_length(owned, tokenizer))


def unwrap_model(model: Any) -> "PreTrainedModel":
    """The model of transformers inside `torch.compile` or an adapter; adapters stay in effect."""
    from transformers import PreTrainedModel

    inner = getattr(model, "_orig_mod", model)
    if not isinstance(inner, PreTrainedModel) and hasattr(inner, "get_base_model"):
        inner = inner.get_base_model()
    if not isinstance(inner, PreTrainedModel):
        kind = type(model).__name__
        raise ModelError("{kind} is not a model of the library transformers.", kind=kind)
    return inner


def describe_name(model: "PreTrainedModel") -> str:
    """What its owner loaded it by, else its class; of a folder only the last name.

    A report is sent to others, who need not know where their colleague's files are.
    """
    name = str(getattr(model.config, "_name_or_path", "") or type(model).__name__)
    return name if is_hub_id(name) else PurePath(name.replace("\\", "/")).name


def _remember(model: "PreTrainedModel") -> Callable[[], None]:
    """Keep all that a hook changes; returns what puts it back."""
    modules = [(one, one.training, one.__dict__.get("forward")) for one in model.modules()]
    unmarked = [one for one in model.modules() if _CAPTURING not in one.__dict__]
    hooks = [
        (one.__dict__[name], dict(one.__dict__[name])) for one, *_ in modules for name in _HOOKS
    ]
    configs = [(one, one.__dict__.get(_IMPLEMENTATION)) for one in _list_configs(model)]

    def restore() -> None:
        for module, is_training, forward in modules:
            module.training = is_training
            if forward is None:
                module.__dict__.pop("forward", None)
            else:
                module.__dict__["forward"] = forward
        for current, owners in hooks:  # the same dictionaries: handles of the owner point to them
            current.clear()
            current.update(owners)
        for module in unmarked:
            module.__dict__.pop(_CAPTURING, None)
        for config, implementation in configs:
            config.__dict__[_IMPLEMENTATION] = implementation

    return restore


def _list_configs(model: torch.nn.Module) -> list[Any]:
    """Every configuration in a model, also those inside others, each once."""
    from transformers import PreTrainedConfig

    found: dict[int, Any] = {}
    waiting = [getattr(module, "config", None) for module in model.modules()]
    while waiting:
        config = waiting.pop()
        if isinstance(config, PreTrainedConfig) and id(config) not in found:
            found[id(config)] = config
            waiting += [getattr(config, name, None) for name in config.sub_configs]
    return list(found.values())


def make_inputs(model: Any, ids: Tensor) -> dict[str, Any]:
    """What a model wants besides the ids (1, tokens): a decoder begins with its first token."""
    given = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    if model.config.is_encoder_decoder:
        given["decoder_input_ids"] = ids.new_full((1, 1), model.config.decoder_start_token_id or 0)
    return given
