"""Drafts without a second model: what followed the same words before (Saxena 2023).

>>> look_up_draft([5, 6, 7, 5, 6], longest=2, count=1)  # 7 came after 5 6 before
[7]
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Written:
    """A text with what was written, how often the model ran, and how many rows it computed."""

    ids: list[int]
    passes: int
    rows: int


def look_up_draft(ids: Sequence[int], longest: int, count: int) -> list[int]:
    """Up to `count` tokens that followed the text's last ones where they occurred before.

    The last `longest` tokens are looked for, then fewer; of several places the first one counts.
    """
    for length in range(min(longest, len(ids) - 1), 0, -1):
        ending = [*ids[-length:]]
        for start in range(len(ids) - length):
            if [*ids[start : start + length]] == ending:
                return [*ids[start + length : start + length + count]]
    return []


def count_right(drafts: Sequence[int], after: Sequence[int]) -> int:
    """How many drafts the model would have written itself, up to the first that it would not."""
    right = 0
    while right < len(drafts) and drafts[right] == after[right]:
        right += 1
    return right


def write_with_drafts(
    ids: Sequence[int],
    count: int,
    predict: Callable[[int, Sequence[int]], Sequence[int]],
    draft: Callable[[Sequence[int]], Sequence[int]],
) -> Written:
    """Write at least `count` tokens, the most probable one each time (Leviathan et al. 2023, 2.1).

    `predict(known, new)` is a pass: the token after each new one, `known` rows being in the cache.
    """
    text, known, passes, rows = [*ids], 0, 0, 0
    while len(text) < len(ids) + count:
        drafts = [*draft(text)]
        new = [*text[known:], *drafts]
        after = predict(known, new)[len(text) - known - 1 :]
        right = count_right(drafts, after)
        known, passes, rows = len(text) + right, passes + 1, rows + len(new)
        text += [*drafts[:right], after[right]]
    return Written(text[: len(ids) + count], passes, rows)
