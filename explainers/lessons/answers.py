"""Numbers as learners type them, and as their answers are printed."""

import math
import re

COMMAS = re.compile(r"[-+]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?", re.ASCII)
"""Thousands apart; 0,25 has another comma, and would be read as 25."""


def number(typed: str) -> float | None:
    """0.25, 1,024, −3 or 1e6; nothing if it is no number, or has a comma for decimals."""
    text = typed.strip().replace("−", "-")
    try:
        read = float(text.replace(",", "") if COMMAS.fullmatch(text) else text)
    except ValueError:
        return None
    return read if math.isfinite(read) else None


def precise(answer: float) -> str:
    """Whole numbers with their thousands apart, others to four places."""
    text = f"{answer:,.0f}" if answer == round(answer) else f"{answer:,.4g}"
    return text.replace("-", "−")
