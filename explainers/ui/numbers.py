"""Click a number, see its arithmetic."""

from collections.abc import Callable, Sequence

import streamlit as st

from explainers.ui import controls
from explainers.ui.matrices import Cell, Panel, show_matrices
from explainers.ui.picture import take_away, theme
from explainers.working import Working


def explore(
    panels: Sequence[Panel], working: Callable[[Cell], Working], key: str, stepper: str = ""
) -> str:
    """Draw linked matrices; a click on a number, or the fields below, show how it was computed.

    Returns the link of a panel whose title was clicked, or "".
    """
    picture = st.container()
    with st.container(border=True):
        st.markdown("**Click a number** in the picture, or choose it here, to see its arithmetic.")
        cell = _chosen(panels, stepper)
        full = working(cell)
        title = _title(cell, panels)
        _arithmetic(title, full)
    with picture:
        card = {"title": title, "lines": full.lines, "snippet": full.snippet}
        opened = show_matrices(
            panels, cell, theme(), f"picture {key}", _pick, stepper, working=card
        )
        take_away(key, lambda: _drawn(panels), lambda: _table(panels))
    return opened


def _chosen(panels: Sequence[Panel], stepper: str) -> Cell:
    names = [panel.id for panel in panels]
    with st.container(horizontal=True):
        name = controls.matrix(names, stepper or names[-1])
        rows, columns = panels[names.index(name)].matrix.shape
        return Cell(name, controls.row(0, rows - 1), controls.column(0, columns - 1))


def _pick(cell: Cell) -> None:
    st.session_state[controls.matrix.key] = cell.panel
    st.session_state[controls.row.key] = cell.row
    st.session_state[controls.column.key] = cell.column


def _title(cell: Cell, panels: Sequence[Panel]) -> str:
    matrix = next(panel.matrix for panel in panels if panel.id == cell.panel)
    row, column = matrix.rows[cell.row], matrix.columns[cell.column]
    return f"{matrix.name}: {matrix.row_axis} {row}, {matrix.column_axis} {column}"


def _arithmetic(title: str, working: Working) -> None:
    st.text(title)
    left, right = st.columns(2)
    height = 320 if len(working.lines) > 12 else "content"
    left.code("\n".join(working.lines), language=None, height=height)
    right.code(working.snippet, language="python", wrap_lines=True)


def _drawn(panels: Sequence[Panel]) -> object:
    from explainers.charts.heatmap import heatmaps  # altair is not needed for the first paint

    shown = [panel.matrix.transposed() if panel.flipped else panel.matrix for panel in panels]
    return heatmaps(shown, theme())


def _table(panels: Sequence[Panel]) -> object:
    from explainers.charts.heatmap import table_of

    return table_of([panel.matrix for panel in panels])
