"""Reads the shape of a model from any config.json that a reader brings."""

import json
from pathlib import Path
from typing import Any

from explainers.memory.cache_bytes import FORMATS
from explainers.memory.checked_fields import WIDTH_FIELDS, ConfigFields, wrong_value_error
from explainers.memory.layer_kinds import read_decoder_groups
from explainers.memory.model_shapes import LayerGroup, ModelShape
from explainers.messages import N_, Message

MAX_CHARACTERS = 1_000_000
"""Characters; the longest published config.json has a tenth of this."""
ENCODER_TYPES = {
    "albert", "bert", "big_bird", "camembert", "convbert", "data2vec-text", "deberta",
    "deberta-v2", "distilbert", "electra", "ernie", "esm", "eurobert", "gte", "ibert", "layoutlm",
    "layoutlmv3", "longformer", "luke", "megatron-bert", "mobilebert", "modernbert", "mpnet",
    "mra", "new", "nomic_bert", "nystromformer", "rembert", "roberta", "roberta-prelayernorm",
    "roc_bert", "roformer", "squeezebert", "xlm-roberta", "xlm-roberta-xl", "xmod", "yoso",
}  # fmt: skip
"""Architectures (`model_type`) that read their whole text at once and never generate."""
CONTEXT_FIELDS = (
    "max_position_embeddings", "n_positions", "max_target_positions", "max_seq_len", "seq_length",
)  # fmt: skip


def read_config_file(path: str | Path) -> ModelShape:
    """The shape in a config.json, given as its path or that of its folder."""
    file = Path(path)
    file = file / "config.json" if file.is_dir() else file
    try:
        with file.open(encoding="utf-8-sig") as stream:
            return read_config(stream.read(MAX_CHARACTERS + 1))
    except FileNotFoundError:
        raise ValueError(N_("there is no file {file}", file=file)) from None
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(
            N_("{file} cannot be read as text: {kind}", file=file, kind=type(error).__name__)
        ) from None


def read_config(text: str) -> ModelShape:
    """The shape that a config.json describes; raises ValueError with the field that is wrong."""
    fields = ConfigFields(parse_object(text))
    notes = fields.notes
    model_type = fields.read_text("model_type")
    is_encoder_decoder = fields.read_flag("is_encoder_decoder")
    groups: tuple[LayerGroup, ...] = ()
    if model_type not in ENCODER_TYPES or fields.read_flag("is_decoder"):
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
        context=fields.find_number(*CONTEXT_FIELDS),
        encoder_context=fields.find_number(
            "max_source_positions", "max_position_embeddings", "n_positions"
        )
        if is_encoder_decoder
        else None,
        nope_dim=fields.find_number("qk_nope_head_dim") or 0,
        value_dim=fields.find_number("v_head_dim") or 0,
        dtype=read_weight_dtype(fields),
        sources=(N_("the config.json you gave"),),
        notes=tuple(notes),
    )


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


def parse_object(text: str) -> dict[str, Any]:
    """The JSON object in the text; the error tells a text cut short from one that is no JSON."""
    if len(text) > MAX_CHARACTERS:
        raise ValueError(
            N_(
                "config.json has more than {most:,} characters: is it another file?",
                most=MAX_CHARACTERS,
            )
        )
    if not text.strip():
        raise ValueError(N_("config.json is empty"))
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        position = N_("line {line}, column {column}", line=error.lineno, column=error.colno)
        if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
            raise ValueError(
                N_("config.json breaks off at {where}: was all of it copied?", where=position)
            ) from None
        raise ValueError(
            N_("config.json is not JSON: {why} at {where}", why=error.msg, where=position)
        ) from None
    except (RecursionError, ValueError) as error:
        too_deep = Message(N_("it is nested too deeply"), {})
        reason = too_deep if isinstance(error, RecursionError) else str(error)
        raise ValueError(N_("config.json cannot be read: {why}", why=reason)) from None
    if not isinstance(value, dict):
        raise wrong_value_error(N_("an object in {braces}", braces="{…}"), "config.json", value)
    return value
