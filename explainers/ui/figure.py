"""Linked matrices with what belongs under every picture: origin, table and files."""

from collections.abc import Callable, Sequence
from typing import Any

from explainers.ui.matrices import show_matrices
from explainers.ui.panels import Cell, Panel, Slider
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
    opened = show_matrices(panels, picked, theme(), name, on_pick, stepper, slider, working)
    take_away(key, origin, lambda: _drawn(panels), lambda: _table(panels))
    return opened


def _drawn(panels: Sequence[Panel]) -> Any:
    from explainers.charts.heatmap import heatmaps  # altair is not needed for the first paint

    shown = [panel.matrix.transposed() if panel.flipped else panel.matrix for panel in panels]
    return heatmaps(shown, theme())


def _table(panels: Sequence[Panel]) -> Any:
    from explainers.charts.heatmap import table_of

    return table_of([panel.matrix for panel in panels])
