"""What memories of fixed size cost beside caches: the layers of a published model that has both."""

from dataclasses import replace

from explainers.memory.cache_bytes import (
    count_bytes_per_token,
    count_cache_bytes,
    count_extra_bytes,
)
from explainers.memory.model_shapes import ModelShape, find_shape
from explainers.memory.sizes import format_size
from explainers.translations import _
from explainers.ui.figure.chart import show_chart
from explainers.ui.provenance import formula

MODEL = "qwen3-next-80b-a3b"
LENGTHS = tuple(2**power for power in range(10, 19))


def give_attention_to_all(shape: ModelShape) -> ModelShape:
    """The same model, if all of its layers were those with attention."""
    groups = shape.require_groups()
    full = next(group for group in groups if group.kind == "full")
    return replace(shape, groups=(replace(full, count=sum(group.count for group in groups)),))


def count_state_bytes(shape: ModelShape) -> int:
    """What its memories hold at any length."""
    return count_extra_bytes(shape, LENGTHS[0])


def name_costs(shape: ModelShape) -> dict[str, str]:
    """Layers and bytes, for a text."""
    longest = LENGTHS[-1]
    groups = {group.kind: group for group in shape.require_groups()}
    state, every = count_state_bytes(shape), give_attention_to_all(shape)
    per_layer = count_bytes_per_token(shape) // groups["full"].count
    of_memories = per_layer * groups["recurrent"].count
    return {
        "memories": f"{groups['recurrent'].count}",
        "full": f"{groups['full'].count}",
        "layers": f"{every.require_groups()[0].count}",
        "state": format_size(state),
        "same": f"{state / of_memories:,.0f}",
        "per_token": f"{count_bytes_per_token(shape):,}",
        "longest": f"{longest:,}",
        "cache": format_size(count_cache_bytes(shape, longest)),
        "cache_of_all": format_size(count_cache_bytes(every, longest)),
    }


def show_costs(shape: ModelShape) -> None:
    """Bytes at each length: of memories, of layers with attention, and if there were no others."""
    import pandas as pd
    import torch

    from explainers.charts.curves import Axis, draw_curve

    every = give_attention_to_all(shape)
    series = _("memories"), _("layers with attention"), _("if all layers had attention")
    points = []
    for tokens in LENGTHS:
        amounts = (
            count_state_bytes(shape),
            count_cache_bytes(shape, tokens),
            count_cache_bytes(every, tokens),
        )
        points += [
            (tokens, amount / 2**20, name, False)
            for name, amount in zip(series, amounts, strict=True)
        ]
    rows = pd.DataFrame(points, columns=["x", "y", "series", "reference"])
    alt = _("Bytes of a text: the memories stay as they are, the caches grow.")
    axes = {"x": Axis(_("tokens"), is_logarithmic=True), "y": Axis("MiB", is_logarithmic=True)}
    origin = formula(_("bytes of {model}", model=MODEL), torch.device("cpu"))
    show_chart(draw_curve, rows, alt, "memory bytes", origin, series=series, **axes)


def find_model() -> ModelShape:
    """The published model whose layers are of both kinds."""
    return find_shape(MODEL)
