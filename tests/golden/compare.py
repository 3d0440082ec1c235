"""What differs between two things that were sent, but for rounding.

Processors add in orders of their own, so sums of float32 differ in their last digits. The rule:

- A number that is drawn may differ by `OF_ITSELF` of itself, by `OF_LARGEST` of the largest beside
  it (a step of what is packed in 16 bits), or by `AT_ALL`, below which everything is rounding.
- In a sentence, one below .001 says that it is so small; a long one is compared like one that is
  drawn.
- A whole number is counted, not rounded, but for whole percents and the levels of packed planes.
- Any other may differ by one in the last digit that is sent. So may `MOST_ROUNDED` numbers of a
  view, or one in `AMONG`, each counted once: where more do, something has changed.
- `AMPLIFIED` names what multiplies rounding, and how far apart its numbers may be.

`ATEN_CPU_CAPABILITY=default MKL_ENABLE_INSTRUCTIONS=SSE4_2 python -m tests.golden check` computes
as another processor would, and has to find no difference.
"""

import re
from collections.abc import Iterator
from decimal import Decimal
from difflib import SequenceMatcher
from itertools import takewhile
from typing import Any, NamedTuple

OF_ITSELF, OF_LARGEST, AT_ALL = 3e-4, 4e-5, 1e-6
MOST_ROUNDED, AMONG = 3, 1000
AMPLIFIED = {("19_what_if", "what_if no √d_k"): 0.05}
"""Of the page and the link: scores that are not divided by √d_k are eight times as far apart."""
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
COUNTED = re.compile(r"\d{1,3}(?:([.,])\d{3})(?:\1\d{3})*|\d+")
"""A whole number, its thousands apart or not."""
PERCENT = re.compile(r"\s?%")
PACKED = re.compile(r"\.(?:planes|bytes|pixels)\[\d+\]$")
LONG = 7
"""Letters of a number that nobody reads, as in a line of code."""
TINY = re.compile(r"(?:less than |nhỏ hơn |< ?)?(?:0[.,]000\d*|\d(?:[.,]\d+)?e-\d+)|\b0\b(?![.,])")


class Change(NamedTuple):
    """Where something differs, what was kept and what is sent now."""

    place: str
    kept: Any
    now: Any
    is_rounding: bool = False

    def __str__(self) -> str:
        kept, now = self.kept, self.now
        if isinstance(kept, str) and isinstance(now, str):  # around the first difference
            both = zip(kept, now, strict=False)
            start = max(0, len([*takewhile(lambda pair: pair[0] == pair[1], both)]) - 40)
            kept, now = kept[start : start + 120], now[start : start + 120]
        return f"{self.place}: {_shorten(kept)} → {_shorten(now)}"


def _shorten(value: Any) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 160 else f"{text[:100]} … {text[-50:]}"


def list_changes(
    kept: list[tuple[str, Any]], now: list[tuple[str, Any]], within: float = OF_ITSELF
) -> list[Change]:
    """Of two views, element by element; what came or went is told as such."""
    if repr(kept) == repr(now):  # also in the order of keys, and True is no 1
        return []
    changes: list[Change] = []
    names = [name for name, _ in kept], [name for name, _ in now]
    for kind, a, b, c, d in SequenceMatcher(None, *names, autojunk=False).get_opcodes():
        if kind == "equal" or b - a == d - c:
            for (old, value), (new, other) in zip(kept[a:b], now[c:d], strict=True):
                changes += (
                    compare(new, value, other, within)
                    if old == new
                    else [Change("element", old, new)]
                )
        else:
            changes += [Change(f"{name} went", value, "") for name, value in kept[a:b]]
            changes += [Change(f"{name} came", "", value) for name, value in now[c:d]]
    rounded = {(one.kept, one.now) for one in changes if one.is_rounding}
    few = max(MOST_ROUNDED, _count_numbers([value for _, value in kept]) // AMONG)
    return [one for one in changes if len(rounded) > few or not one.is_rounding]


def _count_numbers(value: Any) -> int:
    if isinstance(value, dict | list):
        return sum(map(_count_numbers, value.values() if isinstance(value, dict) else value))
    return _is_number(value)


def compare(
    place: str, kept: Any, now: Any, within: float = OF_ITSELF, largest: float = 0.0
) -> Iterator[Change]:
    """What differs, with the way to it; `largest` is the largest number beside these."""
    match kept, now:
        case dict(), dict():
            for key in dict.fromkeys((*kept, *now)):
                if key in kept and key in now:
                    yield from compare(f"{place}.{key}", kept[key], now[key], within, largest)
                else:
                    yield Change(f"{place}.{key}", kept.get(key, "–"), now.get(key, "–"))
            if kept.keys() == now.keys() and list(kept) != list(now):
                yield Change(f"{place}, in order", list(kept), list(now))
        case list(), list() if len(kept) == len(now):
            largest = max([largest, *(abs(one) for one in kept if _is_number(one))])
            for number, pair in enumerate(zip(kept, now, strict=True)):
                yield from compare(f"{place}[{number}]", *pair, within, largest)
        case int(), int() if not PACKED.search(place) and not isinstance(kept, bool):
            if kept != now or type(kept) is not type(now):
                yield Change(place, kept, now)
        case _ if _is_number(kept) and _is_number(now):
            if abs(kept - now) > max(within * abs(kept), OF_LARGEST * largest, AT_ALL):
                yield Change(place, kept, now, _is_last_digit(_write(kept), _write(now)))
        case str(), str():
            yield from _compare_sentences(place, kept, now, within)
        case _ if kept != now or type(kept) is not type(now):
            yield Change(place, kept, now)


def _compare_sentences(place: str, kept: str, now: str, within: float) -> Iterator[Change]:
    old, new = TINY.sub("0", kept), TINY.sub("0", now)
    if old == new:
        return
    if NUMBER.split(old) != NUMBER.split(new):
        yield Change(place, kept, now)
        return
    both = zip(NUMBER.finditer(old), NUMBER.finditer(new), strict=True)
    pairs = [
        (one, other)
        for one, other in both
        if one[0] != other[0] and not _are_close(one[0], other[0], within)
    ]
    if pairs:
        yield Change(place, kept, now, all(_is_rounded(one, other) for one, other in pairs))


def _are_close(kept: str, now: str, within: float) -> bool:
    """Long numbers that are about the same; anything printed short has to be the same."""
    if COUNTED.fullmatch(kept) or (max(len(kept), len(now)) < LONG and within == OF_ITSELF):
        return False
    try:
        old, new = (float(one.replace(",", ".")) for one in (kept, now))
    except ValueError:  # thousands
        return False
    return abs(old - new) <= max(within * abs(old), AT_ALL)


def _is_rounded(kept: re.Match[str], now: re.Match[str]) -> bool:
    """Another last digit of a number that was rounded."""
    is_counted = COUNTED.fullmatch(kept[0]) and not PERCENT.match(kept.string, kept.end())
    return not is_counted and _is_last_digit(kept[0], now[0])


def _is_last_digit(kept: str, now: str) -> bool:
    """With as many decimals, of which a last 0 may not have been sent."""
    decimals = max(len(one.partition(".")[2]) for one in (kept, now))
    old, new = (re.sub(r"[.,]", "", _fill(one, decimals)) for one in (kept, now))
    return abs(int(old) - int(new)) <= 1


def _fill(number: str, decimals: int) -> str:
    whole, point, part = number.partition(".")
    return whole + part.ljust(decimals, "0") if point or decimals else number


def _write(number: float) -> str:
    return f"{Decimal(repr(number)):f}"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
