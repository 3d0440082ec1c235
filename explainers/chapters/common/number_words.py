"""How sentences write numbers: rounding errors by a bound, amounts with their units."""

import math
import re

from explainers.translations import _


def bound_rounding(difference: float) -> str:
    """A difference that is only rounding, by the next power of ten: nobody reads 7e-07."""
    if difference == 0:
        return "0"
    power = math.floor(math.log10(difference)) + 1
    return _("less than {limit}", limit=f"{10.0**power:.{max(0, -power)}f}")


def keep_units_together(amounts: str) -> str:
    """Amounts with every unit on the line of its number, however narrow a column is."""
    return re.sub(r"(?<=\d) (?=[A-Za-z])", "\N{NO-BREAK SPACE}", amounts)


def write_percent(weight: float) -> str:
    """A weight as readers see it: whole percent, the smallest told apart from nothing."""
    space = "\N{NO-BREAK SPACE}"
    if 0 < weight < 0.005:
        return f"<{space}1{space}%"
    return f"{math.floor(100 * weight + 0.5)}{space}%"  # as the browser rounds


def write_decimals(number: float, places: int = 2) -> str:
    """A number as the browser writes it: with a minus as wide as a plus, and no −0."""
    text = f"{number:.{places}f}"
    return text[1:] if re.fullmatch(r"-[0.]+", text) else text.replace("-", "−")
