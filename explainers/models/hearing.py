"""A model that hears, with our attention inside: what it writes, and where in time it looks."""

from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor

from explainers.messages import N_
from explainers.models.attention_hook import Layer
from explainers.models.compare import differences, own
from explainers.models.registry import ModelError
from explainers.models.run import run
from explainers.models.sound import RATE

if TYPE_CHECKING:
    from explainers.models.load import Loaded

MOST_WRITTEN = 40


class Heard(NamedTuple):
    """What was written token by token, and for each the weights on the encoder's positions.

    weights (layers, heads, tokens, positions); `step` seconds lie between two positions.
    `difference` is the largest one between our attention in this model and the model's own.
    """

    tokens: tuple[str, ...]
    weights: Tensor
    step: float
    difference: float


def hear(loaded: "Loaded", samples: Tensor) -> Heard:
    """Let it write what it hears, always the likeliest token, and read its cross-attention."""
    model: Any = loaded.model
    mel = loaded.extractor(samples.numpy(), sampling_rate=RATE, return_tensors="pt")
    features = mel.input_features.to(model.device, model.dtype)
    with torch.no_grad():
        sound = model.get_encoder()(features)
        theirs = own(model).get_encoder()(features)
    far = float((sound.last_hidden_state - theirs.last_hidden_state).abs().max())
    ids, begun = write(model, sound)
    inputs = {"encoder_outputs": sound, "decoder_input_ids": ids[:, :-1]}
    layers = run(model, read=_across, **inputs).layers
    weights = [one[:, begun - 1 :] for one in layers if one is not None]
    tokens = tuple(str(loaded.tokenizer.decode([token])) for token in ids[0, begun:].tolist())
    largest = max(far, *(one.largest for one in differences(model, **inputs)))
    step = loaded.extractor.n_samples / RATE / model.config.max_source_positions
    return Heard(tokens, torch.stack(weights).float().cpu(), step, largest)


def _across(layer: Layer) -> Tensor | None:
    return layer.weights[0] if layer.kind == "cross" else None


def write(model: Any, sound: Any) -> tuple[Tensor, int]:
    """The ids of what it writes, and how many of them it was begun with."""
    settings = model.generation_config
    ids = torch.tensor([[model.config.decoder_start_token_id]], device=model.device)
    ids = torch.tensor([opening(model, sound, ids)], device=model.device)
    begun, kept = ids.shape[1], None
    most = min(MOST_WRITTEN, model.config.max_target_positions - begun)
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


def opening(model: Any, sound: Any, ids: Tensor) -> list[int]:
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
