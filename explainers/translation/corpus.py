"""Which sentences are learned, and which are kept for testing."""

import functools
from collections.abc import Iterator, Set
from typing import NamedTuple

import torch

from explainers.toys.examples import generator
from explainers.translation.grammar import CHOICES, sentence
from explainers.translation.lexicon import fitting, lexicon
from explainers.translation.phrases import Phrase

LONGEST_SOURCE, LONGEST_TARGET = 22, 34
TESTS = 1_000
"""How many sentences each of the two test sets has."""


class Pair(NamedTuple):
    """A sentence in both languages, and which word each syllable comes from.

    A link is (place of the syllable, place of the word). `sure` has one for every syllable, and
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


@functools.cache
def held_out_pairs() -> frozenset[tuple[str, str]]:
    """Words that never meet in training: a modifier and its noun, or a subject and its verb."""
    ours = {("record", "earnings"), ("CEO", "announce")}
    lists = lexicon()
    nouns = [entry.name for entry in lists["news"]]
    subjects = [entry.name for entry in (*lists["people"], *lists["organisations"])]
    verbs = [entry.name for entry in lists["verbs of news"]]
    modifiers = [entry.name for entry in fitting("news")]
    drawn = torch.randint(2**31, (25, 4), generator=generator("held-out pairs")).tolist()
    for a, b, c, d in drawn:
        ours.add((modifiers[a % len(modifiers)], nouns[b % len(nouns)]))
        ours.add((subjects[c % len(subjects)], verbs[d % len(verbs)]))
    return frozenset(ours)


def sample(seeded: torch.Generator) -> Pair:
    """Any sentence of the grammar."""
    return next(sentences(seeded, 1))


def sentences(seeded: torch.Generator, at_once: int = 1_000) -> Iterator[Pair]:
    """One after the other, without an end; numbers are drawn for `at_once` of them."""
    while True:
        for numbers in torch.randint(2**31, (at_once, CHOICES), generator=seeded).tolist():
            pair = aligned(sentence(numbers))
            if len(pair.source) <= LONGEST_SOURCE and len(pair.target) <= LONGEST_TARGET:
                yield pair


def aligned(phrase: Phrase) -> Pair:
    """The sentence with its words by place."""
    place = {word: number for number, word in enumerate(phrase.english)}
    links = [(t, place[one.word], one.is_weak) for t, one in enumerate(phrase.vietnamese)]
    return Pair(
        tuple(word.text for word in phrase.english),
        tuple(syllable.text for syllable in phrase.vietnamese),
        frozenset((target, source) for target, source, _ in links),
        frozenset((target, source) for target, source, is_weak in links if is_weak),
        not phrase.pairs.isdisjoint(held_out_pairs()),
    )


RUNNING = aligned(
    sentence((99, 0, 0, 0, 0, 99, 0, 99, 0, 99, 0, 0, 28, 5, 0, 99, 0, 0, 0, 4, 99, *[0] * CHOICES))
)
"""The sentence of the whole course. It holds two pairs that never meet in training."""


def drawn(name: str, count: int, is_held_out: bool, without: Set[tuple[str, ...]]) -> list[Pair]:
    """So many sentences, all of them with held-out pairs or none; each source only once."""
    seen = {RUNNING.source, *without}
    found: list[Pair] = []
    for pair in sentences(generator("translation", name)):
        if pair.is_held_out == is_held_out and pair.source not in seen:
            seen.add(pair.source)
            found.append(pair)
        if len(found) == count:
            break
    return found


class ForTesting(NamedTuple):
    """Sentences that nobody learns from: without held-out pairs, and each with at least one."""

    unseen: list[Pair]
    held_out_pairs: list[Pair]


@functools.cache
def for_testing(count: int = TESTS) -> ForTesting:
    """So many of each kind, the same ones every time; fewer are the first of more."""
    return ForTesting(drawn("unseen", count, False, set()), drawn("held out", count, True, set()))


def training_set(count: int) -> list[Pair]:
    """What is learned: no sentence of the tests, and no held-out pair."""
    tests = for_testing()
    return drawn("training", count, False, {pair.source for both in tests for pair in both})
