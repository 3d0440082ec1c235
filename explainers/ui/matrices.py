"""Linked matrices in the browser: point, click and step without waiting for the server.

Vega cannot link pictures that wrap to a phone's width, nor step by keys, so these are drawn by a
small component. `charts.heatmap` draws the same matrices for downloads and notebooks.
"""

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import streamlit as st

from explainers.charts.matrix import Values
from explainers.charts.theme import Theme, rgb
from explainers.ui.panels import Cell, Panel, Slider, Source

HERE = Path(__file__).parent
MOST_CELLS, LONGEST_SIDE = 1500, 32
"""A matrix with more is drawn as one image; `matrices.js` draws what it is told."""


def show_matrices(
    panels: Sequence[Panel],
    picked: Cell | None,
    theme: Theme,
    key: str,
    on_pick: Callable[[Cell], None],
    stepper: str = "",
    slider: Slider | None = None,
    working: dict[str, Any] | None = None,
) -> str:
    """Draw the panels, wrapped to the width there is; returns the link that was clicked, or "".

    `stepper` names the panel whose cells are stepped through; `working` is shown beside a click.
    """
    by_id = {panel.id: panel for panel in panels}

    def pick() -> None:
        cell = st.session_state[key].cell
        if cell and (panel := by_id.get(str(cell.get("panel")))):
            row, column = int(cell["row"]), int(cell["column"])
            on_pick(Cell(panel.id, *((column, row) if panel.flipped else (row, column))))

    def turn() -> None:
        frame = st.session_state[key].frame
        if slider and isinstance(frame, int) and 0 <= frame < len(slider.labels):
            slider.on_turn(frame)

    result = _component()(
        key=key,
        data={
            "panels": [_sent(panel, by_id, theme) for panel in panels],
            "ramps": {"signed": _ramp(theme.signed_ramp), "weights": _ramp(theme.weight_ramp)},
            "selected": _selected(picked, by_id),
            "stepper": stepper,
            "slider": slider
            and {"label": slider.label, "labels": list(slider.labels), "index": slider.index},
            "working": working,
            "highlight": theme.highlight,
        },
        on_cell_change=pick,
        on_frame_change=turn,
        on_open_change=lambda: None,
    )
    return result.open or ""


def _sent(panel: Panel, by_id: dict[str, Panel], theme: Theme) -> dict[str, Any]:
    matrix = panel.matrix.transposed() if panel.flipped else panel.matrix
    low, high = matrix.domain
    return {
        "id": panel.id,
        "name": matrix.name,
        "formula": _as_drawn(matrix.formula) if panel.flipped else matrix.formula,
        "operator": panel.operator,
        "link": panel.link,
        "rows": list(matrix.rows),
        "columns": list(matrix.columns),
        "row_axis": matrix.row_axis,
        "column_axis": matrix.column_axis,
        "row_tokens": matrix.has_tokens(matrix.row_axis),
        "column_tokens": matrix.has_tokens(matrix.column_axis),
        "values": _short(matrix.values),
        "frames": [_short(_turned(frame, panel.flipped)) for frame in panel.frames],
        "kind": matrix.kind,
        "low": low,
        "high": high,
        "colour": theme.role(matrix.role),
        "image": max(matrix.shape) > LONGEST_SIDE or math.prod(matrix.shape) > MOST_CELLS,
        "sources": [_frame(s, panel, by_id) for s in panel.sources if s.panel in by_id],
    }


def _as_drawn(formula: str) -> str:
    return formula.replace("every row", "every column") + ", drawn transposed"


def _turned(values: Values, flipped: bool) -> Values:
    return [list(column) for column in zip(*values, strict=True)] if flipped else values


def _short(values: Values) -> list[list[float | None]]:
    """Six digits, twice what is printed: half the bytes to send."""
    return [[None if v is None else float(f"{v:.6g}") for v in line] for line in values]


def _frame(source: Source, picked: Panel, by_id: dict[str, Panel]) -> dict[str, str | None]:
    exchanged = {"row": "column", "column": "row", None: None}
    row, column = source.row, source.column
    if picked.flipped:
        row, column = exchanged[row], exchanged[column]
    if by_id[source.panel].flipped:
        row, column = column, row
    return {"panel": source.panel, "row": row, "column": column}


def _selected(picked: Cell | None, by_id: dict[str, Panel]) -> dict[str, Any] | None:
    if picked is None or picked.panel not in by_id:
        return None
    row, column = picked.row, picked.column
    if by_id[picked.panel].flipped:
        row, column = column, row
    return {"panel": picked.panel, "row": row, "column": column}


def _ramp(colours: Sequence[str]) -> list[list[int]]:
    return [list(rgb(colour)) for colour in colours]


@st.cache_resource(show_spinner=False)
def _component() -> Callable[..., Any]:
    return st.components.v2.component(
        "attention.matrices",
        html='<div class="figure"></div>\n',
        css=(HERE / "matrices.css").read_text(encoding="utf-8"),
        js=(HERE / "matrices.js").read_text(encoding="utf-8"),
    )
