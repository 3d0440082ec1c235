"""A model in memory with our attention in it, the same for all visitors.

Safetensors only, and never code from outside.
"""

import gc
import json
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explainers.messages import N_, get_message
from explainers.models import free_memory
from explainers.models.attention_hook import install_hook
from explainers.models.fetch import SOURCE_FILE
from explainers.models.model_files import check_folder, find_context_length, load_parts
from explainers.models.registry import ModelError, resolve_folder

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

MOST_LOADED = 3
"""Models in memory at a time; the one that was used longest ago makes room."""


@dataclass(frozen=True, eq=False)
class RealModel:
    """A model with its tokenizer; `context` is the most tokens it can read, if it says so."""

    name: str
    model: "PreTrainedModel"
    tokenizer: "PreTrainedTokenizerBase"
    provenance: str
    num_parameters: int
    context_length: int | None
    feature_extractor: Any = None
    """What makes of sound what a model that hears was trained on."""


_models: dict[Path, RealModel] = {}
_load_lock, _models_lock = threading.Lock(), threading.Lock()
"""Two visitors who want the same model get one copy; a model that is here waits for no other."""


def is_on_disk(name: str) -> bool:
    """Is it on this machine?"""
    return resolve_folder(name).is_dir()


def load_model(name: str) -> RealModel:
    """A model of this machine, by its id or its folder; raises what is wrong with it."""
    folder = resolve_folder(name)
    real_model = _touch(folder)
    if real_model:
        return real_model
    with _load_lock:
        real_model = _touch(folder) or _load_from_disk(name, folder)
        with _models_lock:
            _models[folder] = real_model
        _unload(list(_models)[:-MOST_LOADED])
    return real_model


def find_loaded_model(name: str) -> RealModel | None:
    """The model if it is in memory already: nobody has to wait for it."""
    return _touch(resolve_folder(name))


def _touch(folder: Path) -> RealModel | None:
    """A model that is in memory, which now is the one used last."""
    with _models_lock:
        real_model = _models.pop(folder, None)
        if real_model:
            _models[folder] = real_model
        return real_model


def _unload(folders: list[Path]) -> None:
    """Free the memory of these models; whoever still draws with one keeps it until then."""
    with _models_lock:
        for folder in folders:
            _models.pop(folder, None)
    if folders:
        gc.collect()  # parts of a model refer to each other; the server collects nothing by itself


def _load_from_disk(name: str, folder: Path) -> RealModel:
    if not folder.is_dir():
        raise ModelError(N_("{model} is not on this machine yet.", model=name))
    checked = check_folder(folder)
    while (
        _models
        and free_memory.estimate_bytes(checked.num_parameters) > free_memory.measure_free_bytes()
    ):
        _unload(list(_models)[:1])
    free_memory.require_memory(name, checked.num_parameters)
    parts = load_parts(name, folder, checked)
    try:
        install_hook(parts.model)
    except ValueError as error:
        raise ModelError(N_("{model}: {error}", model=name, error=get_message(error))) from error
    provenance = _describe_source(name, folder)
    context_length = find_context_length(parts.model, parts.tokenizer)
    return RealModel(
        name,
        parts.model,
        parts.tokenizer,
        provenance,
        checked.num_parameters,
        context_length,
        parts.feature_extractor,
    )


def _describe_source(name: str, folder: Path) -> str:
    """Whose numbers these are."""
    source = folder / SOURCE_FILE
    if not source.exists():
        return N_("{model}, from a folder", model=name)
    origin = json.loads(source.read_text(encoding="utf-8"))["from"]
    return N_("{model}, from {source}", model=name, source=origin)
