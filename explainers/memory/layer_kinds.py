"""Reads from a config.json what each layer keeps: all tokens, a window, a latent, a state."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from explainers.memory.checked_fields import (
    ConfigFields,
    check_whole,
    shorten_value,
    unknown_layers_error,
    wrong_value_error,
)
from explainers.memory.model_shapes import LayerGroup, RecurrentState
from explainers.memory.per_layer_heads import read_block_layers, read_layer_heads
from explainers.messages import N_

KIND_BY_TYPE = {
    "full_attention": "full",
    "attention": "full",
    "sliding_attention": "sliding",
    "chunked_attention": "chunked",
    "indexed_attention": "indexed",
    "linear_attention": "recurrent",
    "mamba": "recurrent",
    "conv": "recurrent",
    "mlp": "nothing",
    "moe": "nothing",
}
KIND_BY_SIGN = {"*": "full", "M": "recurrent", "-": "nothing", "E": "nothing"}
KIND_BY_SWITCH = {0: "recurrent", 1: "full"}
STATE_FIELDS = re.compile(r"mamba|ssm|conv_L_cache|linear_(attn|num|head)|lightning")
"""Fields of recurrent layers; where one is set, another must say which layers are recurrent."""


def read_listed_kinds(fields: ConfigFields, num_layers: int) -> list[str] | None:
    """The kind of each layer where a field lists all layers; None where none does."""
    for name in ("layer_types", "layers_block_type"):
        if (names := fields.read_names(name)) is not None:
            return translate_kinds(name, names, KIND_BY_TYPE, num_layers)
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
        raise ValueError(
            N_(
                "layer {layer} has attention, but there are {count} layers",
                layer=shorten_value(min(missing_layers)),
                count=num_layers,
            )
        )
    return [
        "full" if layer_index in attention_layers else "recurrent"
        for layer_index in range(num_layers)
    ]


def translate_kinds(
    name: str, names: Sequence[Any], table: Mapping[Any, str], num_layers: int
) -> list[str]:
    """The kind of each layer, from the name that the file gives it."""
    if len(names) != num_layers:
        raise ValueError(
            N_(
                "{name} names {listed} layers, num_hidden_layers {count}",
                name=name,
                listed=len(names),
                count=num_layers,
            )
        )
    for entry in names:
        if entry not in table:
            raise ValueError(
                N_(
                    "{name}: {one} is not one of {known}",
                    name=name,
                    one=shorten_value(entry),
                    known=", ".join(map(str, table)),
                )
            )
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


def check_states(fields: ConfigFields, kinds: list[str]) -> None:
    """Raise ValueError if layers keep states and no field says which layers."""
    if "recurrent" in kinds:
        return
    for name, value in fields.config.items():
        if STATE_FIELDS.search(name) and value and not isinstance(value, bool):
            raise ValueError(
                N_("{name}: which layers keep a state is not said in a field known here", name=name)
            )


MAX_LAYERS = 1_000
LAYER_COUNT_FIELDS = ("num_hidden_layers", "n_layer", "num_layers", "n_layers")
UNKNOWN_FIELDS = (
    "block_types", "compress_ratios", "state_size", "attention_layers", "attention_types",
    "cross_attention_layers", "attn_layers", "mem_len", "qk_dim_factor", "attention_hidden_size",
    "sliding_window_size", "attention_window_size", "local_attention_window_len", "zero_expert_num",
)  # fmt: skip
"""Fields of models that keep other things than keys and values: these are refused."""


def read_decoder_groups(fields: ConfigFields, is_encoder_decoder: bool) -> tuple[LayerGroup, ...]:
    """The groups of a decoder's layers, cross-attention included where there is an encoder."""
    for name in UNKNOWN_FIELDS:
        if fields.config.get(name) is not None:
            raise unknown_layers_error(name)
    num_layers = read_num_layers(fields, is_encoder_decoder)
    layers = read_block_layers(fields, num_layers) or read_layers(fields, num_layers)
    groups = [replace(layer, count=count) for layer, count in Counter(layers).items()]
    if not any(group.vectors for group in groups):
        raise ValueError(
            N_(
                "none of the {count} layers keeps keys and values: there is no cache",
                count=num_layers,
            )
        )
    if is_encoder_decoder:
        groups.append(replace(groups[0], kind="cross", window=None, count=num_layers))
    return tuple(groups)


