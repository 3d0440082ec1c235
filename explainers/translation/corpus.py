"""Sentences in English and Vietnamese, and how they are put together of phrases.

Each syllable is linked to the word that it comes from. Those that are kept were drawn from a
grammar of business news by `python -m workshop.translation sentences`.
"""

import functools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from explainers.folders import ASSETS
from explainers.translation.vocabulary import read_lexicon

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
    rows = json.loads(SENTENCES_FILE.read_text(encoding="utf-8"))[kind]
    return tuple(_read_pair(kind in (RUNNING, HELD_OUT), *row) for row in rows)


def _read_pair(
    is_held_out: bool, source: str, target: str, words: list[int], weak: list[int]
) -> SentencePair:
    """`words` has the place of a word for each syllable, `weak` the places of some syllables."""
    links = list(enumerate(words))
    sides = tuple(source.split()), tuple(target.split())
    return SentencePair(*sides, frozenset(links), frozenset(links[at] for at in weak), is_held_out)


(RUNNING_PAIR,) = read_sentences(RUNNING)
"""The sentence of the whole course. It holds two pairs that never meet in training."""
