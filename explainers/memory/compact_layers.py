"""Layers that keep no row per token: recurrent states, and rows that merge several tokens.

The sizes of states are those of the classes in transformers 5.23, which hold the tensors themselves
in tests; of merged rows, those of DeepSeek-V4 (2026, section 2.3).
"""

from collections import Counter
from collections.abc import Callable, Collection, Sequence

from explainers.memory.cache_bytes import find_format
from explainers.memory.cache_formula import format_both_sizes
from explainers.memory.checked_fields import (
    HEAD_COUNT_FIELDS,
    LAYER_COUNT_FIELDS,
    WIDTH_FIELDS,
    ConfigFields,
    MissingFieldError,
    shorten_value,
)
from explainers.memory.model_shapes import LayerGroup, RecurrentState
from explainers.messages import N_, InputError, Message, get_message

States = tuple[RecurrentState, ...]
STATE_DTYPE_FIELDS = ("mamba_ssm_cache_dtype", "mamba_ssm_dtype")
STATE_DTYPES = ("float32", "bfloat16", "float16")
HEAD_FIELDS = ("mamba_n_heads", "mamba_num_heads", "n_mamba_heads")
STATE_FIELDS = ("mamba_d_state", "ssm_state_size")
GROUP_FIELDS = ("mamba_n_groups", "mamba_ngroups", "n_groups")
KERNEL_FIELDS = ("mamba_d_conv", "conv_kernel")
LING_HEADS = "num_kv_heads_for_linear_attn"
EXPANSION_FIELDS = ("mamba_expand", "expand")


def read_state_layer(fields: ConfigFields) -> LayerGroup:
    """A recurrent layer with its states; where they are not known, it says so."""
    for note, (sign, read_states) in STATE_KINDS.items():
        if sign(fields):
            try:
                return LayerGroup("recurrent", 1, state=read_states(fields), state_note=note)
            except MissingFieldError as error:
                return LayerGroup("recurrent", 1, state_note=get_message(error))
    return LayerGroup("recurrent", 1, state_note=N_("the size of their state is not known here"))


def make_states(fields: ConfigFields, waiting: int, adding_up: int) -> States:
    """Inputs that wait for a convolution, and what adds up over a text.

    The latter takes 32 bits for each number, unless the file says otherwise.
    """
    named = (fields.read_text(name) for name in STATE_DTYPE_FIELDS)
    stated = next((name for name in named if name in STATE_DTYPES), "")
    if not stated:
        fields.add_note(
            "States are counted in float32, as transformers keeps them; some engines take 16 bits."
        )
    state = RecurrentState("recurrent", adding_up, stated or "float32")
    return RecurrentState("conv", waiting), state


def read_delta_states(fields: ConfigFields) -> States:
    """Gated DeltaNet (Yang et al. 2024): a matrix for each value head, and inputs that wait."""
    num_value_heads = fields.require_number("linear_num_value_heads")
    num_key_heads = fields.require_number("linear_num_key_heads")
    key_dim = fields.require_number("linear_key_head_dim")
    value_dim = fields.require_number("linear_value_head_dim")
    channels = 2 * num_key_heads * key_dim + num_value_heads * value_dim
    waiting = channels * fields.require_number("linear_conv_kernel_dim")
    return make_states(fields, waiting, num_value_heads * key_dim * value_dim)


def read_kimi_states(fields: ConfigFields) -> States:
    """Kimi Delta Attention (2025): a square matrix for each head, queries, keys and values wait."""
    nested = fields.read_object("linear_attn_config")
    if nested is not None and nested.find_number("num_heads"):
        num_heads, head_dim = (nested.require_number(name) for name in ("num_heads", "head_dim"))
        kernel = nested.require_number("short_conv_kernel_size")
    elif fields.find_number("linear_num_heads"):
        num_heads = fields.require_number("linear_num_heads")
        head_dim = fields.require_number("linear_head_dim")
        kernel = fields.require_number("linear_conv_kernel_dim")
    else:  # Ling 3 gives it the heads of its other layers
        num_heads, head_dim = fields.read_num_heads(), fields.require_number("head_dim")
        kernel = fields.require_number("short_conv_kernel_size")
    return make_states(fields, 3 * num_heads * head_dim * kernel, num_heads * head_dim**2)


def read_mamba2_states(fields: ConfigFields) -> States:
    """Mamba-2 (Dao & Gu 2024): a matrix of head_dim × state for each head."""
    num_heads, state_dim = (fields.require_number(*names) for names in (HEAD_FIELDS, STATE_FIELDS))
    given = fields.config.get("mamba_d_head")
    names = ["mamba_head_dim", "mamba_headdim"] + (["mamba_d_head"] if given != "auto" else [])
    head_dim = fields.find_number(*names)
    if head_dim is None:
        head_dim = read_inner_width(fields) // num_heads
    num_groups = fields.find_number(*GROUP_FIELDS) or 1
    channels = num_heads * head_dim + 2 * num_groups * state_dim
    waiting = channels * fields.require_number(*KERNEL_FIELDS)
    return make_states(fields, waiting, num_heads * head_dim * state_dim)


