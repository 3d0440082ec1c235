"""What transformers reads from a folder: a model, and what makes its input of a text or a sound.

Safetensors only, and never code from outside.
"""

from pathlib import Path
from typing import Any, NamedTuple

import torch

from explainers.models import room
from explainers.models.contents import Contents
from explainers.models.hearing import extractor_of
from explainers.models.kinds import class_name, described
from explainers.models.registry import ModelError
from explainers.phrase import phrase

MOST_SAID = 200
"""Characters of another library's error that a reader gets."""
UNBOUNDED = 10**9
"""A tokenizer that knows no limit says 10^30."""


class Parts(NamedTuple):
    """A model and its tokenizer, as transformers has them."""

    model: Any
    tokenizer: Any
    extractor: Any
    """What makes numbers of sound; None for a model that hears nothing."""


def parts(named: str, folder: Path, held: Contents) -> Parts:
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
        extractor = extractor_of(named, folder, model)
    except ModelError:
        raise
    except Exception as error:  # a folder may hold anything
        said = str(error).strip().partition("\n")[0][:MOST_SAID]
        raise ModelError(
            phrase("{model} cannot be loaded: {why}", model=named, why=said or type(error).__name__)
        ) from error
    if report["missing_keys"] or report["mismatched_keys"]:
        first = sorted(map(str, [*report["missing_keys"], *report["mismatched_keys"]]))[0]
        raise ModelError(
            phrase("{model} is not whole: its files lack {first}.", model=named, first=first)
        )
    return Parts(model if where == "auto" else model.to(where), tokenizer, extractor)


def context(model: Any, tokenizer: Any) -> int | None:
    """The least that configuration and tokenizer say: RoBERTa counts two positions too many."""
    places = getattr(model.config, "max_position_embeddings", None)
    said = [most for most in (places, tokenizer.model_max_length) if most and most < UNBOUNDED]
    return min(said, default=None)
