"""The corpus: a grammar writes English and Vietnamese at once, and test sets are drawn from it.

The sentences are business news; each syllable is linked to the word that it comes from.
"""

import functools
from collections.abc import Iterable, Iterator, Set
from typing import NamedTuple

import torch

from explainers.toys.examples import make_generator
from explainers.translation.phrases import (
    EMPTY_PHRASE,
    Choices,
    Noun,
    Phrase,
    choose_actor,
    choose_thing,
    choose_time,
    choose_word,
    join_phrases,
    mark_past,
    translate_word,
    write_function_word,
)
from explainers.translation.vocabulary import Entry, list_modifiers, read_lexicon

NUM_CHOICES = 64
"""More numbers than any sentence uses."""


def write_sentence(choice_numbers: Iterable[int]) -> Phrase:
    """The sentence that `NUM_CHOICES` whole numbers choose."""
    choices = Choices(choice_numbers)
    if not choices.decide(7):
        return _write_clause(choices)
    speaker = choose_actor(choices, can_belong=False).phrase
    verb = choose_word(choices, "verbs of saying")
    rest = [write_function_word("that"), _write_clause(choices)]
    return join_phrases([speaker, verb, *rest], [speaker, mark_past(verb), verb, *rest])


def _write_clause(choices: Choices) -> Phrase:
    """A clause in the active or passive, or with an intransitive verb, and its time."""
    kind = choices.choose_name(news=58, money=20, goods=22)
    match choices.choose_name(active=70, passive=15, alone=15):
        case "active":
            phrase, tense = _write_active(choices, kind)
        case "passive":
            phrase, tense = _write_passive(choices, kind)
        case _:
            phrase, tense = _write_intransitive(choices)
    match choices.choose_name(behind=62, fronted=14, never=24):
        case "behind":
            return join_phrases([phrase, choose_time(choices, tense)])
        case "fronted":
            return join_phrases([choose_time(choices, tense), write_function_word(","), phrase])
    return phrase


def _write_active(choices: Choices, kind: str) -> tuple[Phrase, str]:
    subject = choose_actor(choices)
    verb = choices.choose(read_lexicon()[f"verbs of {kind}"])
    does, tense = _write_verb(choices, verb, subject.is_plural, can_be_described=True)
    objects = [choose_thing(choices, kind, subject.possessive).phrase]
    if choices.decide(10):
        objects += [
            write_function_word("and"),
            choose_thing(choices, kind, subject.possessive).phrase,
        ]
    return _note_pair(join_phrases([subject.phrase, does, *objects]), subject, verb), tense


def _write_passive(choices: Choices, kind: str) -> tuple[Phrase, str]:
    verbs = [entry for entry in read_lexicon()[f"verbs of {kind}"] if "active" not in entry.kinds]
    subject, verb = choose_thing(choices, kind), choices.choose(verbs)
    helpers, tense = _write_passive_helpers(
        choices, subject.is_plural, "bị" if "harm" in verb.kinds else "được"
    )
    participle = translate_word(verb.forms[3], verb.vietnamese)
    if not choices.decide(60):
        return join_phrases([subject.phrase, *helpers, participle]), tense
    agent = choose_actor(choices, can_belong=False)
    english = [subject.phrase, *helpers, participle, write_function_word("by"), agent.phrase]
    return _note_pair(
        join_phrases(english, [subject.phrase, *helpers, agent.phrase, participle]), agent, verb
    ), tense


def _write_intransitive(choices: Choices) -> tuple[Phrase, str]:
    subject, verb = choose_thing(choices, "money"), choices.choose(read_lexicon()["verbs alone"])
    does, tense = _write_verb(choices, verb, subject.is_plural, can_be_described=False)
    is_described = "moves" in verb.kinds and choices.decide(50)
    manner = choose_word(choices, "how it moves") if is_described else EMPTY_PHRASE
    return join_phrases([subject.phrase, does, manner]), tense


def _note_pair(phrase: Phrase, subject: Noun, verb: Entry) -> Phrase:
    """The phrase with its subject and verb noted as a pair that may be held out."""
    return phrase._replace(pairs=phrase.pairs | {(subject.name, verb.name)})


