"""Numbers that a reader types as an answer, and how the right ones are written."""

import math
import re

_COMMAS = re.compile(r"[-+]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?", re.ASCII)
"""Thousands apart, as the pages write them."""
_DECIMAL_COMMA = re.compile(r"[-+]?\d*,\d+", re.ASCII)


def parse_number(typed: str) -> float | None:
    """0.25, 0,25, 1,024, −3 or 1e6; nothing if it is no number.

    A comma is one for decimals unless it stands where the pages put one for thousands.
    """
    text = typed.strip().replace("−", "-")
    if _COMMAS.fullmatch(text):
        text = text.replace(",", "")
    elif _DECIMAL_COMMA.fullmatch(text):
        text = text.replace(",", ".")
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def format_answer(answer: float) -> str:
    """Whole numbers with their thousands apart, others to four places."""
    text = f"{answer:,.0f}" if answer == round(answer) else f"{answer:,.4g}"
    return text.replace("-", "−")