def read_num_layers(fields: ConfigFields, is_encoder_decoder: bool) -> int:
    """How many layers the decoder has; Nemotron-H may list its layers without a count."""
    names = (
        ("decoder_layers", "num_decoder_layers", *LAYER_COUNT_FIELDS)
        if is_encoder_decoder
        else LAYER_COUNT_FIELDS
    )
    kinds = fields.read_names("layers_block_type")
    if kinds and fields.find_number(*names) is None and len(kinds) <= MAX_LAYERS:
        return len(kinds)
    return fields.require_number(*names, maximum=MAX_LAYERS)


def read_layers(fields: ConfigFields, num_layers: int) -> list[LayerGroup]:
    """A group of one layer for each layer that keeps something."""
    kinds = read_layer_kinds(fields, num_layers)
    num_shared = fields.find_number("num_kv_shared_layers", minimum=0) or 0
    if num_shared >= num_layers:
        raise ValueError(N_(
            "num_kv_shared_layers {shared} leaves none of {count} layers a cache",
            shared=num_shared, count=num_layers,
        ))  # fmt: skip
    if num_shared:
        note = N_("The last {shared} layers share the cache of earlier ones.", shared=num_shared)
        fields.notes.append(note)
    kinds = kinds[: num_layers - num_shared]
    states = [read_state_layer(fields) for kind in kinds if kind == "recurrent"]
    if fields.find_number("kv_lora_rank"):
        return [*read_latent_layers(fields, kinds), *states]
    if "mamba_d_ssm" in fields.config and not states:
        states = [
            read_state_layer(fields)
        ] * num_layers  # Falcon-H1: every layer has a state as well
    else:
        check_states(fields, kinds)
    heads = read_layer_heads(fields, kinds, num_layers)
    return [layer for layer in heads if layer is not None] + states


def read_latent_layers(fields: ConfigFields, kinds: list[str]) -> list[LayerGroup]:
    """Layers of multi-head latent attention: one latent and one rotary key for all heads."""
    for kind in kinds:
        if kind not in ("full", "indexed", "recurrent", "nothing"):
            raise ValueError(
                N_("kv_lora_rank: a latent in {kind} layers is not known here", kind=kind)
            )
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
    if kinds is not None:
        return kinds
    local_kind, period, first_local = read_window_pattern(fields, num_layers)
    return [
        local_kind if layer_index >= first_local and (layer_index + 1) % period else "full"
        for layer_index in range(num_layers)
    ]


def read_window_pattern(fields: ConfigFields, num_layers: int) -> tuple[str, int, int]:
    """The kind of local layers, the period of global layers, and the first that may be local."""
    never = num_layers + 1
    if fields.find_number("full_attention_interval"):
        return "recurrent", fields.require_number("full_attention_interval"), 0
    if fields.find_number("attention_chunk_size"):
        return "chunked", fields.find_number("no_rope_layer_interval") or 4, 0
    is_switched_off = not fields.read_flag("use_sliding_window", default=True)
    if is_switched_off or not fields.find_number("sliding_window"):
        if fields.config.get("sliding_window"):
            note = N_("sliding_window is there but switched off by use_sliding_window.")
            fields.notes.append(note)
        return "full", never, 0
    if fields.read_text("model_type").startswith("gemma2"):
        return "sliding", 2, 0
    period = fields.find_number("sliding_window_pattern", "_sliding_window_pattern")
    if fields.read_text("model_type").startswith("gemma3"):
        period = period or 6
    # Qwen slides from this layer on, and only where the switch is given.
    first_local = (
        fields.find_number("max_window_layers", minimum=0)
        if "use_sliding_window" in fields.config
        else 0
    )
    return "sliding", period or never, first_local or 0


def read_state_layer(fields: ConfigFields) -> LayerGroup:
    """A recurrent layer; the size of its state is known for gated delta nets only.

    They keep a matrix for each head, and the inputs of a convolution.
    """
    if not fields.find_number("linear_num_value_heads"):
        return LayerGroup(
            "recurrent", 1, state_note=N_("the size of their state is not known here")
        )
    num_value_heads = fields.require_number("linear_num_value_heads")
    num_key_heads = fields.require_number("linear_num_key_heads")
    key_dim = fields.require_number("linear_key_head_dim")
    value_dim = fields.require_number("linear_value_head_dim")
    channels = 2 * num_key_heads * key_dim + num_value_heads * value_dim
    kernel = fields.require_number("linear_conv_kernel_dim")
    states = (
        RecurrentState("conv", channels * kernel),
        RecurrentState("recurrent", num_value_heads * key_dim * value_dim, "float32"),
    )
    return LayerGroup("recurrent", 1, state=states, state_note="gated delta net")