def read_mamba1_states(fields: ConfigFields) -> States:
    """Mamba (Gu & Dao 2023): a state for each channel of the widened layer.

    A file of Mamba's own says how many: Falcon Mamba's `expand` is another number. A hybrid's
    `intermediate_size` is that of its feed-forward layers.
    """
    is_hybrid = fields.find_number("mamba_expand")
    stated = None if is_hybrid else fields.find_number("intermediate_size")
    width, state_dim = stated or read_inner_width(fields), fields.require_number(*STATE_FIELDS)
    waiting = width * fields.require_number(*KERNEL_FIELDS)
    return make_states(fields, waiting, width * state_dim)


def read_inner_width(fields: ConfigFields) -> int:
    """How many channels a Mamba layer has: d_model, widened."""
    width = fields.find_number("mamba_d_ssm")
    return width or fields.require_number(*EXPANSION_FIELDS) * fields.require_number(*WIDTH_FIELDS)


def read_convolution_states(fields: ConfigFields) -> States:
    """A short convolution (LFM2): the last inputs, and no state beside them."""
    width = fields.require_number(*WIDTH_FIELDS)
    return (RecurrentState("conv", width * fields.require_number("conv_L_cache")),)


def read_lightning_states(fields: ConfigFields) -> States:
    """Lightning attention (MiniMax-01, Ling 2.5): a square matrix for each head, in 16 bits."""
    num_heads = fields.find_number(LING_HEADS, minimum=0) or fields.read_num_heads()
    return (RecurrentState("recurrent", num_heads * fields.read_head_dim() ** 2),)


