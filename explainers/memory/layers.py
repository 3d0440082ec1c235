"""Which layers of a config.json keep what: full, in a window, a latent, a state, or nothing."""

from collections import Counter
from dataclasses import replace

from explainers.memory.checks import shown
from explainers.memory.fields import Fields
from explainers.memory.groups import LayerGroup, State

KINDS = {
    "full_attention": "full",
    "attention": "full",
    "sliding_attention": "sliding",
    "chunked_attention": "chunked",
    "linear_attention": "recurrent",
}
MOST_LAYERS = 1_000
UNKNOWN = (
    "attn_type_list", "layers_block_type", "hybrid_override_pattern", "attn_layer_period",
    "linear_attn_config", "compress_ratios", "state_size", "block_types",
)  # fmt: skip
"""Fields of models that keep other things than keys and values; guessing would be wrong."""


def decoder_groups(fields: Fields, encoder_decoder: bool) -> tuple[LayerGroup, ...]:
    """The groups of the layers that generate, and what they keep of an encoder's text."""
    for name in UNKNOWN:
        if fields.config.get(name) is not None:
            raise ValueError(f"{name}: layers like these are not known here; make a model by hand")
    names = ["num_hidden_layers", "n_layer", "num_layers"]
    if encoder_decoder:
        names = ["decoder_layers", "num_decoder_layers", *names]
    count = fields.number(*names, largest=MOST_LAYERS)
    if fields.find("kv_lora_rank"):
        return latent_groups(fields, count)
    kinds = kinds_of_layers(fields, count)
    shared = fields.find("num_kv_shared_layers", least=0) or 0
    if shared >= count:
        raise ValueError(f"num_kv_shared_layers {shared} leaves none of {count} layers a cache")
    if shared:
        fields.notes.append(f"The last {shared} layers share the cache of earlier ones.")
    kinds = kinds[: count - shared]
    groups = [group(fields, kind, number) for kind, number in Counter(kinds).items()]
    if encoder_decoder:
        groups.append(replace(groups[0], kind="cross", window=None, count=count))
    return tuple(groups)


def latent_groups(fields: Fields, count: int) -> tuple[LayerGroup, ...]:
    """Multi-head latent attention: one latent and one rotary key for all heads."""
    latent_dim, rope_dim = fields.number("kv_lora_rank"), fields.number("qk_rope_head_dim")
    groups = [LayerGroup("latent", count, latent_dim=latent_dim, rope_dim=rope_dim)]
    index_dim = fields.find("index_head_dim")
    if index_dim:
        groups.append(LayerGroup("index", count, head_dim=index_dim))
    return tuple(groups)


def group(fields: Fields, kind: str, count: int) -> LayerGroup:
    """One group of layers; Gemma 4 gives its global layers heads of their own."""
    if kind == "recurrent":
        return LayerGroup(kind, count, state=delta_state(fields), state_note="gated delta net")
    heads, head_dim = fields.num_kv_heads(), fields.head_dim()
    if kind == "full":
        heads = fields.find("num_global_key_value_heads") or heads
        head_dim = fields.find("global_head_dim") or head_dim
    names = {"sliding": "sliding_window", "chunked": "attention_chunk_size"}
    window = fields.number(names[kind]) if kind in names else None
    return LayerGroup(kind, count, heads, head_dim, window)


def kinds_of_layers(fields: Fields, count: int) -> list[str]:
    """The kind of each layer: listed, or from the older fields for windows."""
    listed = fields.names("layer_types")
    if listed is not None:
        if len(listed) != count:
            raise ValueError(f"layer_types names {len(listed)} layers, num_hidden_layers {count}")
        for name in listed:
            if name not in KINDS:
                raise ValueError(f"layer_types: {shown(name)} is not one of {', '.join(KINDS)}")
        return [KINDS[name] for name in listed]
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
            fields.notes.append("sliding_window is there but switched off by use_sliding_window.")
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


def delta_state(fields: Fields) -> tuple[State, ...]:
    """What a gated delta net keeps: a matrix for each head, and the inputs of a convolution."""
    heads, keys = fields.number("linear_num_value_heads"), fields.number("linear_num_key_heads")
    key_dim, value_dim = (
        fields.number("linear_key_head_dim"),
        fields.number("linear_value_head_dim"),
    )
    channels = 2 * keys * key_dim + heads * value_dim
    kernel = fields.number("linear_conv_kernel_dim")
    return (
        State("conv", channels * kernel),
        State("recurrent", heads * key_dim * value_dim, "float32"),
    )
