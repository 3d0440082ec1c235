"""What an encoder–decoder writes, translating a text or transcribing speech, and where it looks."""

from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor

from explainers.messages import N_
from explainers.models.attention_hook import RecordedAttention, run_model
from explainers.models.comparison import make_eager_twin, measure_differences
from explainers.models.registry import ModelError
from explainers.models.sound import SAMPLE_RATE
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
            N_(
                "{model} is no translator: no decoder of it reads another text.",
                model=real_model.name,
            )
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


def transcribe(real_model: "RealModel", samples: Tensor) -> Transcription:
    """Let it write what it hears, always the likeliest token, and read its cross-attention."""
    model: Any = real_model.model
    extractor, decode = real_model.feature_extractor, real_model.tokenizer.decode
    mel = extractor(samples.numpy(), sampling_rate=SAMPLE_RATE, return_tensors="pt")
    features = mel.input_features.to(model.device, model.dtype)
    with torch.no_grad():
        encoded = model.get_encoder()(features)
        expected = make_eager_twin(model).get_encoder()(features)
    gap = encoded.last_hidden_state - expected.last_hidden_state
    ids, prompt_length = generate_ids(model, encoded)
    inputs = {"encoder_outputs": encoded, "decoder_input_ids": ids[:, :-1]}
    layers = run_model(model, record=_record_cross_weights, **inputs).layers
    weights = [one[:, prompt_length - 1 :] for one in layers if one is not None]
    tokens = tuple(str(decode([token])) for token in ids[0, prompt_length:].tolist())
    decoder_gaps = [one.largest for one in measure_differences(model, **inputs)]
    largest = max(float(gap.abs().max()), *decoder_gaps)
    step = extractor.n_samples / SAMPLE_RATE / model.config.max_source_positions
    return Transcription(tokens, torch.stack(weights).float().cpu(), step, largest)


def _record_cross_weights(layer: RecordedAttention) -> Tensor | None:
    return layer.weights[0] if layer.kind == "cross" else None


def generate_ids(model: Any, encoded: Any) -> tuple[Tensor, int]:
    """The ids of what it writes, and how many of them it was begun with."""
    settings = model.generation_config
    ids = torch.tensor([[model.config.decoder_start_token_id]], device=model.device)
    ids = torch.tensor([build_prompt(model, encoded, ids)], device=model.device)
    prompt_length, cache = ids.shape[1], None
    most_tokens = min(MOST_TRANSCRIBED, model.config.max_target_positions - prompt_length)
    if most_tokens < 1:
        raise ModelError(
            N_("This model can write nothing: there is no room behind what it begins with.")
        )
    no_timestamps = getattr(settings, "no_timestamps_token_id", None)
    for number in range(most_tokens):
        input_ids = ids if cache is None else ids[:, -1:]
        with torch.no_grad():
            output = model(
                encoder_outputs=encoded,
                decoder_input_ids=input_ids,
                past_key_values=cache,
                use_cache=True,
            )
        cache, logits = output.past_key_values, output.logits[0, -1].clone()
        suppressed = list(getattr(settings, "suppress_tokens", None) or [])
        if number == 0:
            suppressed += getattr(settings, "begin_suppress_tokens", None) or []
        logits[[token for token in suppressed if 0 <= token < len(logits)]] = -torch.inf
        if no_timestamps:
            logits[no_timestamps + 1 :] = -torch.inf  # times are read off the weights here
        ids = torch.cat([ids, logits.argmax().view(1, 1)], dim=1)
        if ids[0, -1] == model.config.eos_token_id:
            break
    return ids, prompt_length


def build_prompt(model: Any, encoded: Any, ids: Tensor) -> list[int]:
    """What Whisper begins with: a start, the language that it hears, the task, and no times."""
    settings, prompt = model.generation_config, ids[0].tolist()
    languages = sorted((getattr(settings, "lang_to_id", None) or {}).values())
    if languages:
        with torch.no_grad():
            logits = model(encoder_outputs=encoded, decoder_input_ids=ids).logits[0, -1]
        prompt.append(languages[int(logits[languages].argmax())])
    tasks = getattr(settings, "task_to_id", None) or {}
    prompt += [tasks["transcribe"]] if "transcribe" in tasks else []
    no_timestamps = getattr(settings, "no_timestamps_token_id", None)
    return prompt + ([no_timestamps] if no_timestamps else [])