def read_mixed_states(fields: ConfigFields) -> States:
    """Compressed convolutional attention (ZAYA1): queries and keys that two convolutions need.

    Half of each value is made of the token before, which is kept as well.
    """
    num_kv_heads, head_dim = fields.read_num_kv_heads(), fields.read_head_dim()
    kernel = sum(fields.require_number(f"cca_time{n}") - 1 for n in range(2))
    channels = (fields.read_num_heads() + num_kv_heads) * head_dim
    return (
        RecurrentState("conv", channels * kernel),
        RecurrentState("value", num_kv_heads * head_dim // 2),
    )


def _has(*names: str) -> Callable[[ConfigFields], bool]:
    return lambda fields: fields.has_any(*names)


def _has_mamba1(fields: ConfigFields) -> bool:
    """Mamba widens its steps from a vector of this rank; Mamba-2 has one step for each head."""
    return fields.has_any("mamba_dt_rank") or not fields.has_any(*HEAD_FIELDS)


def _is_lightning(fields: ConfigFields) -> bool:
    is_listed = bool({"attn_type_list", LING_HEADS} & {*fields.config})
    return is_listed or fields.read_text("model_type") == "minimax"


STATE_KINDS: dict[str, tuple[Callable[[ConfigFields], bool], Callable[[ConfigFields], States]]] = {
    "gated delta net": (_has("linear_num_value_heads"), read_delta_states),
    "Kimi delta attention": (
        _has("linear_attn_config", "linear_num_heads", "short_conv_kernel_size"),
        read_kimi_states,
    ),
    "Mamba": (lambda f: _has(*STATE_FIELDS)(f) and _has_mamba1(f), read_mamba1_states),
    "Mamba-2": (_has(*STATE_FIELDS), read_mamba2_states),
    "short convolution": (_has("conv_L_cache"), read_convolution_states),
    "compressed convolutional attention": (_has("cca_time0"), read_mixed_states),
    "lightning attention": (_is_lightning, read_lightning_states),
}
"""By the name of the mechanism: the fields by which a file shows it, and its states."""

NO_ATTENTION = {
    "falcon_mamba", "mamba", "mamba2", "rwkv", "rwkv5", "rwkv6", "rwkv7", "xlstm",
}  # fmt: skip
"""Architectures (`model_type`) of states alone."""
NAMES_BESIDE_ATTENTION = {
    "state_size": "ssm_state_size", "num_heads": "mamba_num_heads", "head_dim": "mamba_head_dim",
}  # fmt: skip
"""What a model of states alone calls its sizes, and what a hybrid calls them."""


def _is_mamba_file(fields: ConfigFields) -> bool:
    """Whether it is one of the first files of Mamba, which do not name their architecture."""
    is_hybrid = fields.has_any("attn_layer_idx", *HEAD_COUNT_FIELDS[:1])
    return not is_hybrid and not {"ssm_cfg", "state_size"}.isdisjoint(fields.config)


def refuse_without_attention(fields: ConfigFields) -> None:
    """Raise ValueError for a model of states alone, with their size where it is known."""
    kind = fields.read_text("model_type")
    if kind not in NO_ATTENTION and not _is_mamba_file(fields):
        return
    name = kind or Message(N_("this model"), {})
    known = {**fields.defaults, **fields.config}
    renamed = {NAMES_BESIDE_ATTENTION.get(name, name): value for name, value in known.items()}
    states = read_state_layer(ConfigFields(renamed)).state
    num_layers = fields.find_number(*LAYER_COUNT_FIELDS)
    if not states or num_layers is None:
        raise InputError(
            "{kind} has no attention, so it has no KV cache: each text has a state that stays "
            "as large as it is",
            kind=name,
        )
    size = sum(state.elements * find_format(state.dtype).bits // 8 for state in states)
    raise InputError(
        "{kind} has no attention, so it has no KV cache: each text has a state of {size}, "
        "however long it gets",
        kind=name,
        size=format_both_sizes(num_layers * size),
    )


WINDOW_ONLY, SPARSE, HEAVY = 0, 4, 128
"""How many tokens make a row in each of DeepSeek's three kinds of layers; 0: none."""
RATIO_BY_TYPE = {
    "sliding_attention": WINDOW_ONLY,
    "compressed_sparse_attention": SPARSE,
    "heavily_compressed_attention": HEAVY,
}
LEGACY_RATES = {SPARSE: "compress_rate_csa", HEAVY: "compress_rate_hca"}


def read_compressed_layers(fields: ConfigFields, num_layers: int) -> list[LayerGroup]:
    """A group of one layer for each layer, an index beside the sparse ones; empty for others.

    A row is key and value at once, for all heads. Each layer also keeps a short window.
    """
    ratios = read_ratios(fields, num_layers)
    if not any(ratios):
        return []
    head_dim, window = fields.read_head_dim(), fields.require_number("sliding_window")
    index_dim = fields.require_number("index_head_dim") if SPARSE in ratios else 0
    rates = {ratio: read_rate(fields, ratio) for ratio in (SPARSE, HEAVY)} | {WINDOW_ONLY: 0}
    layers = []
    for ratio in ratios:
        widths = [head_dim, index_dim] if ratio == SPARSE else [head_dim]
        rate, overlaps = rates[ratio], ratio == SPARSE
        waiting = sum(count_waiting_elements(width, rate, overlaps) for width in widths)
        state = (RecurrentState("waiting", waiting),) if ratio else ()
        layers.append(
            LayerGroup("compressed", 1, head_dim=head_dim, window=window, ratio=rate, state=state)
        )
        if ratio == SPARSE:
            layers.append(LayerGroup("index", 1, head_dim=index_dim, ratio=rate))
    return layers


def read_ratios(fields: ConfigFields, num_layers: int) -> list[int]:
    """The kind of each layer by how many tokens make a row; empty where none do."""
    field, ratios = "compress_ratios", fields.read_whole_numbers("compress_ratios")
    if ratios is None:
        field, names = "layer_types", fields.read_names("layer_types")
        if names is None:
            names = [name for name in fields.defaults.get("layer_types") or () if name]
        if not any(name in RATIO_BY_TYPE and RATIO_BY_TYPE[name] for name in names):
            return []
        refuse_other("layer_types", names, RATIO_BY_TYPE)
        if "layer_types" not in fields.config:
            counted = ", ".join(f"{count} {name}" for name, count in Counter(names).items())
            fields.note_default("layer_types", counted)
        ratios = [RATIO_BY_TYPE[name] for name in names]
    else:
        refuse_other("compress_ratios", ratios, RATIO_BY_TYPE.values())
    if len(ratios) < num_layers:
        raise wrong_count_error(field, len(ratios), num_layers)
    return ratios[:num_layers]  # layers that guess several tokens ahead stand behind the others


def wrong_count_error(name: str, listed: int, num_layers: int) -> ValueError:
    """A list of layers is not as long as there are layers."""
    return InputError(
        "{name} names {listed} layers, num_hidden_layers {count}",
        name=name,
        listed=listed,
        count=num_layers,
    )


def refuse_other(name: str, entries: Sequence[object], known: Collection[object]) -> None:
    """Raise ValueError for a layer of a kind that is not known here."""
    for entry in entries:
        if entry not in known:
            raise InputError(
                "{name}: {one} is not one of {known}",
                name=name,
                one=shorten_value(entry),
                known=", ".join(map(str, known)),
            )


def read_rate(fields: ConfigFields, ratio: int) -> int:
    """How many tokens make a row in layers of this kind, where the file changes it."""
    rates = fields.read_object("compress_rates")
    [name] = [name for name, kind in RATIO_BY_TYPE.items() if kind == ratio]
    changed = rates.find_number(name) if rates is not None else None
    return changed or fields.find_number(LEGACY_RATES[ratio]) or ratio


def count_waiting_elements(width: int, rate: int, overlaps: bool) -> int:
    """The most that waits to be merged: a row and a gate for each of the last rate − 1 tokens.

    Rows of sparse layers overlap: each token has two rows, and those of the last merged tokens
    are needed once more.
    """
    if overlaps:
        return 2 * (rate - 1) * 2 * width + 2 * rate * width
    return 2 * (rate - 1) * width
