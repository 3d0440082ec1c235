"""IBM Model 1: which word a syllable translates, counted without any network (Brown et al. 1993).

Each syllable is taken to come from one word of its sentence, all words equally likely; how often
a word gives a syllable is estimated by expectation maximisation, section 4.1.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from explainers.translation.alignment import Link

Pair = tuple[Sequence[str], Sequence[str]]
NULL = ""
"""An empty word at the head of every source, for syllables that translate none."""


@dataclass(frozen=True)
class Model:
    """The probability of a syllable given a word, for all that ever stood in a sentence pair."""

    probability: dict[tuple[str, str], float]
    null: bool

    @classmethod
    def learn(cls, pairs: Sequence[Pair], rounds: int = 6, null: bool = True) -> "Model":
        """Read (source words, target syllables) so many times; the first time all is equal."""
        met = [
            (slot, (word, syllable))
            for slot, (word_list, syllable) in enumerate(_slots(pairs, null))
            for word in word_list
        ]
        if not met:
            raise ValueError("there is no pair of sentences to learn from")
        names = sorted({name for _, name in met})
        sources = sorted({word for word, _ in names})
        number, of_word = ({name: n for n, name in enumerate(kind)} for kind in (names, sources))
        slots = torch.tensor([slot for slot, _ in met])
        entries = torch.tensor([number[name] for _, name in met])
        givers = torch.tensor([of_word[word] for word, _ in names])
        table = torch.ones(len(names), dtype=torch.double)
        for _ in range(rounds):
            table = reestimated(table, slots, entries, givers)
        return cls(dict(zip(names, table.tolist(), strict=True)), null)

    def align(self, source: Sequence[str], target: Sequence[str]) -> set[Link]:
        """The likeliest word of each syllable; none if that is the empty word, or all are 0."""
        empty = [(-1, NULL)] if self.null else []
        words = [*enumerate(source), *empty]  # of equal ones the first, and a word rather than none
        links = set()
        for place, syllable in enumerate(target):
            shares = [self.probability.get((word, syllable), 0.0) for _, word in words]
            best = max(shares, default=0.0)
            word = words[shares.index(best)][0] if best else -1
            if word >= 0:
                links.add((place, word))
        return links


def _slots(pairs: Sequence[Pair], null: bool) -> list[tuple[list[str], str]]:
    """Each syllable of each sentence with the words that it may come from."""
    empty = [NULL] if null else []
    return [([*empty, *source], syllable) for source, target in pairs for syllable in target]


def reestimated(table: Tensor, slots: Tensor, entries: Tensor, givers: Tensor) -> Tensor:
    """One round: share each syllable out among its words, then count what each word was given."""
    chances = table[entries]
    together = torch.zeros(int(slots.max()) + 1, dtype=table.dtype).index_add(0, slots, chances)
    counts = torch.zeros_like(table).index_add(0, entries, chances / together[slots])
    given = torch.zeros(int(givers.max()) + 1, dtype=table.dtype).index_add(0, givers, counts)
    return counts / given[givers]
