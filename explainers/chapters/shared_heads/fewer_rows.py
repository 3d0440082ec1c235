"""Caches with fewer rows: words that are merged into one, and layers that keep none."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

from explainers.attention.merged_rows import merge_rows, waiting_rows
from explainers.chapters.shared_heads.takeaway import MergedWords
from explainers.charts.matrix import Matrix
from explainers.charts.theme import FEATURE_AXIS, TOKEN_AXIS
from explainers.memory.cache_bytes import count_lasting_bytes, require_groups
from explainers.memory.model_shapes import ModelShape, find_shape
from explainers.translations import _
from explainers.ui.figure.panels import Figure, Panel
from explainers.ui.provenance import random_weights
from explainers.ui.text.numbers import write_percent
from explainers.ui.untrusted_text import verbatim

BEFORE, AFTER = "deepseek-v3.2-exp", "deepseek-v4-flash"
PUBLISHED = 0.07
"""The model card's share of what the model before keeps of a token, in their own formats."""
PACKED_SHARE = (21 * (584 + 68) / 4 + 20 * 584 / 128) / (61 * (656 + 132))
"""The same with our bytes of a row, and of a key of the index, in the formats of engines."""
LAYERS, BORROWING = 35, 15
"""Gemma 3n: its layers, and how many of them read the keys and values of an earlier one."""


CODE = (merge_rows,)
"""What a page shows of it."""


def ask_rows(found: MergedWords) -> tuple[str, list[str]]:
    """How many rows are full, and what one might think."""
    words, full = len(found.tokens), len(found.merged)
    return f"{full}", [f"{count}" for count in sorted({full, full + 1, words})]


def draw_rows(found: MergedWords) -> tuple[Figure, str]:
    """A row for each word, the weights that merge them, the rows kept; and whose these are."""
    columns = [f"{n}" for n in range(found.rows.shape[1])]
    whole = found.tokens[: len(found.merged) * found.width]
    starts = range(0, len(whole), found.width)
    groups = [" ".join(whole[at : at + found.width]) for at in starts]
    parts = {
        "rows": (_("a row for each word"), found.rows, found.tokens),
        "weights": (_("weights, column by column"), found.weights.flatten(0, 1), whole),
        "merged": (_("rows that are kept"), found.merged, groups),
    }
    axes = TOKEN_AXIS, FEATURE_AXIS
    panels = [
        Panel(name, Matrix(title, "", values.tolist(), labels, columns, *axes))
        for name, (title, values, labels) in parts.items()
        if len(labels)
    ]
    alt = _("The rows of all words, the weights that merge them, and the merged rows.")
    return Figure(panels, alt), random_weights(found.seed, found.rows.device)


def name_rows(found: MergedWords) -> dict[str, Any]:
    """What is kept of the text, and of a token in models that do this."""
    waiting = waiting_rows(len(found.tokens), found.width)
    before, after = (_count_in_16_bits(find_shape(name)) for name in (BEFORE, AFTER))
    merging = [group for group in require_groups(find_shape(AFTER)) if group.kind == "compressed"]
    _alone, narrow, wide = sorted(merging, key=lambda group: group.ratio or 0)
    return {
        "waiting": verbatim(" ".join(found.tokens[-waiting:])) if waiting else "–",
        "narrow": narrow.ratio,
        "narrow_layers": narrow.count,
        "wide": wide.ratio,
        "wide_layers": wide.count,
        "all_layers": sum(group.count for group in merging),
        "after": f"{int(after):,}",
        "before": f"{int(before):,}",
        "share": write_percent(float(after / before), 1),
        "published": write_percent(PUBLISHED),
        "own": write_percent(PACKED_SHARE, 1),
        "layers": LAYERS,
        "borrowing": BORROWING,
        "left": write_percent((LAYERS - BORROWING) / LAYERS),
    }


def _count_in_16_bits(shape: ModelShape) -> Fraction:
    """Bytes that a token adds in the end, keys of the index in the same format as all else."""
    groups = tuple(replace(group, token_bytes=0) for group in require_groups(shape))
    return count_lasting_bytes(replace(shape, groups=groups))
