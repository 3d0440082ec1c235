"""Byte-pair encoding (Sennrich et al. 2016, algorithm 1; on bytes: Radford et al. 2019, 2.2)."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

BYTES = 256  # ids 0-255 are the bytes themselves; merges take the ids from here on


@dataclass(frozen=True)
class Merge:
    """Two neighbouring tokens that became one, and how often they stood side by side."""

    left: int
    right: int
    count: int


def split_words(text: str) -> list[str]:
    """Merges never cross words; a space belongs to the word behind it."""
    return re.findall(r" ?\S+|\s+(?!\S)|\s+", text)


def count_pairs(words: Counter[tuple[int, ...]]) -> Counter[tuple[int, int]]:
    """How often each two tokens are neighbours, over all words."""
    pairs: Counter[tuple[int, int]] = Counter()
    for word, times in words.items():
        for pair in pairwise(word):
            pairs[pair] += times
    return pairs


def merge_pair(word: Sequence[int], left: int, right: int, new: int) -> tuple[int, ...]:
    """Write `new` wherever `left` is followed by `right`."""
    merged: list[int] = []
    for token in word:
        if merged and merged[-1] == left and token == right:
            merged[-1] = new
        else:
            merged.append(token)
    return tuple(merged)


def learn_merges(text: str, steps: int) -> list[Merge]:
    """Merge the most frequent pair, again and again; of equals, the one with the smaller ids."""
    words = Counter(tuple(word.encode()) for word in split_words(text))
    merges: list[Merge] = []
    for new in range(BYTES, BYTES + steps):
        pairs = count_pairs(words)
        if not pairs:
            break
        (left, right), count = min(pairs.items(), key=lambda item: (-item[1], item[0]))
        merges.append(Merge(left, right, count))
        recounted: Counter[tuple[int, ...]] = Counter()
        for word, times in words.items():
            recounted[merge_pair(word, left, right, new)] += times
        words = recounted
    return merges


def encode(text: str, merges: Sequence[Merge]) -> list[int]:
    """Spell a text with the learned tokens, applying the merges in the order they were learned."""
    ids: list[int] = []
    for part in split_words(text):
        word = tuple(part.encode())
        for new, merge in enumerate(merges, start=BYTES):
            word = merge_pair(word, merge.left, merge.right, new)
        ids.extend(word)
    return ids


def encode_in_stages(text: str, merges: Sequence[Merge]) -> dict[int, list[int]]:
    """The ids before all merges and after each merge that changes them, by the merges learned."""
    words = [tuple(part.encode()) for part in split_words(text)]
    stages = {0: [token for word in words for token in word]}
    for learned, merge in enumerate(merges, start=1):
        new = BYTES + learned - 1
        merged = [merge_pair(word, merge.left, merge.right, new) for word in words]
        if merged != words:
            stages[learned] = [token for word in merged for token in word]
        words = merged
    return stages


def spell_token(token: int, merges: Sequence[Merge]) -> bytes:
    """The bytes that a token stands for."""
    if token < BYTES:
        return bytes([token])
    merge = merges[token - BYTES]
    return spell_token(merge.left, merges) + spell_token(merge.right, merges)
