"""Which layers of a model hold keys and values: every family of hybrids says it in its own way."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from explainers.memory.checks import must_be, shown, whole
from explainers.memory.fields import Fields
from explainers.phrase import phrase

KINDS = {
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
SIGNS = {"*": "full", "M": "recurrent", "-": "nothing", "E": "nothing"}
SWITCHES = {0: "recurrent", 1: "full"}
STATES = re.compile(r"mamba|ssm|conv_L_cache|linear_(attn|num|head)|lightning")
"""Fields of layers that keep a state; where they stand, some field must say which layers do."""


def listed_kinds(fields: Fields, count: int) -> list[str] | None:
    """The kind of each layer where a field goes through all layers; nothing where none does."""
    for name in ("layer_types", "layers_block_type"):
        if (names := fields.names(name)) is not None:
            return told_apart(name, names, KINDS, count)
    if (signs := fields.config.get("hybrid_override_pattern")) is not None:
        if not isinstance(signs, str):
            raise must_be(phrase("a text"), "hybrid_override_pattern", signs)
        return told_apart("hybrid_override_pattern", signs, SIGNS, count)
    if (switches := fields.wholes("attn_type_list")) is not None:
        return told_apart("attn_type_list", switches, SWITCHES, count)
    places = attention_places(fields, count)
    if places is None:
        return None
    if beyond := places - set(range(count)):
        raise ValueError(
            phrase(
                "layer {layer} has attention, but there are {count} layers",
                layer=shown(min(beyond)),
                count=count,
            )
        )
    return ["full" if layer in places else "recurrent" for layer in range(count)]


def told_apart(name: str, said: Sequence[Any], table: Mapping[Any, str], count: int) -> list[str]:
    """What each layer is called, in our words."""
    if len(said) != count:
        raise ValueError(
            phrase(
                "{name} names {listed} layers, num_hidden_layers {count}",
                name=name,
                listed=len(said),
                count=count,
            )
        )
    for one in said:
        if one not in table:
            raise ValueError(
                phrase(
                    "{name}: {one} is not one of {known}",
                    name=name,
                    one=shown(one),
                    known=", ".join(map(str, table)),
                )
            )
    return [table[one] for one in said]


def attention_places(fields: Fields, count: int) -> set[int] | None:
    """The layers with attention, from 0; nothing where it is not said."""
    for name in ("attn_layer_indices", "full_attn_idxs"):
        if (places := fields.wholes(name)) is not None:
            return set(places)
    linear = fields.inside("linear_attn_config")
    if linear is not None:
        return {place - 1 for place in linear.wholes("full_attn_layers") or ()}
    if (period := fields.find("attn_layer_period")) is not None:
        offset = whole("attn_layer_offset", fields.config.get("attn_layer_offset"), 0)
        return set(range(offset, count, period))
    return None


def check_states(fields: Fields, kinds: list[str]) -> None:
    """Refuse a model with states if nothing says which of its layers keep one."""
    if "recurrent" in kinds:
        return
    for name, value in fields.config.items():
        if STATES.search(name) and value and not isinstance(value, bool):
            raise ValueError(
                phrase(
                    "{name}: which layers keep a state is not said in a field known here", name=name
                )
            )
