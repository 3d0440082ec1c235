"""Reads the shape of a model from any config.json that a reader brings."""

import re
from pathlib import Path
from typing import Any

from explainers.memory.cache_bytes import FORMATS
from explainers.memory.checked_fields import (
    OUTER_FIELDS,
    WIDTH_FIELDS,
    ConfigFields,
    FindDefaults,
    know_no_class,
)
from explainers.memory.config_text import MAX_CHARACTERS, parse_object
from explainers.memory.layer_kinds import count_image_tokens, read_decoder_groups
from explainers.memory.model_shapes import LayerGroup, ModelShape
from explainers.messages import N_

ENCODER_TYPES = {
    "albert", "bert", "big_bird", "camembert", "convbert", "data2vec-text", "deberta",
    "deberta-v2", "distilbert", "electra", "ernie", "esm", "eurobert", "gte", "ibert", "layoutlm",
    "layoutlmv3", "longformer", "luke", "megatron-bert", "mobilebert", "modernbert", "mpnet",
    "mra", "new", "nomic_bert", "nystromformer", "rembert", "roberta", "roberta-prelayernorm",
    "roc_bert", "roformer", "squeezebert", "xlm-roberta", "xlm-roberta-xl", "xmod", "yoso",
}  # fmt: skip
"""Architectures (`model_type`) that read their whole text at once and never generate."""
ENCODER_NAMES = re.compile(
    r"_(vision|vision_model|vit|encoder|audio|image_model|qformer)$|^(vit|deit|beit|dino|yolos|detr|owl|sam|wav2vec2|hubert|"
    r"wavlm|unispeech|sew|videomae|layout|canine|splinter|tapas|jina_embeddings|visual_bert)"
)
"""So are called encoders of pictures, sounds and forms."""
PAIR_NAMES = re.compile(r"^(alt|chinese_|meta)?clip|siglip")
"""Pairs of encoders that compare a picture with a text; the text's part may not name its kind."""
PAIRS_IN_PARTS = "t5gemma", "t5gemma2"
"""Encoders with a decoder, each in a part of the file; the cache is the decoder's."""
CONTEXT_FIELDS = (
    "max_position_embeddings", "n_positions", "max_target_positions", "max_seq_len", "seq_length",
)  # fmt: skip


def read_config_file(path: str | Path, find_defaults: FindDefaults = know_no_class) -> ModelShape:
    """The shape in a config.json, given as its path or that of its folder."""
    file = Path(path)
    file = file / "config.json" if file.is_dir() else file
    try:
        with file.open(encoding="utf-8-sig") as stream:
            return read_config(stream.read(MAX_CHARACTERS + 1), find_defaults)
    except FileNotFoundError:
        raise ValueError(N_("there is no file {file}", file=file)) from None
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(
            N_("{file} cannot be read as text: {kind}", file=file, kind=type(error).__name__)
        ) from None


def read_config(text: str, find_defaults: FindDefaults = know_no_class) -> ModelShape:
    """The shape that a config.json describes; raises ValueError with the field that is wrong.

    `find_defaults` knows what the file's class fills in; without it, nothing is filled in.
    """
    fields = ConfigFields(take_decoder(parse_object(text)), find_defaults)
    notes, stated = fields.notes, ConfigFields(fields.config)
    model_type = fields.read_text("model_type")
    is_encoder_decoder = fields.read_flag("is_encoder_decoder")
    groups: tuple[LayerGroup, ...] = ()
    known_type = model_type or str(fields.outer.get("model_type"))
    is_encoder = _is_encoder(model_type) or PAIR_NAMES.search(known_type)
    if not is_encoder or fields.read_flag("is_decoder"):
        groups = read_decoder_groups(fields, is_encoder_decoder)
    else:
        notes.append(N_("An encoder reads its text at once: it keeps no cache."))
    return ModelShape(
        id=fields.read_text("_name_or_path") or model_type or "config.json",
        groups=groups,
        num_heads=fields.read_num_heads(),
        d_model=fields.require_number(*WIDTH_FIELDS),
        family=model_type,
        architecture="encoder-decoder"
        if is_encoder_decoder
        else ("decoder" if groups else "encoder"),
        context=stated.find_number(*CONTEXT_FIELDS),
        encoder_context=stated.find_number(
            "max_source_positions", "max_position_embeddings", "n_positions"
        )
        if is_encoder_decoder
        else (count_image_tokens(fields) if any(g.kind == "cross" for g in groups) else None),
        nope_dim=fields.find_number("qk_nope_head_dim", minimum=0) or 0,
        value_dim=fields.find_number("v_head_dim", minimum=0) or 0,
        dtype=read_weight_dtype(fields),
        sources=(N_("the config.json you gave"),),
        notes=tuple(dict.fromkeys(notes)),
    )


def take_decoder(config: dict[str, Any]) -> dict[str, Any]:
    """Of a file with a part for the encoder and one for the decoder, the decoder's, with what
    files of other pairs say beside it; any other file as it is."""
    encoder, decoder = config.get("encoder"), config.get("decoder")
    if not isinstance(encoder, dict) or not isinstance(decoder, dict):
        return config
    if config.get("model_type") not in PAIRS_IN_PARTS:
        return config
    outer = {name: config[name] for name in OUTER_FIELDS if name in config}
    read = encoder.get("text_config", encoder)
    longest = read.get("max_position_embeddings") if isinstance(read, dict) else None
    return {**outer, **decoder, "is_encoder_decoder": True, "max_source_positions": longest}


def _is_encoder(model_type: str) -> bool:
    return model_type in ENCODER_TYPES or ENCODER_NAMES.search(model_type) is not None


def read_weight_dtype(fields: ConfigFields) -> str:
    """The format of the weights, after quantization; an unknown quantization becomes a note."""
    quantized = fields.read_object("quantization_config")
    method = quantized.read_text("quant_method") if quantized else ""
    if method in FORMATS:
        return method
    if quantized:
        note = N_("quantization_config: choose the format of the weights below.")
        fields.notes.append(note)
    return fields.read_text("dtype") or fields.read_text("torch_dtype") or "bfloat16"
