"""A matrix as plain numbers with its labels: what every matrix picture is drawn from."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from explainers.charts.theme import (
    KEY_AXIS,
    QUERY_AXIS,
    SOURCE_AXIS,
    TARGET_AXIS,
    TOKEN_AXIS,
    WEIGHT_DOMAIN,
    symmetric,
)

Values = Sequence[Sequence[float | None]]


@dataclass(frozen=True)
class Matrix:
    """Rows of numbers; None is a pair the mask forbids and is left blank.

    `row_axis` and `column_axis` are axis names of the theme; `kind` is "weights" (0 to 1),
    "signed", "arrows" (a row is a vector, two columns of it are an arrow; a query, then a key),
    "links" (columns joined to rows: query heads to KV heads) or "ties" (the same, the thicker the
    larger the weight); `role` colours the title: "query",
    "key", "value" or ""; `blank` is what a blank cell holds, as far as one can print it;
    numbers are printed with so many `places`; `ringed` cells are those that gold names.
    """

    name: str
    formula: str
    values: Values
    rows: Sequence[str]
    columns: Sequence[str]
    row_axis: str
    column_axis: str
    kind: str = "signed"
    role: str = ""
    limit: float | None = None
    blank: str = ""
    places: int = 2
    ringed: Sequence[tuple[int, int]] = ()

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)"""
        return len(self.rows), len(self.columns)

    @property
    def is_pairs(self) -> bool:
        """Does each cell stand for a query and a key?"""
        axes = {self.row_axis, self.column_axis}
        return axes in ({QUERY_AXIS, KEY_AXIS}, {TARGET_AXIS, SOURCE_AXIS})

    @staticmethod
    def has_tokens(axis: str) -> bool:
        """Does a position on this axis stand for a token of the sentence?"""
        return axis in (QUERY_AXIS, KEY_AXIS, TOKEN_AXIS, TARGET_AXIS, SOURCE_AXIS)

    @property
    def domain(self) -> tuple[float, float]:
        """What the two ends of the colour ramp mean."""
        if self.kind == "weights":
            return WEIGHT_DOMAIN
        return symmetric(self.limit or largest(self.values))

    def transposed(self) -> "Matrix":
        """The same numbers with rows and columns exchanged."""
        return replace(
            self,
            values=[list(column) for column in zip(*self.values, strict=True)],
            rows=self.columns,
            columns=self.rows,
            row_axis=self.column_axis,
            column_axis=self.row_axis,
            ringed=tuple((j, i) for i, j in self.ringed),
        )


def pairs(
    name: str, formula: str, values: Values, tokens: Sequence[str], kind: str = "signed"
) -> Matrix:
    """A number for every query and key of one text; a weight that is blank counts as 0."""
    blank = "0" if kind == "weights" else ""
    axes = QUERY_AXIS, KEY_AXIS
    return Matrix(name, formula, values, tokens, tokens, *axes, kind=kind, blank=blank)


def blanked(values: Values, mask: Sequence[Sequence[bool]]) -> Values:
    """The numbers of the pairs that the mask allows; the others are blank."""
    return [
        [value if allowed else None for value, allowed in zip(*lines, strict=True)]
        for lines in zip(values, mask, strict=True)
    ]


def largest(values: Values) -> float:
    """The largest absolute number, at least a little above 0 so that a colour domain exists."""
    return max((abs(v) for row in values for v in row if v is not None), default=0.0) or 1e-9


def sharing_colours(*matrices: Matrix) -> list[Matrix]:
    """Matrices that are to be compared, drawn with one colour domain."""
    limit = max(largest(matrix.values) for matrix in matrices)
    return [replace(matrix, limit=limit) for matrix in matrices]
