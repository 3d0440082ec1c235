"""Linked matrices with what belongs under every picture: origin, table and files."""

from collections.abc import Callable, Sequence
from typing import Any

from explainers.charts.theme import Theme
from explainers.ui.matrices import show_matrices
from explainers.ui.panels import PRODUCT, Cell, Panel, Slider
from explainers.ui.picture import take_away, theme


def show_figure(
    panels: Sequence[Panel],
    origin: str,
    key: str,
    picked: Cell | None = None,
    on_pick: Callable[[Cell], None] = lambda _: None,
    stepper: str = "",
    slider: Slider | None = None,
    working: dict[str, Any] | None = None,
) -> str:
    """`show_matrices` with its badge and its files; returns the link that was clicked, or ""."""
    name = f"picture {key}"
    look = theme()
    opened = show_matrices(panels, picked, look, name, on_pick, stepper, slider, working)
    take_away(key, origin, lambda: _drawn(panels, picked, look), lambda: _table(panels))
    return opened


def _drawn(panels: Sequence[Panel], picked: Cell | None, look: Theme) -> Any:
    from explainers.charts.heatmap import heatmaps, product  # the first paint needs no altair

    operators = tuple(panel.operator for panel in panels)
    shown = [panel.matrix.transposed() if panel.flipped else panel.matrix for panel in panels]
    if picked and picked.panel == panels[-1].id and operators == PRODUCT:
        place = (picked.column, picked.row) if panels[-1].flipped else (picked.row, picked.column)
        left, right, result = shown
        return product(left, right, result, *place, look)
    return heatmaps(shown, look)


def _table(panels: Sequence[Panel]) -> Any:
    from explainers.charts.heatmap import table_of

    return table_of([panel.matrix for panel in panels])
