"""Numbers as they are said in a sentence."""

import math

from explainers.phrase import phrase
from explainers.ui.language import said, translated

FORMS = {
    "block": (phrase("{count:,} block"), phrase("{count:,} blocks")),
    "draw": (phrase("{count:,} draw"), phrase("{count:,} draws")),
    "first word": (phrase("{count:,} first word"), phrase("{count:,} first words")),
    "head": (phrase("{count:,} head"), phrase("{count:,} heads")),
    "KV head": (phrase("{count:,} KV head"), phrase("{count:,} KV heads")),
    "layer": (phrase("{count:,} layer"), phrase("{count:,} layers")),
    "query head": (phrase("{count:,} query head"), phrase("{count:,} query heads")),
    "row": (phrase("{count:,} row"), phrase("{count:,} rows")),
    "score": (phrase("{count:,} score"), phrase("{count:,} scores")),
    "sink": (phrase("{count:,} sink"), phrase("{count:,} sinks")),
    "text": (phrase("{count:,} text"), phrase("{count:,} texts")),
    "token": (phrase("{count:,} token"), phrase("{count:,} tokens")),
    "word": (phrase("{count:,} word"), phrase("{count:,} words")),
}
"""Of each thing, what one of it is called and what several are."""


def so_many(number: int, thing: str) -> str:
    """A number of things: 1 head, 2 heads."""
    one, more = FORMS[thing]
    return translated(one if number == 1 else more).format(count=number)


def waiting(before: int) -> str:
    """Where one stands whose turn has not come."""
    return said("waiting, {before} before this one", before=before) if before else said("beginning")


def less_than(difference: float) -> str:
    """A difference that is only rounding, by the next power of ten: nobody reads 7e-07."""
    if difference == 0:
        return "0"
    power = math.floor(math.log10(difference)) + 1
    return said("less than {limit}", limit=f"{10.0**power:.{max(0, -power)}f}")
