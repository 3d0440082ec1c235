"""A linked picture in the visitor's language: all its words but the reader's own."""

import functools
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from explainers.charts.matrix import Matrix
from explainers.ui.language import ENGLISH, language, translated
from explainers.ui.panels import Figure, Panel

_SAID = re.compile(r'\bsay\("([^"]+)"')


def in_words(figure: Figure) -> Figure:
    """The figure with everything in it said; names of panels and axes are no words but keys."""
    if language() == ENGLISH:
        return figure
    slider, working = figure.slider, figure.working
    if slider:
        labels = [translated(label) for label in slider.labels]
        slider = replace(slider, label=translated(slider.label), labels=labels)
    if working:
        lines = [translated(line) for line in working["lines"]]
        working = {**working, "title": translated(working["title"]), "lines": lines}
    panels = [_panel(panel) for panel in figure.panels]
    alt = translated(figure.alt)
    return replace(figure, panels=panels, alt=alt, slider=slider, working=working)


def _panel(panel: Panel) -> Panel:
    said, operator = matrix_in_words(panel.matrix), translated(panel.operator)
    heading, remark = translated(panel.heading), translated(panel.remark)
    return replace(panel, matrix=said, operator=operator, heading=heading, remark=remark)


def matrix_in_words(matrix: Matrix) -> Matrix:
    """A matrix with its name, its formula and its labels said."""
    return replace(
        matrix,
        name=translated(matrix.name),
        formula=translated(matrix.formula),
        rows=_labels(matrix, matrix.row_axis, matrix.rows),
        columns=_labels(matrix, matrix.column_axis, matrix.columns),
    )


def _labels(matrix: Matrix, axis: str, labels: Sequence[str]) -> Sequence[str]:
    """Tokens are the reader's words, and stay."""
    return labels if matrix.has_tokens(axis) else [translated(label) for label in labels]


def axes_of(panels: Iterable[Panel]) -> set[str]:
    """How the axes are called."""
    return {axis for panel in panels for axis in (panel.matrix.row_axis, panel.matrix.column_axis)}


def spoken_by(scripts: Sequence[Path], more: Iterable[str] = ()) -> dict[str, str]:
    """What a component's scripts say, `say("…")`, and more, in the visitor's language."""
    if language() == ENGLISH:
        return {}
    return {text: translated(text) for text in (*said_by(tuple(scripts)), *more)}


@functools.cache
def said_by(scripts: tuple[Path, ...]) -> tuple[str, ...]:
    """The English texts in a component's scripts."""
    return tuple(text for file in scripts for text in _SAID.findall(file.read_text("utf-8")))
