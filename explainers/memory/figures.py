"""Published figures, computed again from their recipes, and the reason wherever they disagree."""

import functools
import json
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from explainers.memory import sizes
from explainers.memory.recipes import evaluate

FILE = Path(__file__).parents[2] / "assets" / "figures.json"
OTHER_UNITS = {
    "KB": 1000,
    "KB(1000 el)": 1000,
    "elements": 1,
    "tokens": 1,
    "x": 1,
    "percent": 1,
    "ms": 1,
}
UNITS = sizes.UNITS | OTHER_UNITS
"""How much one of each unit is; elements, tokens and ratios are counted by ones."""


@dataclass(frozen=True)
class Figure:
    """A number that somebody printed, and how one arrives at it, or at the right one."""

    id: str
    about: str
    origin: str
    model: str
    config: str
    published: int | float
    unit: str
    unit_meant: str
    exactness: str
    formula: str
    computed: int | float
    agrees: bool
    testable: bool
    verdict: str
    source: str
    recipe: Any
    tokens: int | str | None = None
    batch: int | None = None
    dtype: str = ""
    reason: str = ""
    comment: str = ""
    mistake: Any = None
    mistake_unit: str = ""

    @property
    def printed(self) -> Fraction:
        """The number as it was printed, digit by digit."""
        return Fraction(repr(self.published))

    @property
    def last_digit(self) -> Fraction:
        """One in the last digit that was printed."""
        exponent = Decimal(repr(self.published)).as_tuple().exponent
        return Fraction(10) ** int(exponent)

    @property
    def ours(self) -> Fraction:
        """What the calculators say, in the unit that the figure means."""
        return evaluate(self.recipe) / UNITS[self.unit_meant]

    @property
    def mistaken(self) -> Fraction | None:
        """What the calculators say when they make the same mistake, where it is known."""
        return None if self.mistake is None else evaluate(self.mistake) / UNITS[self.mistake_unit]


@functools.cache
def figures() -> dict[str, Figure]:
    """id: figure, from the file."""
    entries = json.loads(FILE.read_text(encoding="utf-8"))["figures"]
    return {entry["id"]: Figure(**entry) for entry in entries}
