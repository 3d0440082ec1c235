"""Any model's config.json: the text checked, then the fields that its cache depends on."""

import json
from pathlib import Path
from typing import Any

from explainers.memory.config_fields import WIDTHS, Fields
from explainers.memory.layer_groups import LayerGroup, ModelShape
from explainers.memory.layer_kinds import decoder_groups
from explainers.memory.number_formats import FORMATS
from explainers.memory.sizes import must_be
from explainers.messages import N_, Message

LARGEST = 1_000_000
"""Characters; the longest published config.json has a tenth of this."""
ENCODERS = {
    "albert", "bert", "big_bird", "camembert", "convbert", "data2vec-text", "deberta",
    "deberta-v2", "distilbert", "electra", "ernie", "esm", "eurobert", "gte", "ibert", "layoutlm",
    "layoutlmv3", "longformer", "luke", "megatron-bert", "mobilebert", "modernbert", "mpnet",
    "mra", "new", "nomic_bert", "nystromformer", "rembert", "roberta", "roberta-prelayernorm",
    "roc_bert", "roformer", "squeezebert", "xlm-roberta", "xlm-roberta-xl", "xmod", "yoso",
}  # fmt: skip
"""Architectures (`model_type`) that read their whole text at once and never generate."""
CONTEXTS = (
    "max_position_embeddings", "n_positions", "max_target_positions", "max_seq_len", "seq_length",
)  # fmt: skip


def read_config_file(path: str | Path) -> ModelShape:
    """The model in a folder with a config.json, or in such a file."""
    file = Path(path)
    file = file / "config.json" if file.is_dir() else file
    try:
        with file.open(encoding="utf-8-sig") as opened:
            return read_config(opened.read(LARGEST + 1))
    except FileNotFoundError:
        raise ValueError(N_("there is no file {file}", file=file)) from None
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(
            N_("{file} cannot be read as text: {kind}", file=file, kind=type(error).__name__)
        ) from None


def read_config(text: str) -> ModelShape:
    """The shape that a config.json describes; what it lacks or contradicts is named."""
    fields = Fields(parsed(text))
    notes = fields.notes
    model_type = fields.text("model_type")
    encoder_decoder = fields.flag("is_encoder_decoder")
    groups: tuple[LayerGroup, ...] = ()
    if model_type not in ENCODERS or fields.flag("is_decoder"):
        groups = decoder_groups(fields, encoder_decoder)
    else:
        notes.append(N_("An encoder reads its text at once: it keeps no cache."))
    return ModelShape(
        id=fields.text("_name_or_path") or model_type or "config.json",
        groups=groups,
        num_heads=fields.num_heads(),
        d_model=fields.number(*WIDTHS),
        family=model_type,
        architecture="encoder-decoder" if encoder_decoder else ("decoder" if groups else "encoder"),
        context=fields.find(*CONTEXTS),
        encoder_context=fields.find(
            "max_source_positions", "max_position_embeddings", "n_positions"
        )
        if encoder_decoder
        else None,
        nope_dim=fields.find("qk_nope_head_dim") or 0,
        value_dim=fields.find("v_head_dim") or 0,
        dtype=weight_dtype(fields),
        sources=(N_("the config.json you gave"),),
        notes=tuple(notes),
    )


def weight_dtype(fields: Fields) -> str:
    """The format of the weights, which a quantization changes; one that is not ours is noted."""
    quantized = fields.inside("quantization_config")
    method = quantized.text("quant_method") if quantized else ""
    if method in FORMATS:
        return method
    if quantized:
        note = N_("quantization_config: choose the format of the weights below.")
        fields.notes.append(note)
    return fields.text("dtype") or fields.text("torch_dtype") or "bfloat16"


def parsed(text: str) -> dict[str, Any]:
    """The object in the text; a text that was cut off is told from one that is not JSON."""
    if len(text) > LARGEST:
        raise ValueError(
            N_("config.json has more than {most:,} characters: is it another file?", most=LARGEST)
        )
    if not text.strip():
        raise ValueError(N_("config.json is empty"))
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        where = N_("line {line}, column {column}", line=error.lineno, column=error.colno)
        if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
            raise ValueError(
                N_("config.json breaks off at {where}: was all of it copied?", where=where)
            ) from None
        raise ValueError(
            N_("config.json is not JSON: {why} at {where}", why=error.msg, where=where)
        ) from None
    except (RecursionError, ValueError) as error:
        deep = Message(N_("it is nested too deeply"), {})
        why = deep if isinstance(error, RecursionError) else str(error)
        raise ValueError(N_("config.json cannot be read: {why}", why=why)) from None
    if not isinstance(found, dict):
        raise must_be(N_("an object in {braces}", braces="{…}"), "config.json", found)
    return found
