"""Which digits of a number are shown, so that what is shown multiplies out."""

import math
from collections.abc import Iterator, Sequence
from decimal import ROUND_HALF_EVEN, Decimal, localcontext

RESULT_PLACES = (4, 5, 6, 3, 7, 2, 1, 0)
"""How many decimals a result may be shown with, the usual one first."""
TERM_PLACES = range(4, 13)
"""Decimals of the numbers it is made of: as few as give the result's digits again."""


def digits(value: float, exact: float) -> Iterator[tuple[int, int]]:
    """Decimals for the result and its terms; a result is never shown where rounding decides it.

    `value` was computed in float32, `exact` in float64: between the two may lie the border at
    which a digit changes, and then another number of decimals is shown.
    """
    for shown in RESULT_PLACES:
        if rounded(value, shown) == rounded(exact, shown):
            yield from ((shown, places) for places in TERM_PLACES if places >= shown)
    yield RESULT_PLACES[-1], TERM_PLACES[-1]


def rounded(number: float | Decimal, places: int) -> Decimal:
    """The number with exactly so many decimals."""
    with localcontext(prec=60):
        return Decimal(number).quantize(Decimal(1).scaleb(-places), ROUND_HALF_EVEN) + 0


def power(score: float, largest: float, places: int) -> Decimal:
    """e to the (score − largest), from what is shown of both."""
    if score == -math.inf:
        return rounded(0, places)
    return rounded((rounded(score, places) - rounded(largest, places)).exp(), places)


def signed(number: Decimal) -> str:
    """A factor, in brackets where its sign would stand next to another."""
    return f"{number:f}" if number >= 0 else f"({number:f})"


def listed(numbers: Sequence[float]) -> str:
    """Numbers as PyTorch reads them, with all the digits that a float32 has."""
    return f"[{', '.join('-torch.inf' if n == -math.inf else f'{n:.9g}' for n in numbers)}]"
