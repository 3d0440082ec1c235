"""Which words and syllables meet in sentence pairs: what the aligners without a network count."""

import collections
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

TextPair = tuple[Sequence[str], Sequence[str]]
Name = tuple[str, str]
"""A word and a syllable."""


class Cooccurrences(NamedTuple):
    """Every word and syllable that meet in a pair, and where they do.

    `groups` holds the sentence pairs of each shape (syllables, words), as indices into `names`
    (pairs, syllables, words): equal shapes need no padding. `words` (names,) numbers the word of
    each name.
    """

    names: tuple[Name, ...]
    words: Tensor
    groups: Mapping[tuple[int, int], Tensor]

    def list_probabilities(self, known: Mapping[Name, float]) -> Tensor:
        """The probability of each name (names,); float64."""
        return torch.tensor([known[name] for name in self.names], dtype=torch.double)

    def normalise(self, counts: Tensor) -> Tensor:
        """Counts of names divided by the sum of their word (names,): p(syllable | word)."""
        totals = torch.zeros(int(self.words.max()) + 1, dtype=counts.dtype)
        totals.index_add_(0, self.words, counts)
        return counts / totals[self.words].clamp_min(torch.finfo(counts.dtype).tiny)


def find_cooccurrences(pairs: Sequence[TextPair]) -> Cooccurrences:
    """What meets in these pairs; raises ValueError without any, or with an empty sentence."""
    if not pairs or not all(source and target for source, target in pairs):
        raise ValueError("there is no pair of sentences to learn from, or one is empty")
    numbers: dict[Name, int] = {}
    rows = collections.defaultdict(list)
    for source, target in pairs:
        row = [
            [numbers.setdefault((word, syllable), len(numbers)) for word in source]
            for syllable in target
        ]
        rows[len(target), len(source)].append(row)
    word_numbers: dict[str, int] = {}
    words = [word_numbers.setdefault(word, len(word_numbers)) for word, _ in numbers]
    groups = {shape: torch.tensor(group) for shape, group in sorted(rows.items())}
    return Cooccurrences(tuple(numbers), torch.tensor(words), groups)
