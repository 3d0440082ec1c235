"""What an encoder–decoder writes, translating a text or transcribing speech, and where it looks."""

from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor

from explainers.messages import N_
from explainers.models.attention_hook import RecordedAttention, run_model
from explainers.models.comparison import make_eager_twin, measure_differences
from explainers.models.registry import ModelError
from explainers.models.sound import SAMPLE_RATE
from explainers.models.token_text import tokenise_text

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
    weights: Tensor
    """(layers, heads, target pieces, source pieces)"""
    difference: float


def translate_text(loaded: "RealModel", text: str) -> Translation:
    """Let it write, always the likeliest next piece, and read every cross-attention."""
    model: Any = loaded.model  # torch types the methods of a module as tensors
    if not model.config.is_encoder_decoder or model.main_input_name != "input_ids":
        raise ModelError(
            N_("{model} is no translator: no decoder of it reads another text.", model=loaded.name)
        )
    ids = tokenise_text(loaded, text, MOST_PIECES).ids
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
    layers = [layer for layer in run_model(model, **inputs).layers if layer.kind == "cross"]
    names = loaded.tokenizer.convert_ids_to_tokens
    return Translation(
        tuple(names(ids[0].tolist())),
        tuple(names(written[0, 1:].tolist())),
        torch.stack([layer.weights[0] for layer in layers]),
        max(one.largest for one in measure_differences(model, **inputs)),
    )


MOST_TRANSCRIBED = 40


class Transcription(NamedTuple):
    """What was written token by token, and for each the weights on the encoder's positions.

    weights (layers, heads, tokens, positions); `step` seconds lie between two positions.
    `difference` is the largest one between our attention in this model and the model's own.
    """

    tokens: tuple[str, ...]
    weights: Tensor
    seconds_per_position: float
    difference: float


def transcribe(loaded: "RealModel", samples: Tensor) -> Transcription:
    """Let it write what it hears, always the likeliest token, and read its cross-attention."""
    model: Any = loaded.model
    mel = loaded.feature_extractor(samples.numpy(), sampling_rate=SAMPLE_RATE, return_tensors="pt")
    features = mel.input_features.to(model.device, model.dtype)
    with torch.no_grad():
        sound = model.get_encoder()(features)
        theirs = make_eager_twin(model).get_encoder()(features)
    far = float((sound.last_hidden_state - theirs.last_hidden_state).abs().max())
    ids, begun = generate_ids(model, sound)
    inputs = {"encoder_outputs": sound, "decoder_input_ids": ids[:, :-1]}
    layers = run_model(model, read=_record_cross_weights, **inputs).layers
    weights = [one[:, begun - 1 :] for one in layers if one is not None]
    tokens = tuple(str(loaded.tokenizer.decode([token])) for token in ids[0, begun:].tolist())
    largest = max(far, *(one.largest for one in measure_differences(model, **inputs)))
    step = loaded.feature_extractor.n_samples / SAMPLE_RATE / model.config.max_source_positions
    return Transcription(tokens, torch.stack(weights).float().cpu(), step, largest)


def _record_cross_weights(layer: RecordedAttention) -> Tensor | None:
    return layer.weights[0] if layer.kind == "cross" else None


def generate_ids(model: Any, sound: Any) -> tuple[Tensor, int]:
    """The ids of what it writes, and how many of them it was begun with."""
    settings = model.generation_config
    ids = torch.tensor([[model.config.decoder_start_token_id]], device=model.device)
    ids = torch.tensor([build_prompt(model, sound, ids)], device=model.device)
    begun, kept = ids.shape[1], None
    most = min(MOST_TRANSCRIBED, model.config.max_target_positions - begun)
    if most < 1:
        raise ModelError(
            N_("This model can write nothing: there is no room behind what it begins with.")
        )
    stamps = getattr(settings, "no_timestamps_token_id", None)
    for number in range(most):
        new = ids if kept is None else ids[:, -1:]
        with torch.no_grad():
            out = model(
                encoder_outputs=sound, decoder_input_ids=new, past_key_values=kept, use_cache=True
            )
        kept, logits = out.past_key_values, out.logits[0, -1].clone()
        never = list(getattr(settings, "suppress_tokens", None) or [])
        never += (getattr(settings, "begin_suppress_tokens", None) or []) if number == 0 else []
        logits[[token for token in never if 0 <= token < len(logits)]] = -torch.inf
        if stamps:
            logits[stamps + 1 :] = -torch.inf  # times are read off the weights here
        ids = torch.cat([ids, logits.argmax().view(1, 1)], dim=1)
        if ids[0, -1] == model.config.eos_token_id:
            break
    return ids, begun


def build_prompt(model: Any, sound: Any, ids: Tensor) -> list[int]:
    """What Whisper begins with: a start, the language that it hears, the task, and no times."""
    settings, found = model.generation_config, ids[0].tolist()
    languages = sorted((getattr(settings, "lang_to_id", None) or {}).values())
    if languages:
        with torch.no_grad():
            logits = model(encoder_outputs=sound, decoder_input_ids=ids).logits[0, -1]
        found.append(languages[int(logits[languages].argmax())])
    tasks = getattr(settings, "task_to_id", None) or {}
    found += [tasks["transcribe"]] if "transcribe" in tasks else []
    stamps = getattr(settings, "no_timestamps_token_id", None)
    return found + ([stamps] if stamps else [])
