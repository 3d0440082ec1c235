"""The numbers of a matrix as they travel to the browser: digits, or for an image fewer bytes."""

import sys
from array import array
from base64 import b64encode
from typing import Any

from explainers.charts.matrix import Values, largest

STEPS, HIDDEN = 32_767, -32_768
"""Of 16 bits: a number is so many steps of the largest one, and a blank is what no number is."""


def short(values: Values) -> list[list[float | None]]:
    """Six digits, twice what is printed: half the bytes to send."""
    return [[None if v is None else float(f"{v:.6g}") for v in line] for line in values]


def packed(values: Values) -> dict[str, Any]:
    """16 bits a number, a quarter of the digits' bytes and still more than a colour can tell."""
    unit = largest(values) / STEPS
    flat = [HIDDEN if v is None else round(v / unit) for line in values for v in line]
    numbers = array("h", flat)
    if sys.byteorder == "big":
        numbers.byteswap()
    return {"unit": unit, "steps": b64encode(numbers.tobytes()).decode()}
