"""Linked matrices in the visitor's language, with what belongs under every picture."""

from typing import Any

from explainers.charts.theme import Theme
from explainers.ui.figure.chart import take_away, theme
from explainers.ui.figure.linked_matrices import show_matrices
from explainers.ui.figure.panels import PRODUCT, Figure, in_words


def show_figure(figure: Figure, origin: str, key: str) -> str:
    """`show_matrices` with badge and files; returns the panel whose name was clicked, or ""."""
    look, figure = theme(), in_words(figure)
    opened = show_matrices(figure, look, f"picture {key}")
    take_away(key, origin, lambda: _drawn(figure, look), lambda: _table(figure))
    return opened


def _drawn(figure: Figure, look: Theme) -> Any:
    from explainers.charts.heatmap import (  # the first paint needs no altair
        draw_heatmaps,
        draw_product,
    )

    *_, last = figure.panels
    picked = figure.picked
    shown = [p.matrix.transposed() if p.flipped else p.matrix for p in figure.panels]
    is_product = tuple(panel.operator for panel in figure.panels) == PRODUCT
    if is_product and picked and picked.panel == last.id:
        place = (picked.column, picked.row) if last.flipped else (picked.row, picked.column)
        left, right, result = shown
        return draw_product(left, right, result, *place, look)
    return draw_heatmaps(shown, look)


def _table(figure: Figure) -> Any:
    from explainers.charts.heatmap import make_table

    return make_table([panel.matrix for panel in figure.panels])
