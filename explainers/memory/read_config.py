"""Reads the shape of a model from any config.json that a reader brings.

>>> import json
>>> fields = {"model_type": "llama", "num_hidden_layers": 2, "num_attention_heads": 8}
>>> read_config(json.dumps({**fields, "hidden_size": 64})).groups[0].head_dim
8
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from explainers.memory.checked_fields import (
    KV_HEAD_FIELDS,
    MAX_NUMBER,
    OUTER_FIELDS,
    WIDTH_FIELDS,
    ConfigFields,
    FindDefaults,
    check_whole,
    know_no_class,
    wrong_value_error,
)
from explainers.memory.config_text import MAX_CHARACTERS, parse_object
from explainers.memory.layer_kinds import count_image_tokens, read_decoder_groups
from explainers.memory.model_shapes import LayerGroup, ModelShape
from explainers.memory.weight_files import (
    GGUF_MAGIC,
    MAX_NAMED,
    STORED,
    read_cache_dtype,
    read_gguf,
    read_safetensors,
    read_weights,
)
from explainers.messages import N_, InputError, Message

ENCODER_TYPES = {
    "albert", "bert", "big_bird", "camembert", "convbert", "data2vec-text", "deberta",
    "deberta-v2", "distilbert", "electra", "ernie", "esm", "eurobert", "gte", "ibert",
    "longformer", "luke", "megatron-bert", "mobilebert", "modernbert", "mpnet",
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
CROSS_DECODERS = {"blip_text_model", "musicgen_decoder", "pix2struct_text_model", "trocr"}
"""Decoders (`model_type`) that attend to an encoder, whether their file says so or not."""
ENCODER_PARTS = "encoder", "text_encoder", "vision_config"
IMAGE_EXTRAS = {
    "beit": 1, "blip_vision_model": 1, "clip_vision_model": 1, "deit": 2, "dinov2": 1,
    "donut-swin": 0, "siglip_vision_model": 0, "swin": 0, "swinv2": 0, "vit": 1,
}  # fmt: skip
"""Rows that an encoder of pictures (`model_type`) has besides those of the patches."""
EXTENDING = "yarn", "linear", "dynamic"
"""Ways to scale rotary positions that reach beyond the length in the file, in vLLM as well."""
WORDS = r"(?:^|[._])(?:{})(?:[._]|$)"
STATE_WORDS = r"recurr\w*?|states?|ssm|(?:\w+_)?mamba\w*?|conv\w*?|linear_attn\w*?|linear_attention"
TELLING = re.compile(WORDS.format(
    r"shared?|sharing|cla|yoco|loops?|looped|recurs\w*?|ut|repeats?|cache\w*?|kv|windows?|sparse|"
    r"sparsity|compress\w*?|latents?|rank|diffusion|memory|mask_token_id|block_length|swa|"
    rf"retention|{STATE_WORDS}"
))  # fmt: skip
"""Words in a field that may change what layers keep."""
HARMLESS = re.compile(WORDS.format(
    r"\w*experts?|moe|router|mlp|ffn|intermediate|embed\w*|vocab|dropout|\w*norm|init\w*|loss|bias|"
    r"rope|use_cache|cache_implementation|q|o|query|vision|audio|image|output_hidden_states|"
    r"adapter|kernels?|encoder|sparse_step|activation_sparsity_pattern|laurel"
))  # fmt: skip
"""Words of fields that change nothing, whatever else is in their name."""
OF_STATES = re.compile(WORDS.format(STATE_WORDS))
"""Words that say how states are computed, where it is known which layers keep one."""
READ_ELSEWHERE = {
    "max_window_layers", "sliding_window_pattern", "_sliding_window_pattern",
    "global_attn_every_n_layers", "sliding_window", *KV_HEAD_FIELDS,
}  # fmt: skip
"""They say nothing where no layer has a window, or another field gives the KV heads."""
DIFFUSION = re.compile(r"mask_token_id|diffusion|block_length")
CONTEXT_FIELDS = (
    "max_position_embeddings", "n_positions", "max_target_positions", "max_seq_len", "seq_length",
)  # fmt: skip


EXPERT_FIELDS = "num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts"
FFN_FIELDS = "intermediate_size", "ffn_dim", "n_inner", "ffn_hidden_size"
MAX_FACTOR = 10_000


def read_config_file(path: str | Path, find_defaults: FindDefaults = know_no_class) -> ModelShape:
    """The shape in a GGUF file or a config.json, given as its path or that of its folder.

    In a folder, the files of weights say how many there are.
    """
    file, stored = Path(path), None
    if file.is_dir():
        file, stored = file / "config.json", read_safetensors(file)
    try:
        with file.open("rb") as content:
            if content.read(len(GGUF_MAGIC)) == GGUF_MAGIC:
                text, stored = read_gguf(file)
                return read_config(text, find_defaults, stored=stored)
        with file.open(encoding="utf-8-sig") as stream:
            return read_config(stream.read(MAX_CHARACTERS + 1), find_defaults, stored=stored)
    except FileNotFoundError:
        raise InputError("there is no file {file}", file=file) from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            "{file} cannot be read as text: {kind}", file=file, kind=type(error).__name__
        ) from None


def read_config(
    text: str,
    find_defaults: FindDefaults = know_no_class,
    *,
    stored: Mapping[str, int] | None = None,
) -> ModelShape:
    """The shape that a config.json describes; raises ValueError with the field that is wrong.

    `find_defaults` knows what the file's class fills in; without it, nothing is filled in.
    `stored` is how many weights of each type the files beside it hold, where that is known.
    """
    config = parse_object(text) | ({STORED: {**stored}} if stored else {})
    fields = ConfigFields(take_decoder(config, find_defaults), find_defaults)
    notes, stated = fields.notes, ConfigFields(fields.config)
    model_type = fields.read_text("model_type")
    is_alone = is_decoder_alone(fields)
    fields.config |= {"is_encoder_decoder": True} if is_alone else {}
    is_encoder_decoder = fields.read_flag("is_encoder_decoder")
    groups: tuple[LayerGroup, ...] = ()
    known_type = model_type or str(fields.outer.get("model_type"))
    is_encoder = ENCODER_NAMES.search(model_type) or PAIR_NAMES.search(known_type)
    if not (is_encoder or model_type in ENCODER_TYPES) or fields.read_flag("is_decoder"):
        groups = read_decoder_groups(fields, is_encoder_decoder)
        refuse_unread(fields, any(group.kind == "recurrent" for group in groups))
    else:
        notes.append(N_("An encoder reads its text at once: it keeps no cache."))
    weights = read_weights(fields, groups)
    return ModelShape(
        id=fields.read_text("_name_or_path") or model_type or "config.json",
        groups=groups,
        num_heads=fields.read_num_heads(),
        d_model=fields.require_number(*WIDTH_FIELDS),
        family=model_type,
        architecture="encoder-decoder"
        if is_encoder_decoder
        else ("decoder" if groups else "encoder"),
        context=read_context(fields, stated),
        encoder_context=read_source_length(fields, stated, is_alone)
        if is_encoder_decoder
        else (count_image_tokens(fields) if any(g.kind == "cross" for g in groups) else None),
        nope_dim=fields.find_number("qk_nope_head_dim", minimum=0) or 0,
        value_dim=fields.find_number("v_head_dim", minimum=0) or 0,
        dtype=weights.dtype,
        parameters=weights.number,
        has_exact_parameters=weights.is_exact,
        vocabulary=peek_number(fields, "vocab_size"),
        query_latent_dim=peek_number(fields, "q_lora_rank") or 0,
        has_tied_embeddings=fields.has_any("tie_word_embeddings"),
        ffn_dim=0 if fields.has_any(*EXPERT_FIELDS) else peek_number(fields, *FFN_FIELDS) or 0,
        cache_dtype=read_cache_dtype(fields),
        sources=(N_("the config.json you gave"),),
        notes=tuple(dict.fromkeys(notes)),
    )


def peek_number(fields: ConfigFields, *names: str) -> int | None:
    """A number that only an estimate is made of: no note says where it comes from."""
    found = (fields.config.get(name, fields.defaults.get(name)) for name in names)
    return next((n for n in found if type(n) is int and 0 < n <= MAX_NUMBER), None)


def take_decoder(config: dict[str, Any], find_defaults: FindDefaults) -> dict[str, Any]:
    """Of a file with a part for the encoder and one for the decoder, the decoder's, with what
    files of other pairs say beside it; any other file as it is."""
    encoder = next((part for name in ENCODER_PARTS if (part := config.get(name))), None)
    decoder = config.get("decoder")
    if not isinstance(encoder, dict) or not isinstance(decoder, dict):
        return config
    outer = {name: config[name] for name in OUTER_FIELDS if name in config}
    read = count_encoder_tokens(encoder, find_defaults)
    pair = {"is_encoder_decoder": True, "is_decoder": True, "add_cross_attention": True}
    return {**outer, **decoder, **pair, "max_source_positions": read}


def count_encoder_tokens(config: dict[str, Any], find_defaults: FindDefaults) -> int | None:
    """The most rows that an encoder makes of a picture or a text; None where the file does not
    say it."""
    encoder = ConfigFields(config, find_defaults)
    known = {**encoder.defaults, **encoder.config}
    kind, size, patch = (known.get(name) for name in ("model_type", "image_size", "patch_size"))
    if size is None and patch is None:
        return encoder.find_number("max_source_positions", "max_position_embeddings", "n_positions")
    if not isinstance(kind, str) or kind not in IMAGE_EXTRAS:
        return None
    sides = [
        check_whole(name, side)
        for name, value in (("image_size", size), ("patch_size", patch))
        for side in (value if isinstance(value, list) and len(value) == 2 else [value] * 2)
    ]
    rows = [
        -(-sides[n] // sides[n + 2]) if "swin" in kind else sides[n] // sides[n + 2] for n in (0, 1)
    ]
    if "swin" in kind:  # each further stage merges 2 × 2 patches
        stages = len(encoder.read_whole_numbers("depths") or ())
        rows = [-(-row // 2 ** max(0, min(stages, 32) - 1)) for row in rows]
    return rows[0] * rows[1] + IMAGE_EXTRAS[kind]


def is_decoder_alone(fields: ConfigFields) -> bool:
    """Whether it attends to an encoder of which the file says nothing."""
    if fields.config.get("is_encoder_decoder") or "max_source_positions" in fields.config:
        return False
    is_cross = fields.read_text("model_type") in CROSS_DECODERS
    return is_cross or fields.read_flag("add_cross_attention")


def read_source_length(fields: ConfigFields, stated: ConfigFields, is_alone: bool) -> int | None:
    """The most rows that the encoder makes; None where it is not said, and has to be asked for."""
    if is_alone:
        pictures = fields.outer.get("vision_config")
        return (
            count_encoder_tokens(pictures, fields.find_defaults)
            if isinstance(pictures, dict)
            else None
        )
    if "max_source_positions" in stated.config:
        return stated.find_number("max_source_positions")
    return stated.find_number("max_position_embeddings", "n_positions")


def read_context(fields: ConfigFields, stated: ConfigFields) -> int | None:
    """The longest text: as in the file, or as far as its rotary positions are scaled."""
    length = stated.find_number(*CONTEXT_FIELDS)
    name = "rope_parameters" if fields.config.get("rope_parameters") else "rope_scaling"
    rope = fields.read_object(name)
    if rope is not None and isinstance(rope.config.get("full_attention"), dict):
        rope = rope.read_object("full_attention")  # where layers have rotary positions of their own
    if rope is None or length is None:
        return length
    if (rope.read_text("rope_type") or rope.read_text("type")) not in EXTENDING:
        return length
    factor = rope.config.get("factor")
    original = rope.find_number("original_max_position_embeddings")
    if factor is None or (original is None and stated.read_text("model_type").startswith("gemma")):
        return length  # Gemma's is the length that was reached
    if type(factor) not in (int, float) or not 1 <= factor <= MAX_FACTOR:
        what = N_("a number from 1 to {largest:,}", largest=MAX_FACTOR)
        raise wrong_value_error(what, f"{name}: factor", factor)
    reached = int((original or length) * factor)
    if reached <= length:
        return length
    fields.add_note(
        "{name}: positions reach {before:,} × {factor} = {reached:,} tokens.",
        name=name,
        before=original or length,
        factor=f"{factor:g}",
        reached=reached,
    )
    return reached


def refuse_unread(fields: ConfigFields, has_states: bool) -> None:
    """Raise ValueError if fields that were not read may change what layers keep.

    Only of files whose class is not known: of others, transformers knows what their fields mean.
    """
    from_gguf = any("." in name for name in fields.config)
    if fields.class_name and not from_gguf:
        return
    unread = [
        name[:60]
        for name, value in fields.config.items()
        if value
        and name not in fields.config.asked | READ_ELSEWHERE
        and TELLING.search(name)
        and not HARMLESS.search(name)
        and not (has_states and OF_STATES.search(name))
    ]
    if not unread:
        return
    kind = fields.read_text("model_type") or Message(N_("this model"), {})
    names = ", ".join(unread[:MAX_NAMED])
    if any(map(DIFFUSION.search, unread)):
        raise InputError(
            "{names}: {kind} seems to fill in masked tokens, looking both ways at every step. "
            "Such a model keeps no cache between tokens, or one of whole blocks, which is not "
            "known here",
            names=names,
            kind=kind,
        )
    raise InputError(
        "{names}: no class of transformers is known for {kind}, and such fields may change "
        "what its layers keep. Leave out those that do not, or make a model by hand",
        names=names,
        kind=kind,
    )
