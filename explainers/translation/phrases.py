"""Phrases in two languages at once: who puts them together keeps which word each syllable says."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from explainers.translation.lexicon import Entry

T_co = TypeVar("T_co")


@dataclass(frozen=True, eq=False)
class Word:
    """A word of the English sentence; the same word a second time is another one."""

    text: str


class Syllable(NamedTuple):
    """A syllable of the Vietnamese sentence, and the word that it comes from.

    It is weak if the word says it only by its form: "đã" comes from the past tense of a verb.
    """

    text: str
    word: Word
    is_weak: bool = False


class Phrase(NamedTuple):
    """Some English, the same in Vietnamese, and which words were brought together in it."""

    english: tuple[Word, ...] = ()
    vietnamese: tuple[Syllable, ...] = ()
    pairs: frozenset[tuple[str, str]] = frozenset()


NOTHING = Phrase()


def translated(english: str, vietnamese: str) -> Phrase:
    """One word and all its syllables; none for a word that Vietnamese does without."""
    word = Word(english)
    return Phrase((word,), tuple(Syllable(text, word) for text in vietnamese.split()))


def of_past(verb: Phrase) -> Phrase:
    """The "đã" that a verb's past tense asks for: English has no word for it."""
    return Phrase((), (Syllable("đã", verb.english[0], is_weak=True),))


def join(english: Sequence[Phrase], vietnamese: Sequence[Phrase] | None = None) -> Phrase:
    """Put parts together, in an order of its own in each language."""
    order = english if vietnamese is None else vietnamese
    return Phrase(
        tuple(word for part in english for word in part.english),
        tuple(syllable for part in order for syllable in part.vietnamese),
        frozenset(pair for part in english for pair in part.pairs),
    )


class Choices:
    """Decisions, each made by the next of some whole numbers: the same numbers, the same text."""

    def __init__(self, numbers: Iterable[int]) -> None:
        self._numbers = iter(numbers)

    def one_of(self, some: Sequence[T_co]) -> T_co:
        return some[next(self._numbers) % len(some)]

    def chance(self, percent: int) -> bool:
        return next(self._numbers) % 100 < percent

    def shared(self, **percent: int) -> str:
        """One of the names, each as often as it says in percent; the last takes what is left."""
        drawn = next(self._numbers) % 100
        *names, last = percent
        for name in names:
            drawn -= percent[name]
            if drawn < 0:
                return name
        return last

    def some_of(self, entries: Sequence[Entry], count: int) -> list[Entry]:
        """Different ones."""
        chosen: list[Entry] = []
        for _ in range(count):
            chosen.append(self.one_of([entry for entry in entries if entry not in chosen]))
        return chosen
