"""A word is added: what full attention has to compute again, and causal attention has not."""

from collections.abc import Mapping

from torch import Tensor

from explainers.attention.single_head import Projections
from explainers.chapters.common.score_matrix import miniatures, rows_moved
from explainers.chapters.masks.masked_weights import Tokens
from explainers.charts.matrix import Matrix, share_domain
from explainers.charts.theme import FEATURE_AXIS, TOKEN_AXIS
from explainers.translations import _
from explainers.ui.figure.panels import Figure, Panel


def list_next_words(tokens: Tokens) -> str:
    """A line per row of a causal sentence: what it has read, and which word it must say."""
    nexts = (*tokens[1:], "?")
    lines = [f"{' '.join(tokens[: n + 1])}  →  {word}" for n, word in enumerate(nexts)]
    return "\n".join(lines)


def draw_growing(tokens: Tokens, found: Mapping[str, Projections]) -> Figure:
    """What one more word changes in K and V of a second layer, under each mask."""
    drawn = [
        _change(f"{letter}, {_(name)}", getattr(change, role), tokens, role)
        for name, change in found.items()
        for letter, role in (("K", "key"), ("V", "value"))
    ]
    panels = [
        Panel(matrix.name, matrix, operator="" if n % 2 else " ")
        for n, matrix in enumerate(share_domain(*drawn))
    ]
    alt = _("What one more word changes in K and V of the second layer, full and causal.")
    return Figure(miniatures(panels, len(tokens)), alt)


def _change(name: str, change: Tensor, tokens: Tokens, role: str) -> Matrix:
    rows, columns = rows_moved(change), [str(n) for n in range(change.shape[1])]
    formula = _("new − old: {rows} of {all} rows change", rows=rows, all=len(tokens))
    return Matrix(
        name, formula, change.tolist(), tokens, columns, TOKEN_AXIS, FEATURE_AXIS, role=role
    )
