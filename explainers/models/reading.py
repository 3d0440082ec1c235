"""A text as a real model reads it: ids, and what to print for each of them."""

from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from explainers.models.pieces import labels
from explainers.models.registry import ModelError
from explainers.phrase import phrase

if TYPE_CHECKING:
    from explainers.models.load import Loaded

MOST_TOKENS = 1024
"""What the pages draw at most."""


class Reading(NamedTuple):
    """ids (1, tokens), and a label per token."""

    ids: Tensor
    tokens: tuple[str, ...]


def read(loaded: "Loaded", text: str, most: int = MOST_TOKENS) -> Reading:
    """Cut a text as this model's own tokenizer does, with the tokens that it adds."""
    tokenizer = loaded.tokenizer
    encoded = tokenizer(text, verbose=False, return_special_tokens_mask=True)
    ids = encoded["input_ids"]
    if all(encoded["special_tokens_mask"]):
        raise ModelError(
            phrase("{model} finds no token in this text: type some words.", model=loaded.name)
        )
    most = min(most, loaded.context or most)
    if len(ids) > most:
        raise ModelError(
            phrase(
                "{model} reads at most {most:,} tokens; this text has {count:,}.",
                model=loaded.name,
                most=most,
                count=len(ids),
            )
        )
    if encoded.encodings:
        named = labels(encoded.encodings[0], tokenizer.backend_tokenizer)
    else:  # Marian's pieces have no such tokenizer
        named = [token.replace("▁", " ") for token in tokenizer.convert_ids_to_tokens(ids)]
    return Reading(torch.tensor([ids], device=loaded.model.device), tuple(named))
