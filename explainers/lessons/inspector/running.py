"""Running a real model on a short text, and keeping what was recorded."""

from typing import TYPE_CHECKING, Any

import streamlit as st
import torch
from torch import Tensor

from explainers.device import device_name
from explainers.lessons.inspector.seen import Seen
from explainers.models.call import Layer
from explainers.phrase import phrase
from explainers.ui.language import said
from explainers.ui.provenance import real

if TYPE_CHECKING:
    from explainers.models.load import Loaded

MOST_SHORT = 64
"""Tokens of the text whose heads are all shown; a longer text has a place of its own."""
MOST_PREDICTED = 8


def seen(loaded: "Loaded", text: str, before: tuple[int, ...] = ()) -> Seen:
    """Run the model on a text, with ids put `before` it if wished; raises what cannot be read."""
    from explainers.models.reading import read
    from explainers.models.registry import ModelError

    if loaded.model.main_input_name != "input_ids":
        raise ModelError(
            phrase(
                "{model} reads sound or pictures in a way that this page does not know.",
                model=loaded.name,
            )
        )
    beginning, left_out = cut(loaded, text, MOST_SHORT)
    ids, tokens = read(loaded, beginning)
    if before:
        first = torch.tensor([before], device=ids.device)
        ids = torch.cat([first, ids], dim=1)[:, : loaded.context]
        tokens = (*(str(loaded.tokenizer.decode([one])) for one in before), *tokens)[: ids.shape[1]]
    layers, predicted = _run(loaded.name, id(loaded), tuple(ids[0].tolist()), loaded)
    where = device_name(loaded.model.device)
    origin = real(
        said("{model} · computed live on {device}", model=loaded.provenance, device=where)
    )
    return Seen(loaded.name, origin, tokens, layers, predicted, left_out)


def cut(loaded: "Loaded", text: str, most: int) -> tuple[str, int]:
    """As much of a text as makes `most` tokens, or as the model can read; and how many are left.

    A model's own tokens at the end of a text stay.
    """
    most = min(most, loaded.context or most)
    encoded = loaded.tokenizer(text, verbose=False, return_special_tokens_mask=True)
    left_out = len(encoded["input_ids"]) - most
    if left_out <= 0 or not encoded.encodings:
        return text, 0
    own = encoded["special_tokens_mask"]
    ends = [
        end for (_, end), mine in zip(encoded.encodings[0].offsets, own, strict=True) if not mine
    ]
    return text[: ends[max(0, most - sum(own) - 1)]], left_out


@st.cache_data(show_spinner=False, max_entries=12)
def _run(
    name: str, which: int, ids: tuple[int, ...], _loaded: "Loaded"
) -> tuple[list[Layer], list[tuple[str, float]]]:
    """The layers that look at the whole text, and the likeliest next tokens.

    `which` tells a model from another one that a folder of the same name held before.
    """
    from explainers.models.run import run

    model = _loaded.model
    given = inputs(model, torch.tensor([ids], device=model.device))
    output, layers = run(model, **given)
    kind = "encoder" if model.config.is_encoder_decoder else "self"
    found = [layer for layer in layers if layer.kind == kind]
    return found, _predicted(_loaded, output)


def inputs(model: Any, ids: Tensor) -> dict[str, Any]:
    """What a model wants besides the text: a decoder begins with the token that starts it."""
    given = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    if model.config.is_encoder_decoder:
        given["decoder_input_ids"] = ids.new_full((1, 1), model.config.decoder_start_token_id or 0)
    return given


def _predicted(loaded: "Loaded", output: Any) -> list[tuple[str, float]]:
    """The likeliest tokens after the last one, if the model is one that goes on to write."""
    if "logits" not in output or not getattr(loaded.model, "can_generate", bool)():
        return []
    chances = output.logits[0, -1].float().softmax(dim=-1)
    best = chances.topk(min(MOST_PREDICTED, len(chances)))
    names = [str(loaded.tokenizer.decode([token])) for token in best.indices.tolist()]
    return list(zip(names, best.values.tolist(), strict=True))
