"""Which layers of a model keep what: all tokens, a window, a latent, a state, or nothing."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from explainers.memory.config_fields import Fields
from explainers.memory.layer_groups import LayerGroup, State
from explainers.memory.per_layer_heads import block_layers, heads_of_layers
from explainers.memory.sizes import must_be, not_known, shown, whole
from explainers.messages import N_

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
            raise must_be(N_("a text"), "hybrid_override_pattern", signs)
        return told_apart("hybrid_override_pattern", signs, SIGNS, count)
    if (switches := fields.wholes("attn_type_list")) is not None:
        return told_apart("attn_type_list", switches, SWITCHES, count)
    places = attention_places(fields, count)
    if places is None:
        return None
    if beyond := places - set(range(count)):
        raise ValueError(
            N_(
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
            N_(
                "{name} names {listed} layers, num_hidden_layers {count}",
                name=name,
                listed=len(said),
                count=count,
            )
        )
    for one in said:
        if one not in table:
            raise ValueError(
                N_(
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
                N_("{name}: which layers keep a state is not said in a field known here", name=name)
            )


MOST_LAYERS = 1_000
COUNTS = ("num_hidden_layers", "n_layer", "num_layers", "n_layers")
UNKNOWN = (
    "block_types", "compress_ratios", "state_size", "attention_layers", "attention_types",
    "cross_attention_layers", "attn_layers", "mem_len", "qk_dim_factor", "attention_hidden_size",
    "sliding_window_size", "attention_window_size", "local_attention_window_len", "zero_expert_num",
)  # fmt: skip
"""Fields of models that keep other things than keys and values; guessing would be wrong."""


def decoder_groups(fields: Fields, encoder_decoder: bool) -> tuple[LayerGroup, ...]:
    """The groups of the layers that generate, and what they keep of an encoder's text."""
    for name in UNKNOWN:
        if fields.config.get(name) is not None:
            raise not_known(name)
    count = number_of_layers(fields, encoder_decoder)
    layers = block_layers(fields, count) or every_layer(fields, count)
    groups = [replace(one, count=number) for one, number in Counter(layers).items()]
    if not any(group.vectors for group in groups):
        raise ValueError(
            N_("none of the {count} layers keeps keys and values: there is no cache", count=count)
        )
    if encoder_decoder:
        groups.append(replace(groups[0], kind="cross", window=None, count=count))
    return tuple(groups)


def number_of_layers(fields: Fields, encoder_decoder: bool) -> int:
    """Of the decoder; Nemotron-H may name its layers without counting them."""
    names = ("decoder_layers", "num_decoder_layers", *COUNTS) if encoder_decoder else COUNTS
    listed = fields.names("layers_block_type")
    if listed and fields.find(*names) is None and len(listed) <= MOST_LAYERS:
        return len(listed)
    return fields.number(*names, largest=MOST_LAYERS)


def every_layer(fields: Fields, count: int) -> list[LayerGroup]:
    """Each layer that keeps something, as a group of its own."""
    kinds = kinds_of_layers(fields, count)
    shared = fields.find("num_kv_shared_layers", least=0) or 0
    if shared >= count:
        raise ValueError(N_(
            "num_kv_shared_layers {shared} leaves none of {count} layers a cache",
            shared=shared, count=count,
        ))  # fmt: skip
    if shared:
        note = N_("The last {shared} layers share the cache of earlier ones.", shared=shared)
        fields.notes.append(note)
    kinds = kinds[: count - shared]
    states = [state_layer(fields) for kind in kinds if kind == "recurrent"]
    if fields.find("kv_lora_rank"):
        return [*latent_layers(fields, kinds), *states]
    if "mamba_d_ssm" in fields.config and not states:
        states = [state_layer(fields)] * count  # Falcon-H1: every layer has a state as well
    else:
        check_states(fields, kinds)
    heads = heads_of_layers(fields, kinds, count)
    return [one for one in heads if one is not None] + states


def latent_layers(fields: Fields, kinds: list[str]) -> list[LayerGroup]:
    """Multi-head latent attention: one latent and one rotary key for all heads."""
    for kind in kinds:
        if kind not in ("full", "indexed", "recurrent", "nothing"):
            raise ValueError(
                N_("kv_lora_rank: a latent in {kind} layers is not known here", kind=kind)
            )
    fields.refuse_if_there("per_layer_config")
    latent_dim, rope_dim = fields.number("kv_lora_rank"), fields.number("qk_rope_head_dim")
    latents = [kind for kind in kinds if kind in ("full", "indexed")]
    layers = [LayerGroup("latent", 1, latent_dim=latent_dim, rope_dim=rope_dim)] * len(latents)
    index_dim = fields.find("index_head_dim")
    if index_dim:
        indexers = fields.names("indexer_types")  # a layer may share the index of another
        number = len(latents) if indexers is None else indexers.count("full")
        layers += [LayerGroup("index", 1, head_dim=index_dim)] * number
    return layers


def kinds_of_layers(fields: Fields, count: int) -> list[str]:
    """The kind of each layer: listed, or from the older fields for windows."""
    listed = listed_kinds(fields, count)
    if listed is not None:
        return listed
    local, every, first_local = windows(fields, count)
    return [
        local if layer >= first_local and (layer + 1) % every else "full" for layer in range(count)
    ]


def windows(fields: Fields, count: int) -> tuple[str, int, int]:
    """(kind of the local layers, every which layer is global, the first that may be local)."""
    never = count + 1
    if fields.find("full_attention_interval"):
        return "recurrent", fields.number("full_attention_interval"), 0
    if fields.find("attention_chunk_size"):
        return "chunked", fields.find("no_rope_layer_interval") or 4, 0
    switched_off = not fields.flag("use_sliding_window", default=True)
    if switched_off or not fields.find("sliding_window"):
        if fields.config.get("sliding_window"):
            note = N_("sliding_window is there but switched off by use_sliding_window.")
            fields.notes.append(note)
        return "full", never, 0
    if fields.text("model_type").startswith("gemma2"):
        return "sliding", 2, 0
    pattern = fields.find("sliding_window_pattern", "_sliding_window_pattern")
    if fields.text("model_type").startswith("gemma3"):
        pattern = pattern or 6
    # Qwen slides from this layer on, and only where the switch is given.
    first = (
        fields.find("max_window_layers", least=0) if "use_sliding_window" in fields.config else 0
    )
    return "sliding", pattern or never, first or 0


def state_layer(fields: Fields) -> LayerGroup:
    """A layer that keeps a state; its size is known for gated delta nets only.

    They keep a matrix for each head, and the inputs of a convolution.
    """
    if not fields.find("linear_num_value_heads"):
        return LayerGroup(
            "recurrent", 1, state_note=N_("the size of their state is not known here")
        )
    heads, keys = fields.number("linear_num_value_heads"), fields.number("linear_num_key_heads")
    key_dim, value_dim = (
        fields.number("linear_key_head_dim"),
        fields.number("linear_value_head_dim"),
    )
    channels = 2 * keys * key_dim + heads * value_dim
    kernel = fields.number("linear_conv_kernel_dim")
    states = (
        State("conv", channels * kernel),
        State("recurrent", heads * key_dim * value_dim, "float32"),
    )
    return LayerGroup("recurrent", 1, state=states, state_note="gated delta net")
