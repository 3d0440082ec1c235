"""Reads from a config.json what each layer keeps: all tokens, a window, a latent, a state."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from explainers.memory.checked_fields import (
    LAYER_COUNT_FIELDS,
    ConfigFields,
    check_whole,
    shorten_value,
    unknown_layers_error,
    wrong_value_error,
)
from explainers.memory.compact_layers import (
    read_compressed_layers,
    read_state_layer,
    refuse_other,
    refuse_without_attention,
    wrong_count_error,
)
from explainers.memory.model_shapes import LayerGroup
from explainers.memory.per_layer_heads import read_block_layers, read_layer_heads
from explainers.messages import N_, InputError

KIND_BY_TYPE = {
    "full_attention": "full",
    "attention": "full",
    "sliding_attention": "sliding",
    "chunked_attention": "chunked",
    "indexed_attention": "indexed",
    "linear_attention": "recurrent",
    "mamba": "recurrent",
    "conv": "recurrent",
    "hybrid": "hybrid",
    "hybrid_sliding": "hybrid_sliding",
    "mlp": "nothing",
    "moe": "nothing",
}
KIND_BY_SIGN = {"*": "full", "M": "recurrent", "-": "nothing", "E": "nothing"}
KIND_BY_SWITCH = {0: "recurrent", 1: "full"}
ATTENTION_BESIDE = {"hybrid": "full", "hybrid_sliding": "sliding"}
"""Layers that keep a state and keys and values as well, by the kind of their attention."""
STATE_FIELDS = re.compile(r"mamba|ssm|conv_L_cache|linear_(attn|num|head)|lightning")
"""Fields of recurrent layers; where one is set, another must say which layers are recurrent."""


def read_listed_kinds(fields: ConfigFields, num_layers: int) -> list[str] | None:
    """The kind of each layer where a field lists all layers; None where none does."""
    for name in ("layer_types", "layers_block_type"):
        if (names := fields.read_names(name)) is not None:
            num_ahead = fields.find_number("num_nextn_predict_layers", minimum=0) or 0
            return translate_kinds(name, names, KIND_BY_TYPE, num_layers, num_ahead)
    if (signs := fields.config.get("hybrid_override_pattern")) is not None:
        if not isinstance(signs, str):
            raise wrong_value_error(N_("a text"), "hybrid_override_pattern", signs)
        return translate_kinds("hybrid_override_pattern", signs, KIND_BY_SIGN, num_layers)
    if (switches := fields.read_whole_numbers("attn_type_list")) is not None:
        return translate_kinds("attn_type_list", switches, KIND_BY_SWITCH, num_layers)
    attention_layers = find_attention_layers(fields, num_layers)
    if attention_layers is None:
        return None
    if missing_layers := attention_layers - set(range(num_layers)):
        raise InputError(
            "layer {layer} has attention, but there are {count} layers",
            layer=shorten_value(min(missing_layers)),
            count=num_layers,
        )
    return [
        "full" if layer_index in attention_layers else "recurrent"
        for layer_index in range(num_layers)
    ]


def translate_kinds(
    name: str, names: Sequence[Any], table: Mapping[Any, str], num_layers: int, num_ahead: int = 0
) -> list[str]:
    """The kind of each layer, from the name that the file gives it.

    Layers that guess several tokens ahead may stand behind the others.
    """
    if len(names) == num_layers + num_ahead:
        names = names[:num_layers]
    if len(names) != num_layers:
        raise wrong_count_error(name, len(names), num_layers)
    refuse_other(name, names, table)
    return [table[entry] for entry in names]


def find_attention_layers(fields: ConfigFields, num_layers: int) -> set[int] | None:
    """Indices of the layers with attention, from 0; None where no field gives them."""
    for name in ("attn_layer_indices", "full_attn_idxs"):
        if (layers := fields.read_whole_numbers(name)) is not None:
            return set(layers)
    linear = fields.read_object("linear_attn_config")
    if linear is not None:
        return {layer - 1 for layer in linear.read_whole_numbers("full_attn_layers") or ()}
    if (period := fields.find_number("attn_layer_period")) is not None:
        offset = check_whole("attn_layer_offset", fields.config.get("attn_layer_offset"), 0)
        return set(range(offset, num_layers, period))
    return None


MAX_LAYERS, MAX_LOOPS = 1_000, 100
UNKNOWN_FIELDS = (
    "block_types", "kv_source_layers", "state_size", "attention_layers", "attention_types",
    "attn_layers", "mem_len", "qk_dim_factor", "cross_layer_interval",
    "sliding_window_size", "attention_window_size", "local_attention_window_len", "zero_expert_num",
)  # fmt: skip
"""Fields of models that keep other things than keys and values: these are refused."""


def read_decoder_groups(fields: ConfigFields, is_encoder_decoder: bool) -> tuple[LayerGroup, ...]:
    """The groups of a decoder's layers, cross-attention included where there is an encoder."""
    refuse_without_attention(fields)
    for name in UNKNOWN_FIELDS:
        if fields.config.get(name) is not None:
            raise unknown_layers_error(name)
    num_layers = read_num_layers(fields, is_encoder_decoder)
    layers = (
        read_block_layers(fields, num_layers)
        or read_compressed_layers(fields, num_layers)
        or read_layers(fields, num_layers) * read_loops(fields)
    )
    groups = [replace(layer, count=count) for layer, count in Counter(layers).items()]
    if not any(group.vectors for group in groups):
        raise InputError(
            "none of the {count} layers keeps keys and values: there is no cache", count=num_layers
        )
    if is_encoder_decoder:
        groups.append(replace(groups[0], kind="cross", window=None, count=num_layers))
    elif image_layers := read_image_layers(fields, num_layers):
        own = next(group for group in groups if group.kind == "full")
        groups.append(replace(own, kind="cross", count=len(image_layers)))
    return tuple(groups)


