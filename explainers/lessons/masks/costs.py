"""What each mask leaves to compute, on the sentence and on a long text."""

import functools

from explainers.attention import masks
from explainers.attention.reach import cells
from explainers.lessons.mask_lab import rules_of
from explainers.ui.language import said
from explainers.ui.prose import Prose

LONG = 1024
"""Words of a long text; 2,048 would take seconds on a small machine."""


def left(width: int, prefix: int, length: int) -> dict[str, int]:
    """How many cells each mask leaves of a text of `length` words."""
    sizes = {"full": 0, "causal": 0, "window": width, "prefix": prefix}
    return {name: _left(name, size, length) for name, size in sizes.items()}


@functools.lru_cache(maxsize=256)
def _left(name: str, size: int, length: int) -> int:
    """One mask at a time, so that a new width costs a single count."""
    return cells(masks.build(rules_of(size, size)[name], length, length))


def show_costs(text: Prose, words: int, width: int, prefix: int) -> None:
    """A table: a row per mask."""
    short, long = (left(width, prefix, n) for n in (words, LONG))
    named = {
        "full": said("full"),
        "causal": said("causal"),
        "window": said("window of {width}", width=width),
        "prefix": said("prefix of {length}", length=prefix),
    }
    rows = [
        f"| {named[name]} | {short[name]} | {count:,} | {count / LONG**2:.1%} |"
        for name, count in long.items()
    ]
    text("costs", words=words, length=f"{LONG:,}", rows="\n".join(rows))
