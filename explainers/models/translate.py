"""A real translator with our attention inside: what it writes, and where its decoder looks."""

from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor

from explainers.messages import N_
from explainers.models.compare import differences
from explainers.models.registry import ModelError
from explainers.models.run import run
from explainers.models.token_text import read

if TYPE_CHECKING:
    from explainers.models.load import Loaded

MOST_PIECES = 96
"""That are read, and that are written: a table of more cannot be looked at."""


class Translated(NamedTuple):
    """A translation piece by piece; row t of the weights predicts piece t of the target.

    `difference` is the largest one between our attention in this model and the model's own.
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    cross: Tensor
    """(layers, heads, target pieces, source pieces)"""
    difference: float


def translate(loaded: "Loaded", text: str) -> Translated:
    """Let it write, always the likeliest next piece, and read every cross-attention."""
    model: Any = loaded.model  # torch types the methods of a module as tensors
    if not model.config.is_encoder_decoder or model.main_input_name != "input_ids":
        raise ModelError(
            N_("{model} is no translator: no decoder of it reads another text.", model=loaded.name)
        )
    ids = read(loaded, text, MOST_PIECES).ids
    seen = torch.ones_like(ids)
    with torch.no_grad():
        written = model.generate(
            input_ids=ids,
            attention_mask=seen,
            do_sample=False,
            num_beams=1,
            max_new_tokens=MOST_PIECES,
        )
    inputs = {"input_ids": ids, "attention_mask": seen, "decoder_input_ids": written[:, :-1]}
    layers = [layer for layer in run(model, **inputs).layers if layer.kind == "cross"]
    names = loaded.tokenizer.convert_ids_to_tokens
    return Translated(
        tuple(names(ids[0].tolist())),
        tuple(names(written[0, 1:].tolist())),
        torch.stack([layer.weights[0] for layer in layers]),
        max(one.largest for one in differences(model, **inputs)),
    )
