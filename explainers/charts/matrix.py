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
)

Values = Sequence[Sequence[float | None]]


@dataclass(frozen=True)
class Matrix:
    """Rows of numbers with labels; None is a pair that the mask forbids."""

    name: str
    formula: str
    values: Values
    rows: Sequence[str]
    columns: Sequence[str]
    row_axis: str
    """An axis name of the theme, as `column_axis`."""
    column_axis: str
    kind: str = "signed"
    """How it is drawn: as "weights" from 0 to 1, as "signed" numbers, as "arrows" (a query and a
    key, two columns are one arrow), as "bars" (how often numbers came out, a series per row), as
    "ties" (links as thick as their weights), as a "cone" (a dot per layer and word reached) or as
    "lines" (bytes over lengths, columns; `limit` is a border that the formula names)."""
    role: str = ""
    """The colour of the title: that of "query", "key", "value", or of plain text."""
    limit: float | None = None
    """The end of the colour domain of signed numbers; by default the largest of them."""
    blank: str = ""
    """What a blank cell holds, as far as it can be printed."""
    decimals: int = 2
    ringed_cells: Sequence[tuple[int, int]] = ()
    """Cells (row, column) that get a ring, such as those of a gold alignment."""

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)"""
        return len(self.rows), len(self.columns)

    @property
    def has_pairs(self) -> bool:
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
        limit = self.limit or find_largest(self.values)
        return -limit, limit

    def transposed(self) -> "Matrix":
        """The same numbers with rows and columns exchanged."""
        return replace(
            self,
            values=[list(column) for column in zip(*self.values, strict=True)],
            rows=self.columns,
            columns=self.rows,
            row_axis=self.column_axis,
            column_axis=self.row_axis,
            ringed_cells=tuple((j, i) for i, j in self.ringed_cells),
        )


def make_pair_matrix(
    name: str, formula: str, values: Values, tokens: Sequence[str], kind: str = "signed"
) -> Matrix:
    """A number for every query and key of one text; a weight that is blank counts as 0."""
    blank = "0" if kind == "weights" else ""
    axes = QUERY_AXIS, KEY_AXIS
    return Matrix(name, formula, values, tokens, tokens, *axes, kind=kind, blank=blank)


def blank_forbidden(values: Values, mask: Sequence[Sequence[bool]]) -> Values:
    """The numbers with None for every pair that the mask forbids."""
    return [
        [value if allowed else None for value, allowed in zip(*lines, strict=True)]
        for lines in zip(values, mask, strict=True)
    ]


def find_largest(values: Values) -> float:
    """The largest absolute number, or a little above 0 so that a colour domain exists."""
    numbers = [v for row in values for v in row if v is not None]
    return max(max(numbers, default=0.0), -min(numbers, default=0.0)) or 1e-9


def share_domain(*matrices: Matrix) -> list[Matrix]:
    """Matrices that are to be compared, with one colour domain for all."""
    limit = max(find_largest(matrix.values) for matrix in matrices)
    return [replace(matrix, limit=limit) for matrix in matrices]
