"""The lexicon of both languages, its vocabularies, and sentences put together of phrases.

Each syllable is linked to the word that it comes from. Those that are kept were drawn from a
grammar of business news by `python -m workshop.translation sentences`.
"""

import difflib
import functools
import itertools
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
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
            words, _, kinds = line.partition(":")
            english, _, vietnamese = words.partition("=")
            entry = Entry(tuple(english.split()), vietnamese.strip(), tuple(kinds.split()))
            sections[section] = (*sections.get(section, ()), entry)
    return sections


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


@dataclass(frozen=True)
class Vocabulary:
    """The tokens that one side of the translator reads or writes; an id is an index."""

    tokens: tuple[str, ...]

    @functools.cached_property
    def ids(self) -> dict[str, int]:
        return {token: token_id for token_id, token in enumerate(self.tokens)}

    def encode(self, words: Iterable[str]) -> list[int]:
        """The ids of words; raises KeyError for an unknown word."""
        return [self.ids[word] for word in words]

    def decode(self, ids: Iterable[int]) -> tuple[str, ...]:
        """The words of ids, up to the end of the sentence."""
        before_end = itertools.takewhile(lambda token_id: token_id != END, ids)
        return tuple(self.tokens[token_id] for token_id in before_end)


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


MAX_SOURCE_WORDS = 22
TRAINING_SENTENCES = 120_000


@dataclass(frozen=True, eq=False)
class Word:
    """A word of the English sentence; two equal words are two objects."""

    text: str


class Syllable(NamedTuple):
    """A syllable of the Vietnamese sentence, and the word that it comes from.

    It is weak if it comes only from the form of the word: "đã" from the past tense of a verb.
    """

    text: str
    word: Word
    is_weak: bool = False


class Phrase(NamedTuple):
    """Some English, the same in Vietnamese, and the pairs of words that meet in it."""

    english: tuple[Word, ...] = ()
    vietnamese: tuple[Syllable, ...] = ()
    pairs: frozenset[tuple[str, str]] = frozenset()


EMPTY_PHRASE = Phrase()


def translate_word(english: str, vietnamese: str) -> Phrase:
    """A word with the syllables of its translation, which may be none."""
    word = Word(english)
    return Phrase((word,), tuple(Syllable(text, word) for text in vietnamese.split()))


def mark_past(verb: Phrase) -> Phrase:
    """The syllable "đã" of a past tense, for which English has no word of its own."""
    return Phrase((), (Syllable("đã", verb.english[0], is_weak=True),))


def join_phrases(english: Sequence[Phrase], vietnamese: Sequence[Phrase] | None = None) -> Phrase:
    """One phrase from several; Vietnamese may have an order of its own."""
    vietnamese_parts = english if vietnamese is None else vietnamese
    return Phrase(
        tuple(word for part in english for word in part.english),
        tuple(syllable for part in vietnamese_parts for syllable in part.vietnamese),
        frozenset(pair for part in english for pair in part.pairs),
    )


def write_function_word(word: str) -> Phrase:
    """A function word, such as "the" or "and", with its translation."""
    return translate_word(word, _read_function_words()[word])


@functools.cache
def _read_function_words() -> dict[str, str]:
    return {entry.name: entry.vietnamese for entry in read_lexicon()["small words"]}


class SentencePair(NamedTuple):
    """A sentence in both languages, and which word each syllable comes from.

    A link is (index of the syllable, index of the word). `sure` has one for every syllable, and
    no other is right, so they are `possible` too; the `weak` ones among them are those that a
    word says only by its form, "đã" of a past tense.
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    sure: frozenset[tuple[int, int]]
    weak: frozenset[tuple[int, int]]
    is_held_out: bool = False
    """Do words meet in it that never met in training?"""

    @property
    def possible(self) -> frozenset[tuple[int, int]]:
        return self.sure


def align_phrase(phrase: Phrase) -> SentencePair:
    """The sentence pair of a phrase, its links written as indices; nothing is held out of it."""
    word_index = {word: index for index, word in enumerate(phrase.english)}
    links = [
        (syllable_index, word_index[syllable.word], syllable.is_weak)
        for syllable_index, syllable in enumerate(phrase.vietnamese)
    ]
    return SentencePair(
        tuple(word.text for word in phrase.english),
        tuple(syllable.text for syllable in phrase.vietnamese),
        frozenset((target, source) for target, source, _ in links),
        frozenset((target, source) for target, source, is_weak in links if is_weak),
    )


SENTENCES_FILE = ASSETS / "sentence_pairs.json"
RUNNING, UNSEEN, HELD_OUT, COUNTED = "running", "unseen", "held out", "counted"
"""The course's own, new ones, those with pairs that never met in training, and more to count."""


@functools.cache
def read_sentences(kind: str) -> tuple[SentencePair, ...]:
    """The kept sentences of a kind."""
    pairs = []
    # Of each, the place of a word for each syllable, and the places of the weak syllables.
    for source, target, words, weak in json.loads(SENTENCES_FILE.read_text(encoding="utf-8"))[kind]:
        links, sides = list(enumerate(words)), (tuple(source.split()), tuple(target.split()))
        weak_links = frozenset(links[at] for at in weak)
        is_held_out = kind in (RUNNING, HELD_OUT)
        pairs.append(SentencePair(*sides, frozenset(links), weak_links, is_held_out))
    return tuple(pairs)


(RUNNING_PAIR,) = read_sentences(RUNNING)
"""The sentence of the whole course. It holds two pairs that never meet in training."""
