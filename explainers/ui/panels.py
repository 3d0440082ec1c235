"""Matrices with their place in a computation: what the linked picture is made of."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from explainers.charts.matrix import Matrix, Values
from explainers.ui.language import said, translated

PRODUCT = ("", "·", "=")
"""What stands before the three panels of a matrix product."""


@dataclass(frozen=True)
class Source:
    """Where a number came from: the row and column of `panel` that the picked cell names.

    `row` and `column` are "row" or "column" of the picked cell, or None for all of them.
    """

    panel: str
    row: str | None = None
    column: str | None = None


@dataclass(frozen=True)
class Panel:
    """A matrix with its place in the computation; `flipped` shows it with its axes exchanged.

    `heading` begins a new line of the picture under these words and a `remark` on them. A `small`
    one is a miniature without digits; of several alike one can be `marked` as chosen, or `muted`
    as not taking part. The row of the query `followed` stands in a box.
    One that `grows` has a row more in each frame of the slider.
    A `dense` one becomes an image as soon as it has more numbers than one would read.
    """

    id: str
    matrix: Matrix
    operator: str = ""
    has_page: bool = False
    sources: tuple[Source, ...] = ()
    flipped: bool = False
    frames: tuple[Values, ...] = ()
    heading: str = ""
    remark: str = ""
    small: bool = False
    marked: bool = False
    muted: bool = False
    followed: int | None = None
    dense: bool = False
    grows: bool = False

    @property
    def formula(self) -> str:
        """The matrix's formula as it is true of the picture; a miniature has no room for more."""
        formula = translated(self.matrix.formula)
        if self.small or not self.flipped:
            return formula
        turned = formula.replace(said("every row"), said("every column"))
        return said("{formula}, drawn transposed", formula=turned)


@dataclass(frozen=True)
class Slider:
    """Dragged in the browser: frame n of every panel was computed for `labels[n]`.

    One that `plays` has buttons to play, pause and step through its frames.
    """

    label: str
    labels: Sequence[str]
    index: int
    on_turn: Callable[[int], None]
    plays: bool = False


@dataclass(frozen=True)
class Cell:
    """One number: the panel it stands in, its row and its column as the matrix counts them."""

    panel: str
    row: int
    column: int


def oriented(panels: Sequence[Panel], queries_down: bool) -> list[Panel]:
    """Exchange the axes of query-key matrices if the reader wants the queries along the top."""
    return [replace(p, flipped=p.matrix.is_pairs and not queries_down) for p in panels]


@dataclass(frozen=True)
class Figure:
    """A linked picture: `alt` says in a sentence what is seen.

    Without `on_pick` its numbers cannot be picked. `stepper` names the panel whose cells are
    stepped through; `working` is shown beside a number that was clicked.
    """

    panels: Sequence[Panel]
    alt: str
    picked: Cell | None = None
    on_pick: Callable[[Cell], None] | None = None
    stepper: str = ""
    slider: Slider | None = None
    working: dict[str, Any] | None = None
