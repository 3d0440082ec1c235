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
from explainers.models.kinds import class_name
from explainers.models.names import place_of
from explainers.models.registry import ModelError
from explainers.models.run import use_our_attention

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

MOST_KEPT = 3
"""Models in memory at a time; the one that was used longest ago makes room."""
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
_one_at_a_time = threading.RLock()
"""Two visitors who want the same model get one copy; importing transformers twice at once fails."""


def kept(named: str) -> Loaded | None:
    """The model if it is in memory, without waiting for one that is being loaded."""
    return _kept.get(place_of(named))


def is_here(named: str) -> bool:
    """Is it on this machine?"""
    return place_of(named).is_dir()


def load(named: str) -> Loaded:
    """A model of this machine, by its id or its folder; raises what is wrong with it."""
    folder = place_of(named)
    with _one_at_a_time:
        found = _kept.pop(folder, None) or _load(named, folder)
        _kept[folder] = found  # last in line
        while len(_kept) > MOST_KEPT:
            _forget_one()
    return found


def _load(named: str, folder: Path) -> Loaded:
    if not folder.is_dir():
        raise ModelError(f"{named} is not on this machine yet.")
    held = contents(folder)
    while _kept and room.needed(held.parameters) > room.free():
        _forget_one()
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
        raise ModelError(f"{named} cannot be loaded: {error}") from error
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


def _forget_one() -> None:
    """Give up the one used longest ago; whoever still draws with it keeps it until then."""
    _kept.pop(next(iter(_kept)))
