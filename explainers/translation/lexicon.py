"""Which words there are, in both languages: read from a list that people can check."""

import functools
import itertools
from typing import NamedTuple

from explainers.folders import ASSETS

FILE = ASSETS / "lexicon.txt"
MISSING = "-"


class Entry(NamedTuple):
    """A word's forms in English, its one translation, and what kinds of things it goes with."""

    forms: tuple[str, ...]
    vietnamese: str
    kinds: tuple[str, ...]

    @property
    def name(self) -> str:
        """The first form that exists: by it a word is known, whatever its form."""
        return next(form for form in self.forms if form != MISSING)


@functools.cache
def lexicon() -> dict[str, tuple[Entry, ...]]:
    """All entries by the name of their section."""
    sections: dict[str, tuple[Entry, ...]] = {}
    title = ""
    for line in FILE.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            title = line.strip("[]")
        elif line and not line.startswith("#"):
            sections[title] = (*sections.get(title, ()), _entry(line))
    return sections


def _entry(line: str) -> Entry:
    words, _, kinds = line.partition(":")
    english, _, vietnamese = words.partition("=")
    return Entry(tuple(english.split()), vietnamese.strip(), tuple(kinds.split()))


@functools.cache
def fitting(kind: str) -> tuple[Entry, ...]:
    """The modifiers that go with nouns of a kind."""
    return tuple(entry for entry in lexicon()["modifiers"] if kind in entry.kinds)


@functools.cache
def paid() -> tuple[Entry, ...]:
    """The nouns of money: some are news as well."""
    news = (entry for entry in lexicon()["news"] if "money" in entry.kinds)
    return tuple(itertools.chain(lexicon()["money"], news))
