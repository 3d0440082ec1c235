"""The corpus: a grammar writes English and Vietnamese at once, and test sets are drawn from it.

The sentences are business news; each syllable is linked to the word that it comes from.
"""

import collections
import functools
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import torch

from explainers.toys.examples import make_generator
from explainers.translation.clauses import NUM_CHOICES, list_actors, write_sentence
from explainers.translation.phrases import Phrase
from explainers.translation.vocabulary import (
    ACTOR_SECTIONS,
    MODIFIER_SECTIONS,
    list_entries,
    list_partners,
)

MAX_SOURCE_WORDS, MAX_TARGET_SYLLABLES = 22, 34
TRAINING_SENTENCES = 120_000
TEST_SENTENCES = 1_000
"""The size of each of the two test sets."""


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
    is_held_out: bool

    @property
    def possible(self) -> frozenset[tuple[int, int]]:
        return self.sure


RUNNING_WORDS = ("record", "earnings"), ("CEO", "announce")
HELD_OUT_OF_EACH = 25
"""How many pairs are held out of each kind, besides those of the running sentence."""
MOST_HELD_OUT = 2
"""In how many pairs a word may be held out, so that it still meets others in training."""


@functools.cache
def list_held_out_pairs() -> frozenset[tuple[str, str]]:
    """Pairs of words that never meet in training: modifier and noun, or subject and verb.

    Where another word has the same translation, that pair is held out too.
    """
    described = [
        (modifier.name, noun.name)
        for noun in list_entries("news")
        for modifier in list_partners(noun.kinds, *MODIFIER_SECTIONS)
    ]
    done = [
        (actor.name, verb.name)
        for verb in list_entries("verbs of news")
        for actor in list_actors(verb)
    ]
    modifiers_and_nouns = _draw_pairs(described, RUNNING_WORDS[0])
    subjects_and_verbs = _draw_pairs(done, RUNNING_WORDS[1])
    return frozenset(
        _add_synonyms(modifiers_and_nouns, MODIFIER_SECTIONS, ("news",))
        | _add_synonyms(subjects_and_verbs, ACTOR_SECTIONS, ("verbs of news",))
    )


def _draw_pairs(options: Sequence[tuple[str, str]], first: tuple[str, str]) -> set[tuple[str, str]]:
    """The first pair and `HELD_OUT_OF_EACH` others, no word in more than `MOST_HELD_OUT`."""
    order = torch.randperm(len(options), generator=make_generator("held-out pairs")).tolist()
    pairs, uses = {first}, collections.Counter(first)
    for index in order:
        pair = options[index]
        if len(pairs) > HELD_OUT_OF_EACH:
            break
        if pair not in pairs and all(uses[word] < MOST_HELD_OUT for word in pair):
            pairs.add(pair)
            uses.update(pair)
    return pairs


def _add_synonyms(
    pairs: Iterable[tuple[str, str]], firsts: Sequence[str], seconds: Sequence[str]
) -> set[tuple[str, str]]:
    """The pairs, with all others of these sections that have the same translation."""
    by_first, by_second = (
        {entry.name: entry.vietnamese for entry in list_entries(*sections)}
        for sections in (firsts, seconds)
    )
    return {
        pair
        for first, second in pairs
        for pair in itertools.product(
            _find_synonyms(by_first, first), _find_synonyms(by_second, second)
        )
    }


def _find_synonyms(translations: dict[str, str], word: str) -> list[str]:
    return [name for name, text in translations.items() if text == translations[word]]


def generate_sentences(generator: torch.Generator, at_once: int = 1_000) -> Iterator[SentencePair]:
    """Random sentences without end; random numbers are drawn for `at_once` of them."""
    while True:
        for choices in torch.randint(2**31, (at_once, NUM_CHOICES), generator=generator).tolist():
            pair = align_phrase(write_sentence(choices))
            if len(pair.source) <= MAX_SOURCE_WORDS and len(pair.target) <= MAX_TARGET_SYLLABLES:
                yield pair


def align_phrase(phrase: Phrase) -> SentencePair:
    """The sentence pair of a phrase, its links written as indices."""
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
        not phrase.pairs.isdisjoint(list_held_out_pairs()),
    )


RUNNING_CHOICES = (99, 0, 0, 0, 0, 0, 99, 0, 99, 99, 0, 0, 30, 0, 0, 99, 0, 0, 0, 4, 99)
RUNNING_PAIR = align_phrase(write_sentence((*RUNNING_CHOICES, *[0] * NUM_CHOICES)))
"""The sentence of the whole course. It holds two pairs that never meet in training."""


def draw_sentences(
    name: str, count: int, is_held_out: bool, excluded: Iterable[SentencePair]
) -> list[SentencePair]:
    """`count` different sentences, all of them with held-out pairs or all without.

    None says the same as an `excluded` one in either language.
    """
    known = [RUNNING_PAIR, *excluded]
    sources, targets = {pair.source for pair in known}, {pair.target for pair in known}
    pairs: list[SentencePair] = []
    for pair in generate_sentences(make_generator("translation", name)):
        if (
            pair.is_held_out == is_held_out
            and pair.source not in sources
            and pair.target not in targets
        ):
            sources.add(pair.source)
            pairs.append(pair)
        if len(pairs) == count:
            break
    return pairs


class TestSets(NamedTuple):
    """Two test sets: new sentences of known pairs, and sentences with held-out pairs."""

    unseen: list[SentencePair]
    held_out_pairs: list[SentencePair]


@functools.cache
def draw_test_sets(count: int = TEST_SENTENCES) -> TestSets:
    """Both test sets with `count` sentences each; smaller sets begin the larger ones."""
    return TestSets(
        draw_sentences("unseen", count, False, ()), draw_sentences("held out", count, True, ())
    )
