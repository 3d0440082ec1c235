"""Numbers as a sentence says them."""

import math

from explainers.messages import get_message
from explainers.translations import _


def waiting(before: int) -> str:
    """Where one stands whose turn has not come."""
    return _("waiting, {before} before this one", before=before) if before else _("beginning")


def less_than(difference: float) -> str:
    """A difference that is only rounding, by the next power of ten: nobody reads 7e-07."""
    if difference == 0:
        return "0"
    power = math.floor(math.log10(difference)) + 1
    return _("less than {limit}", limit=f"{10.0**power:.{max(0, -power)}f}")


def told(error: Exception) -> str:
    """What went wrong, in the visitor's language if it was written for readers."""
    return _(get_message(error))


def printed(token: str) -> str:
    """A token whose spaces can be seen."""
    return token.replace(" ", "␣").replace("\n", "↵") or "∅"