def read_image_layers(fields: ConfigFields, num_layers: int) -> set[int]:
    """Layers that attend to an image and not to the text (Llama 3.2 Vision)."""
    layers = {*(fields.read_whole_numbers("cross_attention_layers") or ())}
    if not layers:
        return layers
    if max(layers) >= num_layers:
        raise unknown_layers_error("cross_attention_layers")
    if count_image_tokens(fields) is None:
        raise InputError(
            "cross_attention_layers keep an image's rows: to count them, vision_config must "
            "have {fields}",
            fields=", ".join(IMAGE_FIELDS),
        )
    return layers


IMAGE_FIELDS = "image_size", "patch_size", "max_num_tiles"


def count_image_tokens(fields: ConfigFields) -> int | None:
    """The most rows that an image becomes: patches and one more for each tile."""
    vision_config = fields.outer.get("vision_config")
    if not isinstance(vision_config, dict):
        return None
    vision = ConfigFields(vision_config, fields.find_defaults)
    image_size, patch_size, tiles = (vision.find_number(name) for name in IMAGE_FIELDS)
    fields.notes += vision.notes
    if image_size is None or patch_size is None or tiles is None:
        return None
    return ((image_size // patch_size) ** 2 + 1) * tiles


def read_num_layers(fields: ConfigFields, is_encoder_decoder: bool) -> int:
    """How many layers the decoder has; Nemotron-H may list its layers without a count."""
    names: tuple[str, ...] = LAYER_COUNT_FIELDS[:-1]
    names = ("decoder_layers", "num_decoder_layers", *names) if is_encoder_decoder else names
    kinds = fields.read_names("layers_block_type")
    if kinds and fields.find_number(*names) is None and len(kinds) <= MAX_LAYERS:
        return len(kinds)
    return fields.require_number(*names, maximum=MAX_LAYERS)


def read_layers(fields: ConfigFields, num_layers: int) -> list[LayerGroup]:
    """A group of one layer for each layer that keeps something."""
    kinds = read_layer_kinds(fields, num_layers)
    num_shared = fields.find_number("num_kv_shared_layers", minimum=0) or 0
    if num_shared >= num_layers:
        raise InputError(
            "num_kv_shared_layers {shared} leaves none of {count} layers a cache",
            shared=num_shared,
            count=num_layers,
        )
    if num_shared:
        fields.add_note(
            "The last {shared} layers share the cache of earlier ones.", shared=num_shared
        )
    kinds = kinds[: num_layers - num_shared]
    factor = fields.find_number("cla_share_factor")  # read as well where it is switched off
    if fields.read_flag("use_cla"):  # several read the cache of the first (Brandon et al. 2024)
        factor = factor or fields.require_number("cla_share_factor")
        fields.add_note("use_cla: {factor} layers in a row share one cache.", factor=factor)
        kinds = ["nothing" if n % factor else kind for n, kind in enumerate(kinds)]
    if fields.has_any("mamba_d_ssm") and "recurrent" not in kinds:
        kinds = ["hybrid"] * num_layers  # Falcon-H1: every layer has a state as well
    num_states = sum(kind == "recurrent" or kind in ATTENTION_BESIDE for kind in kinds)
    states = [read_state_layer(fields)] * num_states if num_states else []
    kinds = [ATTENTION_BESIDE.get(kind, kind) for kind in kinds]
    if fields.find_number("kv_lora_rank", minimum=0) and fields.read_flag("use_mla", default=True):
        return [*read_latent_layers(fields, kinds), *states]
    for name, value in fields.config.items() if not states else ():
        if STATE_FIELDS.search(name) and value and not isinstance(value, bool):
            raise InputError(
                "{name}: which layers keep a state is not said in a field known here", name=name
            )
    heads = read_layer_heads(fields, kinds, num_layers)
    return [layer for layer in heads if layer is not None] + states


def read_loops(fields: ConfigFields) -> int:
    """How often a token goes through all layers, each time with a cache of its own (Ouro, 2025)."""
    loops = fields.find_number("total_ut_steps", maximum=MAX_LOOPS) or 1
    if loops > 1:
        fields.add_note(
            "total_ut_steps: a token goes {loops} times through all layers, and each time they "
            "keep a cache.",
            loops=loops,
        )
    return loops


def read_latent_layers(fields: ConfigFields, kinds: list[str]) -> list[LayerGroup]:
    """Layers of multi-head latent attention: one latent and one rotary key for all heads."""
    for kind in kinds:
        if kind not in ("full", "indexed", "recurrent", "nothing"):
            raise InputError("kv_lora_rank: a latent in {kind} layers is not known here", kind=kind)
    fields.refuse_field("per_layer_config")
    latent_dim = fields.require_number("kv_lora_rank")
    rope_dim = fields.require_number("qk_rope_head_dim")
    latent_kinds = [kind for kind in kinds if kind in ("full", "indexed")]
    layers = [LayerGroup("latent", 1, latent_dim=latent_dim, rope_dim=rope_dim)] * len(latent_kinds)
    index_dim = fields.find_number("index_head_dim")
    if index_dim:
        indexers = fields.read_names("indexer_types")  # a layer may share the index of another
        num_indexers = len(latent_kinds) if indexers is None else indexers.count("full")
        layers += [LayerGroup("index", 1, head_dim=index_dim)] * num_indexers
    return layers


def read_layer_kinds(fields: ConfigFields, num_layers: int) -> list[str]:
    """The kind of each layer, from a list of layers or from a pattern of windows."""
    kinds = read_listed_kinds(fields, num_layers)
    names: list[Any] = fields.defaults.get("layer_types") or []
    if not kinds and len(names) == num_layers and KIND_BY_TYPE.keys() >= {*names}:
        kinds = [KIND_BY_TYPE[name] for name in names]  # as the class of transformers lists them
        if len({*names}) > 1:
            counted = ", ".join(f"{count} {name}" for name, count in Counter(names).items())
            fields.note_default("layer_types", counted)
    if kinds is None:
        local_kind, period, first_local = read_window_pattern(fields, num_layers)
        kinds = [
            local_kind if layer_index >= first_local and (layer_index + 1) % period else "full"
            for layer_index in range(num_layers)
        ]
    image_layers = read_image_layers(fields, num_layers)
    return ["nothing" if n in image_layers else kind for n, kind in enumerate(kinds)]


def read_window_pattern(fields: ConfigFields, num_layers: int) -> tuple[str, int, int]:
    """The kind of local layers, the period of global layers, and the first that may be local."""
    never = num_layers + 1
    for name in ("full_attention_interval", "layer_group_size"):
        if period := fields.find_number(name):
            return "recurrent", period, 0
    if fields.find_number("attention_chunk_size"):
        return "chunked", fields.find_number("no_rope_layer_interval") or 4, 0
    is_switched_off = not fields.read_flag("use_sliding_window", default=True)
    if is_switched_off or not fields.find_number("sliding_window"):
        if fields.config.get("sliding_window"):
            fields.add_note("sliding_window is there but switched off by use_sliding_window.")
        return "full", never, 0
    if fields.read_text("model_type").startswith("gemma2"):
        return "sliding", 2, 0
    period = fields.find_number("sliding_window_pattern", "_sliding_window_pattern")
    period = period or fields.find_number("global_attn_every_n_layers")
    if fields.read_text("model_type").startswith("gemma3"):
        period = period or 6
    # Qwen slides from this layer on, and only where the switch is given.
    first_local = (
        fields.find_number("max_window_layers", minimum=0)
        if "use_sliding_window" in fields.config
        else 0
    )
    return "sliding", period or never, first_local or 0
