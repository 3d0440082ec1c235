"""Numbers as learners type them, and as their answers are printed."""

import math


def number(typed: str) -> float | None:
    """0.25, 1,024, −3 or 1e6; nothing if it is no number."""
    try:
        read = float(typed.strip().replace("−", "-").replace(",", ""))
    except ValueError:
        return None
    return read if math.isfinite(read) else None


def precise(answer: float) -> str:
    """Whole numbers with their thousands apart, others to four places."""
    return f"{answer:,.0f}" if answer == round(answer) else f"{answer:,.4g}"