def _write_verb(
    choices: Choices, verb: Entry, is_plural: bool, can_be_described: bool
) -> tuple[Phrase, str]:
    """The verb with its helping verbs and adverbs, and its tense."""
    base, past, gerund, participle = (translate_word(form, verb.vietnamese) for form in verb.forms)
    manner = adverb = EMPTY_PHRASE
    if can_be_described and choices.decide(14):
        manner, adverb = choices.choose(
            [
                (choose_word(choices, "how it is done"), EMPTY_PHRASE),
                (EMPTY_PHRASE, write_function_word("also")),
            ]
        )
    match choices.choose_name(past=50, will=17, has=8, doing=8, did=7, will_not=3, modal=7):
        case "past":
            english = [adverb, manner, past]
            return join_phrases(english, [adverb, mark_past(past), manner, past]), "past"
        case "will":
            helpers, main, tense = [write_function_word("will")], base, "future"
        case "has":
            helpers = [write_function_word("have" if is_plural else "has")]
            main = participle
            tense = "present"
        case "doing":
            helpers = [write_function_word("are" if is_plural else "is")]
            main = gerund
            tense = "present"
        case "did":
            return join_phrases(
                [write_function_word("did"), write_function_word("not"), base]
            ), "past"
        case "will_not":
            return join_phrases(
                [write_function_word("will"), write_function_word("not"), base]
            ), "future"
        case _:
            helpers, main, tense = [choose_word(choices, "modals")], base, "future"
    return join_phrases([*helpers, adverb, manner, main], [adverb, *helpers, manner, main]), tense


def _write_passive_helpers(
    choices: Choices, is_plural: bool, passive_word: str
) -> tuple[list[Phrase], str]:
    """The helping verbs of the passive, in the order of both languages, and the tense."""
    match choices.choose_name(past=55, future=25, present=12, not_past=8):
        case "future":
            return [write_function_word("will"), translate_word("be", passive_word)], "future"
        case "present":
            has = write_function_word("have" if is_plural else "has")
            return [has, translate_word("been", passive_word)], "present"
        case "past":
            return [translate_word("were" if is_plural else "was", f"đã {passive_word}")], "past"
    was = translate_word("were" if is_plural else "was", f"đã {passive_word}")
    return [_surround(was, write_function_word("not"))], "past"


def _surround(outer: Phrase, inner: Phrase) -> Phrase:
    """Two syllables of one word around those of another, as in "đã không được"."""
    first, second = outer.vietnamese
    return Phrase(outer.english + inner.english, (first, *inner.vietnamese, second))


MAX_SOURCE_WORDS, MAX_TARGET_SYLLABLES = 22, 34
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


@functools.cache
def list_held_out_pairs() -> frozenset[tuple[str, str]]:
    """Pairs of words that never meet in training: modifier and noun, or subject and verb."""
    pairs = {("record", "earnings"), ("CEO", "announce")}
    entries = read_lexicon()
    nouns = [entry.name for entry in entries["news"]]
    subjects = [entry.name for entry in (*entries["people"], *entries["organisations"])]
    verbs = [entry.name for entry in entries["verbs of news"]]
    modifiers = [entry.name for entry in list_modifiers("news")]
    choices = torch.randint(2**31, (25, 4), generator=make_generator("held-out pairs")).tolist()
    for a, b, c, d in choices:
        pairs.add((modifiers[a % len(modifiers)], nouns[b % len(nouns)]))
        pairs.add((subjects[c % len(subjects)], verbs[d % len(verbs)]))
    return frozenset(pairs)


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


RUNNING_PAIR = align_phrase(
    write_sentence(
        (99, 0, 0, 0, 0, 99, 0, 99, 0, 99, 0, 0, 28, 5, 0, 99, 0, 0, 0, 4, 99, *[0] * NUM_CHOICES)
    )
)
"""The sentence of the whole course. It holds two pairs that never meet in training."""


def draw_sentences(
    name: str, count: int, is_held_out: bool, excluded_sources: Set[tuple[str, ...]]
) -> list[SentencePair]:
    """`count` different sentences, all of them with held-out pairs or all without."""
    sources = {RUNNING_PAIR.source, *excluded_sources}
    pairs: list[SentencePair] = []
    for pair in generate_sentences(make_generator("translation", name)):
        if pair.is_held_out == is_held_out and pair.source not in sources:
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
        draw_sentences("unseen", count, False, set()),
        draw_sentences("held out", count, True, set()),
    )


def draw_training_set(count: int) -> list[SentencePair]:
    """`count` sentences to learn from, without those of the test sets and held-out pairs."""
    test_sets = draw_test_sets()
    return draw_sentences(
        "training", count, False, {pair.source for test_set in test_sets for pair in test_set}
    )
