"""The lexicon of both languages, vocabularies made of it, and sentences as padded ids."""

import difflib
import functools
import itertools
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import regex
import torch
from torch import Tensor

from explainers.folders import ASSETS

LEXICON_FILE = ASSETS / "lexicon.txt"
MISSING_FORM = "-"


class Entry(NamedTuple):
    """A word: its English forms, its one translation, and the kinds of nouns it goes with."""

    forms: tuple[str, ...]
    vietnamese: str
    kinds: tuple[str, ...]

    @property
    def name(self) -> str:
        """The first form that exists, which identifies the word."""
        return next(form for form in self.forms if form != MISSING_FORM)

    def goes_with(self, kinds: Iterable[str]) -> bool:
        """Whether one of its kinds is among these."""
        return not set(self.kinds).isdisjoint(kinds)


@functools.cache
def read_lexicon() -> dict[str, tuple[Entry, ...]]:
    """All entries by the name of their section."""
    sections: dict[str, tuple[Entry, ...]] = {}
    section = ""
    for line in LEXICON_FILE.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif line and not line.startswith("#"):
            sections[section] = (*sections.get(section, ()), _parse_entry(line))
    return sections


def _parse_entry(line: str) -> Entry:
    words, _, kinds = line.partition(":")
    english, _, vietnamese = words.partition("=")
    return Entry(tuple(english.split()), vietnamese.strip(), tuple(kinds.split()))


MODIFIER_SECTIONS = ("opinions", "sizes", "ages", "origins", "types")
"""Lists of modifiers, in the order in which English puts them before a noun."""
ACTOR_SECTIONS, THING_SECTIONS = ("people", "organisations"), ("news", "money", "goods")
VERB_SECTIONS = ("verbs of news", "verbs of money", "verbs of goods")
"""Verbs that somebody does to something."""


@functools.cache
def list_entries(*sections: str) -> tuple[Entry, ...]:
    """All entries of some sections."""
    return tuple(itertools.chain.from_iterable(read_lexicon()[section] for section in sections))


@functools.cache
def list_partners(kinds: tuple[str, ...], *sections: str) -> tuple[Entry, ...]:
    """The entries of some sections that go with these kinds."""
    return tuple(entry for entry in list_entries(*sections) if entry.goes_with(kinds))


PAD, BEGIN, END = range(3)
SPECIAL_TOKENS = ("<pad>", "<bos>", "<eos>")
HELPER_SYLLABLES = "bị tại ngoái các"
"""Syllables that the grammar adds to those in the lexicon."""
_LETTERS = r"[\p{L}\p{M}\p{N}]+"
_TOKEN = regex.compile(rf"'s\b|{_LETTERS}(?:(?!'s\b)['-]{_LETTERS})*|,")


class Vocabulary(NamedTuple):
    """The tokens that one side of the translator reads or writes; an id is an index."""

    tokens: tuple[str, ...]

    @property
    def ids(self) -> dict[str, int]:
        return _number_tokens(self.tokens)

    def encode(self, words: Iterable[str]) -> list[int]:
        """The ids of words; raises KeyError for an unknown word."""
        ids = self.ids
        return [ids[word] for word in words]

    def decode(self, ids: Iterable[int]) -> tuple[str, ...]:
        """The words of ids, up to the end of the sentence."""
        texts: list[str] = []
        for token_id in ids:
            if token_id == END:
                break
            texts.append(self.tokens[token_id])
        return tuple(texts)


@functools.cache
def _number_tokens(tokens: tuple[str, ...]) -> dict[str, int]:
    return {token: token_id for token_id, token in enumerate(tokens)}


@functools.cache
def english_vocabulary() -> Vocabulary:
    """All forms of the English words in the lexicon."""
    entries = [entry for section in read_lexicon().values() for entry in section]
    forms = {form for entry in entries for form in entry.forms}
    return Vocabulary((*SPECIAL_TOKENS, *sorted(forms - {MISSING_FORM})))


@functools.cache
def vietnamese_vocabulary() -> Vocabulary:
    """All Vietnamese syllables in the lexicon."""
    entries = [entry for section in read_lexicon().values() for entry in section]
    syllables = {syllable for entry in entries for syllable in entry.vietnamese.split()}
    return Vocabulary((*SPECIAL_TOKENS, *sorted(syllables | set(HELPER_SYLLABLES.split()))))


def find_words(text: str) -> tuple[str, ...]:
    """The corpus' words in a text; case does not matter, "'s" is a word of its own."""
    words = _TOKEN.findall(text.replace("’", "'"))
    ids, folded = english_vocabulary().ids, _fold_words()
    return tuple(word if word in ids else folded.get(word.casefold(), word) for word in words)


@functools.cache
def _fold_words() -> dict[str, str]:
    """The word as it is spelled, by its letters without case."""
    return {word.casefold(): word for word in english_vocabulary().ids}


@functools.lru_cache(maxsize=256)
def find_similar_words(word: str) -> tuple[str, ...]:
    """Up to three known words that are spelled like this one."""
    return tuple(
        difflib.get_close_matches(word, english_vocabulary().tokens[len(SPECIAL_TOKENS) :])
    )


def capitalise_sentence(tokens: Sequence[str]) -> tuple[str, ...]:
    """Tokens as they are printed, the first one with a capital letter."""
    return tuple(
        token[:1].upper() + token[1:] if position == 0 else token
        for position, token in enumerate(tokens)
    )


class PaddedIds(NamedTuple):
    """Ids (batch, length), padded behind their true `lengths` (batch,)."""

    ids: Tensor
    lengths: Tensor


def pad_rows(rows: Sequence[Sequence[int]]) -> PaddedIds:
    """Rows of ids as one tensor, padded to the longest."""
    longest = max(map(len, rows))
    padded_rows = [[*row, *[PAD] * (longest - len(row))] for row in rows]
    return PaddedIds(torch.tensor(padded_rows), torch.tensor([len(row) for row in rows]))


def encode_sources(sentences: Iterable[Sequence[str]]) -> PaddedIds:
    """English sentences as ids, each with the end token behind it."""
    return pad_rows([[*english_vocabulary().encode(words), END] for words in sentences])
