"""Words and syllables as numbers, and sentences of different lengths as one tensor."""

import difflib
import functools
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import regex
import torch
from torch import Tensor

from explainers.translation.lexicon import MISSING, lexicon

PAD, BEGIN, END = range(3)
SPECIAL = ("<pad>", "<bos>", "<eos>")
HELPERS = "bị tại ngoái"
"""Syllables that the grammar adds to those in the lexicon."""
_TOKEN = regex.compile(r"'s\b|[\p{L}\p{M}\p{N}]+|,")


class Vocabulary(NamedTuple):
    """What one side of the translator can read or write."""

    tokens: tuple[str, ...]

    @property
    def places(self) -> dict[str, int]:
        return _places(self.tokens)

    def numbers(self, words: Iterable[str]) -> list[int]:
        """Their numbers; raises KeyError for a word that is not known."""
        places = self.places
        return [places[word] for word in words]

    def texts(self, numbers: Iterable[int]) -> tuple[str, ...]:
        """The words up to the end of the sentence."""
        found: list[str] = []
        for number in numbers:
            if number == END:
                break
            found.append(self.tokens[number])
        return tuple(found)


@functools.cache
def _places(tokens: tuple[str, ...]) -> dict[str, int]:
    return {token: place for place, token in enumerate(tokens)}


@functools.cache
def english() -> Vocabulary:
    """Every form of every word in the lexicon."""
    entries = [entry for section in lexicon().values() for entry in section]
    forms = {form for entry in entries for form in entry.forms}
    return Vocabulary((*SPECIAL, *sorted(forms - {MISSING})))


@functools.cache
def vietnamese() -> Vocabulary:
    """Every syllable in the lexicon."""
    entries = [entry for section in lexicon().values() for entry in section]
    syllables = {syllable for entry in entries for syllable in entry.vietnamese.split()}
    return Vocabulary((*SPECIAL, *sorted(syllables | set(HELPERS.split()))))


def read(text: str) -> tuple[str, ...]:
    """Find the corpus' words in a text; case does not matter, "'s" is a word of its own."""
    found = _TOKEN.findall(text.replace("’", "'"))
    known = english().places
    folded = {word.casefold(): word for word in known}
    return tuple(word if word in known else folded.get(word.casefold(), word) for word in found)


def similar(word: str) -> tuple[str, ...]:
    """Up to three known words that are spelled like this one."""
    return tuple(difflib.get_close_matches(word, english().tokens[len(SPECIAL) :]))


def sentence_case(tokens: Sequence[str]) -> tuple[str, ...]:
    """As it is printed: the first letter is a capital. The translator reads and writes it small."""
    return tuple(
        token[:1].upper() + token[1:] if place == 0 else token for place, token in enumerate(tokens)
    )


class Padded(NamedTuple):
    """Sequences of numbers (batch, length), filled up behind their true `lengths` (batch,)."""

    numbers: Tensor
    lengths: Tensor


def padded(rows: Sequence[Sequence[int]]) -> Padded:
    """Fill up to the longest."""
    longest = max(map(len, rows))
    filled = [[*row, *[PAD] * (longest - len(row))] for row in rows]
    return Padded(torch.tensor(filled), torch.tensor([len(row) for row in rows]))


def sources(sentences: Iterable[Sequence[str]]) -> Padded:
    """English sentences, each with the end behind it."""
    return padded([[*english().numbers(words), END] for words in sentences])
