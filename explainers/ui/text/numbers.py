"""Numbers as sentences write them, and as readers type them in an answer."""

import math
import re
from collections.abc import Iterable

from explainers.local_numbers import Localised
from explainers.translations import _

_COMMAS = re.compile(r"[-+]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?", re.ASCII)
"""Thousands apart, as the pages write them."""
_DECIMAL_COMMA = re.compile(r"[-+]?\d*,\d+", re.ASCII)


def bound_rounding(difference: float) -> str:
    """A difference that is only rounding, by the next power of ten: nobody reads 7e-07."""
    if difference == 0:
        return "0"
    power = math.floor(math.log10(difference)) + 1
    return _("less than {limit}", limit=f"{10.0**power:.{max(0, -power)}f}")


def keep_units_together(amounts: str) -> str:
    """Amounts with every unit on the line of its number, however narrow a column is."""
    return re.sub(r"(?<=\d) (?=[A-Za-z])", "\N{NO-BREAK SPACE}", amounts)


def keep_marks(text: str) -> Localised:
    """A text whose numbers have their marks already, or are none: the number of a paper."""
    return Localised(text)


def join_rows(rows: Iterable[str]) -> Localised:
    """Rows of a table that are said already: beside words, 3.625 could be read as a thousand."""
    return keep_marks("\n".join(rows))


def write_percent(share: float, places: int = 0) -> str:
    """A share as readers see it: as 42 %, and the smallest told apart from nothing."""
    space, steps = "\N{NO-BREAK SPACE}", 10**places
    if 0 < 100 * share * steps < 0.5:
        return f"<{space}{1 / steps:.{places}f}{space}%"
    rounded = math.floor(100 * share * steps + 0.5) / steps  # as the browser rounds
    return f"{rounded:.{places}f}{space}%"


def write_decimals(number: float, places: int = 2) -> str:
    """A number as the browser writes it: with a minus as wide as a plus, and no −0."""
    text = f"{number:.{places}f}"
    return text[1:] if re.fullmatch(r"-[0.]+", text) else text.replace("-", "−")


def parse_number(typed: str) -> float | None:
    """0.25, 0,25, 1,024, −3, 1e6, or 49 for 49 %; nothing if it is no number.

    A comma is one for decimals unless it stands where the pages put one for thousands.
    """
    text = typed.strip().removesuffix("%").strip().replace("−", "-")
    if _COMMAS.fullmatch(text):
        text = text.replace(",", "")
    elif _DECIMAL_COMMA.fullmatch(text):
        text = text.replace(",", ".")
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def list_readings(typed: str) -> list[float]:
    """All numbers that an answer can mean: who writes 2,125 may mean thousands, or decimals.

    So may who writes 2.125, in a language with a comma for decimals.
    """
    exchanged = typed.translate(str.maketrans(",.", ".,"))
    found = (parse_number(text) for text in (typed, exchanged))
    return list(dict.fromkeys(number for number in found if number is not None))


def format_answer(answer: float) -> str:
    """Whole numbers with their thousands apart, others to four places."""
    text = f"{answer:,.0f}" if answer == round(answer) else f"{answer:,.4g}"
    return text.replace("-", "−")
