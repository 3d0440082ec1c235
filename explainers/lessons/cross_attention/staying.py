"""What is still there of a translation when the weights are others."""

import difflib
from collections.abc import Sequence

from explainers.ui.language import said
from explainers.ui.plain import verbatim


def same(before: Sequence[str], after: Sequence[str]) -> int:
    """How many syllables are still there, in the same order."""
    return sum(block.size for block in _blocks(before, after))


def marked(before: Sequence[str], after: Sequence[str]) -> str:
    """The new translation; what was not in the old one is bold."""
    staying = {n for block in _blocks(before, after) for n in range(block.b, block.b + block.size)}
    shown = [
        verbatim(one) if n in staying else f"**{verbatim(one)}**" for n, one in enumerate(after)
    ]
    return " ".join(shown) or said("(nothing)")


def _blocks(before: Sequence[str], after: Sequence[str]) -> list[difflib.Match]:
    return difflib.SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()
