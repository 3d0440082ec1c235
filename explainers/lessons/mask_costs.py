"""What each mask leaves to compute, on the sentence and on a long text."""

import functools

from explainers.attention import masks
from explainers.attention.reach import cells
from explainers.lessons.mask_lab import rules_of
from explainers.ui.prose import Prose

LONG = 1024
"""Words of a long text; 2,048 would take seconds on a small machine."""


@functools.lru_cache(maxsize=64)
def left(width: int, prefix: int, length: int) -> dict[str, int]:
    """How many cells each mask leaves of a text of `length` words."""
    rules = rules_of(width, prefix).items()
    return {name: cells(masks.build(rule, length, length)) for name, rule in rules}


def show_costs(text: Prose, words: int, width: int, prefix: int) -> None:
    """A table: a row per mask."""
    short, long = (left(width, prefix, n) for n in (words, LONG))
    named = {"window": f"window of {width}", "prefix": f"prefix of {prefix}"}
    rows = [
        f"| {named.get(name, name)} | {short[name]} | {count:,} | {count / LONG**2:.1%} |"
        for name, count in long.items()
    ]
    text("costs", words=words, length=f"{LONG:,}", rows="\n".join(rows))
