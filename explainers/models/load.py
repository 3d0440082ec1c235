"""A model in memory with our attention in it, the same for all visitors.

Safetensors only, and never code from outside.
"""

import gc
import json
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explainers.messages import N_, message_of
from explainers.models import free_memory
from explainers.models.fetch import SOURCE
from explainers.models.model_files import contents, context, parts
from explainers.models.registry import ModelError, place_of
from explainers.models.run import use_our_attention

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

MOST_KEPT = 3
"""Models in memory at a time; the one that was used longest ago makes room."""


@dataclass(frozen=True, eq=False)
class Loaded:
    """A model with its tokenizer; `context` is the most tokens it can read, if it says so."""

    name: str
    model: "PreTrainedModel"
    tokenizer: "PreTrainedTokenizerBase"
    provenance: str
    parameters: int
    context: int | None
    extractor: Any = None
    """What makes of sound what a model that hears was trained on."""


_kept: dict[Path, Loaded] = {}
_loading, _changing = threading.Lock(), threading.Lock()
"""Two visitors who want the same model get one copy; a model that is here waits for no other."""


def is_here(named: str) -> bool:
    """Is it on this machine?"""
    return place_of(named).is_dir()


def load(named: str) -> Loaded:
    """A model of this machine, by its id or its folder; raises what is wrong with it."""
    folder = place_of(named)
    found = _used(folder)
    if found:
        return found
    with _loading:
        found = _used(folder) or _load(named, folder)
        with _changing:
            _kept[folder] = found
        _give_up(list(_kept)[:-MOST_KEPT])
    return found


def kept(named: str) -> Loaded | None:
    """The model if it is in memory already: nobody has to wait for it."""
    return _used(place_of(named))


def _used(folder: Path) -> Loaded | None:
    """A model that is in memory, which now is the one used last."""
    with _changing:
        found = _kept.pop(folder, None)
        if found:
            _kept[folder] = found
        return found


def _give_up(folders: list[Path]) -> None:
    """Free the memory of these models; whoever still draws with one keeps it until then."""
    with _changing:
        for folder in folders:
            _kept.pop(folder, None)
    if folders:
        gc.collect()  # parts of a model refer to each other; the server collects nothing by itself


def _load(named: str, folder: Path) -> Loaded:
    if not folder.is_dir():
        raise ModelError(N_("{model} is not on this machine yet.", model=named))
    held = contents(folder)
    while _kept and free_memory.needed(held.parameters) > free_memory.free():
        _give_up(list(_kept)[:1])
    free_memory.ask(named, held.parameters)
    found = parts(named, folder, held)
    try:
        use_our_attention(found.model)
    except ValueError as error:
        raise ModelError(N_("{model}: {error}", model=named, error=message_of(error))) from error
    provenance = _provenance(named, folder)
    longest = context(found.model, found.tokenizer)
    return Loaded(
        named, found.model, found.tokenizer, provenance, held.parameters, longest, found.extractor
    )


def _provenance(named: str, folder: Path) -> str:
    """Whose numbers these are."""
    source = folder / SOURCE
    if not source.exists():
        return N_("{model}, from a folder", model=named)
    said = json.loads(source.read_text(encoding="utf-8"))["from"]
    return N_("{model}, from {source}", model=named, source=said)
