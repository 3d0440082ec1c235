"""Numbers as a sentence says them."""

import math

from explainers.many import many
from explainers.phrase import words_of
from explainers.ui.text.language import said, translated


def so_many(number: int, thing: str) -> str:
    """A number of things: 1 head, 2 heads."""
    return translated(many(number, thing))


def waiting(before: int) -> str:
    """Where one stands whose turn has not come."""
    return said("waiting, {before} before this one", before=before) if before else said("beginning")


def less_than(difference: float) -> str:
    """A difference that is only rounding, by the next power of ten: nobody reads 7e-07."""
    if difference == 0:
        return "0"
    power = math.floor(math.log10(difference)) + 1
    return said("less than {limit}", limit=f"{10.0**power:.{max(0, -power)}f}")


def told(error: Exception) -> str:
    """What went wrong, in the visitor's language if it was written for readers."""
    return translated(words_of(error))


def printed(token: str) -> str:
    """A token whose spaces can be seen."""
    return token.replace(" ", "␣").replace("\n", "↵") or "∅"
