"""Reads KV heads, head_dim and window of each layer, where layers differ from each other."""

import re

from explainers.memory.checked_fields import ConfigFields, shorten_value, wrong_value_error
from explainers.memory.model_shapes import LayerGroup
from explainers.messages import N_, InputError

WINDOW_FIELDS = {"sliding": "sliding_window", "chunked": "attention_chunk_size"}
HEAD_FIELDS = re.compile(r"(kv|key_value)_heads?$|^swa_.*head")
KNOWN_HEAD_FIELDS = {
    "num_key_value_heads", "num_kv_heads", "n_kv_heads", "num_global_key_value_heads",
}  # fmt: skip
KNOWN_LAYER_FIELDS = {"head_dim", "num_key_value_heads", "num_attention_heads", "intermediate_size"}


def read_layer_heads(
    fields: ConfigFields, kinds: list[str], num_layers: int
) -> list[LayerGroup | None]:
    """A group of one layer for each layer, None for one without heads.

    Gemma 4's global layers have KV heads and a head_dim of their own.
    """
    for name, value in fields.config.items():
        if (
            HEAD_FIELDS.search(name)
            and name not in KNOWN_HEAD_FIELDS
            and value
            and "encoder" not in name
        ):
            raise InputError(
                "{name}: heads like these are not known here; make a model by hand", name=name
            )
    listed_kv_heads = fields.read_whole_numbers("num_key_value_heads_per_layer")
    if listed_kv_heads is not None and len(listed_kv_heads) != num_layers:
        raise InputError(
            "num_key_value_heads_per_layer names {listed} layers, not {count}",
            listed=len(listed_kv_heads),
            count=num_layers,
        )
    num_kv_heads = 0 if listed_kv_heads else fields.read_num_kv_heads()
    head_dim = fields.read_head_dim()
    num_global_kv_heads = fields.find_number("num_global_key_value_heads") or num_kv_heads
    global_head_dim = fields.find_number("global_head_dim") or head_dim
    value_dim = fields.find_number("v_head_dim", minimum=0)
    if value_dim not in (None, 0, head_dim):  # both are counted alike
        raise InputError(
            "v_head_dim {value_dim} differs from head_dim {head_dim}: not known here",
            value_dim=value_dim,
            head_dim=head_dim,
        )
    local_kv_heads, local_head_dim = read_local_heads(fields, num_kv_heads, head_dim)
    changes = read_layer_changes(fields, num_layers)
    layers: list[LayerGroup | None] = []
    for layer_index, kind in enumerate(kinds):
        if kind in ("recurrent", "nothing"):
            layers.append(None)
            continue
        if kind == "indexed":
            raise InputError("layer_types: indexed_attention is known with kv_lora_rank only")
        layer_kv_heads, layer_head_dim = (
            (num_global_kv_heads, global_head_dim)
            if kind == "full"
            else (local_kv_heads, local_head_dim)
        )
        layer_kv_heads = listed_kv_heads[layer_index] if listed_kv_heads else layer_kv_heads
        if layer_index in changes:
            layer_kv_heads = (
                changes[layer_index].find_number("num_key_value_heads") or layer_kv_heads
            )
            layer_head_dim = changes[layer_index].find_number("head_dim") or layer_head_dim
        window = fields.require_number(WINDOW_FIELDS[kind]) if kind in WINDOW_FIELDS else None
        layers.append(LayerGroup(kind, 1, layer_kv_heads, layer_head_dim, window))
    return layers


def read_local_heads(fields: ConfigFields, num_kv_heads: int, head_dim: int) -> tuple[int, int]:
    """KV heads and head_dim of layers with a window, where Step 3.5 sets them apart."""
    other = fields.read_object("attention_other_setting")
    if other is None or other.read_text("attention_type") != "sliding_attention":
        return num_kv_heads, head_dim
    return (
        other.find_number("num_attention_groups") or num_kv_heads,
        other.find_number("head_dim") or head_dim,
    )


def read_layer_changes(fields: ConfigFields, num_layers: int) -> dict[int, ConfigFields]:
    """The fields that per_layer_config changes, by index of the layer."""
    layer_configs = fields.read_object("per_layer_config")
    filled = fields.defaults.get("per_layer_config")
    if layer_configs is None and isinstance(filled, dict) and filled:
        fields.note_default("per_layer_config", filled)
        layer_configs = ConfigFields(filled)
    if layer_configs is None:
        return {}
    changes_by_layer = {}
    for layer_index in layer_configs.config:
        changes = layer_configs.read_object(layer_index)
        if not layer_index.isdecimal() or int(layer_index) >= num_layers or changes is None:
            raise InputError(
                "per_layer_config: {place} is none of the {count} layers",
                place=shorten_value(layer_index),
                count=num_layers,
            )
        for name in changes.config.keys() - KNOWN_LAYER_FIELDS:
            raise InputError(
                "per_layer_config: {name} of a single layer is not known here", name=name
            )
        changes_by_layer[int(layer_index)] = changes
    return changes_by_layer


def read_block_layers(fields: ConfigFields, num_layers: int) -> list[LayerGroup]:
    """The layers with attention in block_configs (Nemotron-NAS); empty without that field."""
    blocks = fields.config.get("block_configs")
    if blocks is None:
        return []
    if not isinstance(blocks, list) or len(blocks) != num_layers:
        raise wrong_value_error(
            N_("a list of {count} layers", count=num_layers), "block_configs", blocks
        )
    head_dim, layers = fields.read_head_dim(), []
    for block in blocks:
        attention = (
            ConfigFields(block).read_object("attention") if isinstance(block, dict) else None
        )
        if attention is None:
            raise InputError("block_configs: {block} lacks attention", block=shorten_value(block))
        if not (attention.read_flag("no_op") or attention.read_flag("replace_with_linear")):
            layers.append(read_block_layer(attention, fields.read_num_heads(), head_dim))
    return layers


def read_block_layer(attention: ConfigFields, num_heads: int, head_dim: int) -> LayerGroup:
    """One layer with attention; `n_heads_in_group` query heads share each of its KV heads."""
    attention.refuse_field("num_sink_tokens")
    attention.refuse_field("sparsify")
    group_size = attention.require_number("n_heads_in_group")
    if num_heads % group_size:
        raise InputError(
            "n_heads_in_group {shared} does not divide {num_heads} heads",
            shared=group_size,
            num_heads=num_heads,
        )
    window = attention.find_number("window_length")
    return LayerGroup("sliding" if window else "full", 1, num_heads // group_size, head_dim, window)
