"""What a translator writes, and where it looks."""

from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor

from explainers.models.attention_hook import run_model
from explainers.models.comparison import measure_differences
from explainers.models.registry import ModelError
from explainers.models.token_text import Words, read_words, spell_words, tokenise_text

if TYPE_CHECKING:
    from explainers.models.load import RealModel


MOST_PIECES = 96
"""That are read, and that are written: a table of more cannot be looked at."""


class Translation(NamedTuple):
    """A translation piece by piece; row t of the weights predicts piece t of the target.

    `difference` is the largest one between our attention in this model and the model's own.
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    source_words: Words
    target_words: Words
    text: str
    """What it wrote."""
    weights: Tensor
    """(layers, heads, target pieces, source pieces)"""
    difference: float


def translate_text(real_model: "RealModel", text: str) -> Translation:
    """Let it write, always the likeliest next piece, and read every cross-attention."""
    model: Any = real_model.model  # torch types the methods of a module as tensors
    if not model.config.is_encoder_decoder or model.main_input_name != "input_ids":
        raise ModelError(
            "{model} is no translator: no decoder of it reads another text.", model=real_model.name
        )
    ids = tokenise_text(real_model, text, MOST_PIECES).ids
    mask = torch.ones_like(ids)
    with torch.no_grad():
        target_ids = model.generate(
            input_ids=ids,
            attention_mask=mask,
            do_sample=False,
            num_beams=1,
            max_new_tokens=MOST_PIECES,
        )
    inputs = {"input_ids": ids, "attention_mask": mask, "decoder_input_ids": target_ids[:, :-1]}
    layers = [layer for layer in run_model(model, **inputs).layers if layer.kind == "cross"]
    tokenizer = real_model.tokenizer
    read, written = ids[0].tolist(), target_ids[0, 1:].tolist()
    source, target = (tuple(tokenizer.convert_ids_to_tokens(one)) for one in (read, written))
    return Translation(
        source,
        target,
        read_words(real_model, text, source),
        spell_words(tokenizer, written, target),
        str(tokenizer.decode(written, skip_special_tokens=True)),
        torch.stack([layer.weights[0] for layer in layers]),
        max(one.largest for one in measure_differences(model, **inputs)),
    )
