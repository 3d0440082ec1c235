"""Reads layers that merge several tokens into one row (DeepSeek-V4, 2026, section 2.3)."""

from collections import Counter
from collections.abc import Collection, Sequence

from explainers.memory.checked_fields import ConfigFields, shorten_value
from explainers.memory.model_shapes import LayerGroup, RecurrentState
from explainers.messages import N_

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
    return ValueError(
        N_(
            "{name} names {listed} layers, num_hidden_layers {count}",
            name=name,
            listed=listed,
            count=num_layers,
        )
    )


def refuse_other(name: str, entries: Sequence[object], known: Collection[object]) -> None:
    """Raise ValueError for a layer of a kind that is not known here."""
    for entry in entries:
        if entry not in known:
            raise ValueError(
                N_(
                    "{name}: {one} is not one of {known}",
                    name=name,
                    one=shorten_value(entry),
                    known=", ".join(map(str, known)),
                )
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
