"""Layers with heads of their own: their KV heads, head_dim and windows, one layer at a time."""

import re

from explainers.memory.config_fields import Fields
from explainers.memory.layer_groups import LayerGroup
from explainers.memory.sizes import must_be, shown
from explainers.messages import N_

WINDOWS = {"sliding": "sliding_window", "chunked": "attention_chunk_size"}
OTHER_HEADS = re.compile(r"(kv|key_value)_heads?$|^swa_.*head")
READ = {
    "num_key_value_heads", "num_kv_heads", "n_kv_heads", "num_global_key_value_heads",
}  # fmt: skip
PER_LAYER = {"head_dim", "num_key_value_heads", "num_attention_heads", "intermediate_size"}


def heads_of_layers(fields: Fields, kinds: list[str], count: int) -> list[LayerGroup | None]:
    """A group of its own for each layer with heads; Gemma 4's global layers have their own."""
    for name, value in fields.config.items():
        if OTHER_HEADS.search(name) and name not in READ and value and "encoder" not in name:
            raise ValueError(
                N_("{name}: heads like these are not known here; make a model by hand", name=name)
            )
    listed = fields.wholes("num_key_value_heads_per_layer")
    if listed is not None and len(listed) != count:
        raise ValueError(
            N_(
                "num_key_value_heads_per_layer names {listed} layers, not {count}",
                listed=len(listed),
                count=count,
            )
        )
    heads, head_dim = 0 if listed else fields.num_kv_heads(), fields.head_dim()
    global_heads = fields.find("num_global_key_value_heads") or heads
    global_dim = fields.find("global_head_dim") or head_dim
    check_values(fields, head_dim)
    own = per_layer(fields, count)
    layers: list[LayerGroup | None] = []
    for place, kind in enumerate(kinds):
        if kind in ("recurrent", "nothing"):
            layers.append(None)
            continue
        if kind == "indexed":
            raise ValueError(N_("layer_types: indexed_attention is known with kv_lora_rank only"))
        each, width = (global_heads, global_dim) if kind == "full" else (heads, head_dim)
        each = listed[place] if listed else each
        if place in own:
            each = own[place].find("num_key_value_heads") or each
            width = own[place].find("head_dim") or width
        window = fields.number(WINDOWS[kind]) if kind in WINDOWS else None
        layers.append(LayerGroup(kind, 1, each, width, window))
    return layers


def check_values(fields: Fields, head_dim: int) -> None:
    """Refuse values that are narrower or wider than keys: one width is counted for both."""
    value_dim = fields.find("v_head_dim")
    if value_dim not in (None, head_dim):
        raise ValueError(
            N_(
                "v_head_dim {value_dim} differs from head_dim {head_dim}: not known here",
                value_dim=value_dim,
                head_dim=head_dim,
            )
        )


def per_layer(fields: Fields, count: int) -> dict[int, Fields]:
    """place: what per_layer_config changes there; refused where it is more than heads."""
    found = fields.inside("per_layer_config")
    if found is None:
        return {}
    places = {}
    for place in found.config:
        changes = found.inside(place)
        if not place.isdecimal() or int(place) >= count or changes is None:
            raise ValueError(
                N_(
                    "per_layer_config: {place} is none of the {count} layers",
                    place=shown(place),
                    count=count,
                )
            )
        for name in changes.config.keys() - PER_LAYER:
            raise ValueError(
                N_("per_layer_config: {name} of a single layer is not known here", name=name)
            )
        places[int(place)] = changes
    return places


def block_layers(fields: Fields, count: int) -> list[LayerGroup]:
    """Layers from block_configs (Nemotron-NAS), some without attention; none where it is absent."""
    blocks = fields.config.get("block_configs")
    if blocks is None:
        return []
    if not isinstance(blocks, list) or len(blocks) != count:
        raise must_be(N_("a list of {count} layers", count=count), "block_configs", blocks)
    head_dim, layers = fields.head_dim(), []
    for block in blocks:
        attention = Fields(block).inside("attention") if isinstance(block, dict) else None
        if attention is None:
            raise ValueError(N_("block_configs: {block} lacks attention", block=shown(block)))
        if not (attention.flag("no_op") or attention.flag("replace_with_linear")):
            layers.append(block_layer(attention, fields.num_heads(), head_dim))
    return layers


def block_layer(attention: Fields, num_heads: int, head_dim: int) -> LayerGroup:
    """One layer with attention; `n_heads_in_group` query heads share each of its KV heads."""
    attention.refuse_if_there("num_sink_tokens")
    attention.refuse_if_there("sparsify")
    shared = attention.number("n_heads_in_group")
    if num_heads % shared:
        raise ValueError(
            N_(
                "n_heads_in_group {shared} does not divide {num_heads} heads",
                shared=shared,
                num_heads=num_heads,
            )
        )
    window = attention.find("window_length")
    return LayerGroup("sliding" if window else "full", 1, num_heads // shared, head_dim, window)
