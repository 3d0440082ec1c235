"""A model in memory with our attention in it, the same for all visitors.

Safetensors only, and never code from outside.
"""

import json
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from explainers.models import room
from explainers.models.contents import Contents, contents
from explainers.models.fetch import SOURCE
from explainers.models.kinds import class_name, described
from explainers.models.names import place_of
from explainers.models.registry import ModelError
from explainers.models.run import use_our_attention

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

MOST_KEPT = 3
"""Models in memory at a time; the one that was used longest ago makes room."""
MOST_SAID = 200
"""Characters of another library's error that a reader gets."""
UNBOUNDED = 10**9
"""A tokenizer that knows no limit says 10^30."""


@dataclass(frozen=True, eq=False)
class Loaded:
    """A model with its tokenizer; `context` is the most tokens it can read, if it says so."""

    name: str
    model: "PreTrainedModel"
    tokenizer: "PreTrainedTokenizerBase"
    provenance: str
    parameters: int
    context: int | None


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
            for oldest in list(_kept)[:-MOST_KEPT]:
                del _kept[oldest]
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


def _load(named: str, folder: Path) -> Loaded:
    if not folder.is_dir():
        raise ModelError(f"{named} is not on this machine yet.")
    held = contents(folder)
    while _kept and room.needed(held.parameters) > room.free():
        with _changing:  # whoever still draws with it keeps it until then
            del _kept[next(iter(_kept))]
    room.ask(named, held.parameters)
    model, tokenizer = _read(named, folder, held)
    try:
        use_our_attention(model)
    except ValueError as error:
        raise ModelError(f"{named}: {error}") from error
    provenance = _provenance(named, folder)
    return Loaded(named, model, tokenizer, provenance, held.parameters, _context(model, tokenizer))


def _read(named: str, folder: Path, held: Contents) -> "tuple[Any, Any]":
    """The model and its tokenizer; a model with missing weights would be one with random ones."""
    import transformers

    where = room.where()
    try:
        kind = getattr(transformers, class_name(named, held.config))
        room.ask(named, described(kind, folder))
        model, report = kind.from_pretrained(
            folder,
            use_safetensors=True,
            trust_remote_code=False,
            local_files_only=True,
            dtype=torch.float32,
            device_map=where if where == "auto" else None,
            output_loading_info=True,
        )
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            folder, trust_remote_code=False, local_files_only=True
        )
    except ModelError:
        raise
    except Exception as error:  # a folder may hold anything
        said = str(error).strip().partition("\n")[0][:MOST_SAID]
        raise ModelError(f"{named} cannot be loaded: {said or type(error).__name__}") from error
    if report["missing_keys"] or report["mismatched_keys"]:
        first = sorted(map(str, [*report["missing_keys"], *report["mismatched_keys"]]))[0]
        raise ModelError(f"{named} is not whole: its files lack {first}.")
    return (model if where == "auto" else model.to(where)), tokenizer


def _context(model: Any, tokenizer: Any) -> int | None:
    """The least that configuration and tokenizer say: RoBERTa counts two positions too many."""
    places = getattr(model.config, "max_position_embeddings", None)
    said = [most for most in (places, tokenizer.model_max_length) if most and most < UNBOUNDED]
    return min(said, default=None)


def _provenance(named: str, folder: Path) -> str:
    """Whose numbers these are."""
    source = folder / SOURCE
    said = json.loads(source.read_text(encoding="utf-8"))["from"] if source.exists() else "a folder"
    return f"{named}, from {said}"
