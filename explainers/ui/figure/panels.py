"""Matrices with their place in a computation, and the same in the visitor's language."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeVar

from explainers.arithmetic import Arithmetic
from explainers.charts.matrix import Matrix, Values
from explainers.translations import ENGLISH, _, get_language, say_arithmetic
from explainers.ui.controls.number_controls import BrowserSlider

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

    `heading` begins a new line of the picture under these words. A `small` one is a miniature
    without digits; of several alike one can be `muted` as not taking part. The row of the query
    `followed` stands in a box.
    A `dense` one becomes an image as soon as it has more numbers than one would read.
    Its rows may be chosen from a `pool`, in the list of names that is called `pooled_by` in a link:
    the browser draws them when they are chosen there, and the server says the same later.
    """

    id: str
    matrix: Matrix
    operator: str = ""
    has_page: bool = False
    sources: tuple[Source, ...] = ()
    flipped: bool = False
    frames: tuple[Values, ...] = ()
    heading: str = ""
    small: bool = False
    muted: bool = False
    followed: int | None = None
    dense: bool = False
    pool: Mapping[str, Sequence[float]] = field(default_factory=dict)
    pooled_by: str = ""

    @property
    def formula(self) -> str:
        """The matrix's formula as it is true of the picture; a miniature has no room for more."""
        formula = _(self.matrix.formula)
        if self.small or not self.flipped:
            return formula
        formula_of_columns = formula.replace(_("every row"), _("every column"))
        return _("{formula}, drawn transposed", formula=formula_of_columns)


@dataclass(frozen=True)
class Slider:
    """Dragged in the browser: frame n of every panel was computed for `labels[n]`.

    One that `plays` has buttons to play, pause and step through its frames. Sliders of one name
    move together, and of those one can be `hidden`: its picture follows another one's slider.
    """

    label: str
    labels: Sequence[str]
    index: int
    on_turn: Callable[[int], None]
    plays: bool = False
    name: str = ""
    hidden: bool = False

    @classmethod
    def of(cls, control: BrowserSlider, labels: Sequence[str], place: int, **look: Any) -> "Slider":
        """It moves `control`, whose first steps the labels name."""

        def put(turned: int) -> None:
            control.put(control.steps[turned])

        return cls(control.label, labels, place, put, **look)


@dataclass(frozen=True)
class Cell:
    """One number: the panel it stands in, its row and its column as the matrix counts them."""

    panel: str
    row: int
    column: int


class View(NamedTuple):
    """What a picture shows at one step of a slider, and what to ask about any of its numbers."""

    panels: Sequence[Panel]
    working: Callable[[Cell], Arithmetic]


@dataclass(frozen=True)
class ViewSlider(Slider):
    """Dragged in the browser as well, where more than the numbers of the panels changes.

    There is a view for the chosen step and for those around it, as many as are sent in no time;
    for any other the server is asked.
    """

    views: Mapping[int, View] = field(kw_only=True)

    @property
    def view(self) -> View:
        """What is chosen now."""
        return self.views[self.index]


MOST_VIEWS, MOST_NUMBERS = 9, 40_000
"""Of a picture, with all their numbers together."""


def make_views(slider: Slider, make: Callable[[int], View]) -> ViewSlider:
    """A slider with the views of its steps, the nearest ones first."""
    return ViewSlider(**vars(slider), views=_make_nearest(slider, make))


def draw_views(slider: Slider, draw: Callable[[int], "Figure"]) -> "Figure":
    """A picture whose numbers cannot be picked, with what stands there at the nearest steps."""
    views = _make_nearest(slider, draw)
    return replace(views.pop(slider.index), view_slider=slider, views=views)


Shown = TypeVar("Shown", View, "Figure")


def _make_nearest(slider: Slider, make: Callable[[int], Shown]) -> dict[int, Shown]:
    views: dict[int, Shown] = {}
    room = MOST_NUMBERS
    places = sorted(range(len(slider.labels)), key=lambda place: abs(place - slider.index))
    for place in places[:MOST_VIEWS]:
        view = make(place)
        room -= sum(math.prod(one.matrix.shape) * (1 + len(one.frames)) for one in view.panels)
        if views and room < 0:
            break
        views[place] = view
    return views


def orient_panels(panels: Sequence[Panel], queries_down: bool) -> list[Panel]:
    """Exchange the axes of query-key matrices if the reader wants the queries along the top."""
    return [replace(p, flipped=p.matrix.has_pairs and not queries_down) for p in panels]


@dataclass(frozen=True)
class Figure:
    """A linked picture: `alt` says in a sentence what is seen.

    `template` are the page's words below it, with slots; `named` is what fills them: for each frame
    of the slider, or once for all.
    Without `on_pick` its numbers cannot be picked. `stepper` names the panel whose cells are
    stepped through; `working` is shown beside a number that was clicked. `views` are what stands
    there at other steps of the `view_slider`.
    """

    panels: Sequence[Panel]
    alt: str
    picked: Cell | None = None
    on_pick: Callable[[Cell], None] | None = None
    stepper: str = ""
    slider: Slider | None = None
    working: dict[str, Any] | None = None
    view_slider: Slider | None = None
    views: Mapping[int, "Figure"] = field(default_factory=dict)
    template: str = ""
    named: Sequence[Mapping[str, object]] = ()


def translate_figure(figure: Figure) -> Figure:
    """The figure with everything in it said; names of panels and axes are no words but keys."""
    if get_language() == ENGLISH:
        return figure
    working = figure.working
    if working:
        title, lines = working["title"], working["lines"]
        working = {**working, "title": _(title), "lines": [say_arithmetic(line) for line in lines]}
    return replace(
        figure,
        panels=[
            replace(
                panel,
                matrix=translate_matrix(panel.matrix),
                operator=_(panel.operator),
                heading=_(panel.heading),
            )
            for panel in figure.panels
        ],
        alt=_(figure.alt),
        slider=_translate_slider(figure.slider),
        working=working,
        view_slider=_translate_slider(figure.view_slider),
        views={place: translate_figure(view) for place, view in figure.views.items()},
    )


def _translate_slider(slider: Slider | None) -> Slider | None:
    labels = [_(label) for label in slider.labels] if slider else []
    return slider and replace(slider, label=_(slider.label), labels=labels)


def translate_matrix(matrix: Matrix) -> Matrix:
    """A matrix with its name, its formula and its labels said."""
    return replace(
        matrix,
        name=_(matrix.name),
        formula=_(matrix.formula),
        rows=_translate_labels(matrix, matrix.row_axis, matrix.rows),
        columns=_translate_labels(matrix, matrix.column_axis, matrix.columns),
    )


def _translate_labels(matrix: Matrix, axis: str, labels: Sequence[str]) -> Sequence[str]:
    """Tokens are the reader's words, and stay."""
    return labels if matrix.has_tokens(axis) else [_(label) for label in labels]


def list_axes(panels: Iterable[Panel]) -> tuple[str, ...]:
    """Each axis by its name, once; in an order that is the same in every process."""
    axes = (axis for panel in panels for axis in (panel.matrix.row_axis, panel.matrix.column_axis))
    return tuple(dict.fromkeys(axes))
