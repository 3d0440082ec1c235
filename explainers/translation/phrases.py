"""Phrases in two languages at once: each syllable knows the word that it comes from."""

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from explainers.translation.vocabulary import read_lexicon

T_co = TypeVar("T_co")


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


class Choices:
    """Decisions made by whole numbers, one after the other: the same numbers give the same text."""

    def __init__(self, numbers: Iterable[int]) -> None:
        self._numbers = iter(numbers)

    def choose(self, options: Sequence[T_co]) -> T_co:
        return options[next(self._numbers) % len(options)]

    def decide(self, percent: int) -> bool:
        return next(self._numbers) % 100 < percent

    def choose_name(self, **percent: int) -> str:
        """One of the names, each with its percentage; the last name takes the rest."""
        number = next(self._numbers) % 100
        *names, last = percent
        for name in names:
            number -= percent[name]
            if number < 0:
                return name
        return last


def write_function_word(word: str) -> Phrase:
    """A function word, such as "the" or "and", with its translation."""
    return translate_word(word, _read_function_words()[word])


@functools.cache
def _read_function_words() -> dict[str, str]:
    return {entry.name: entry.vietnamese for entry in read_lexicon()["small words"]}


def choose_word(choices: Choices, section: str) -> Phrase:
    """A word from a section of the lexicon whose words have one form each."""
    entry = choices.choose(read_lexicon()[section])
    return translate_word(entry.name, entry.vietnamese)


NUM_PAST_YEARS = 11
"""How many years of the lexicon are past."""


def choose_time(choices: Choices, tense: str) -> Phrase:
    """A time or place that fits the tense: past, present or future."""
    kinds = {
        "past": {"day": 34, "month": 14, "quarter": 5, "year": 10, "near": 18, "event": 8},
        "present": {"near": 60, "event": 20},
        "future": {"day": 34, "month": 14, "quarter": 5, "year": 10, "near": 18, "event": 8},
    }[tense]
    match choices.choose_name(**kinds, place=100):
        case "day":
            return _choose_day(choices)
        case "month":
            return join_phrases([write_function_word("in"), choose_word(choices, "months")])
        case "quarter":
            return _choose_quarter(choices)
        case "year":
            return _choose_year(choices, tense)
        case "near":
            return _choose_near_time(choices, tense)
        case "event":
            preposition = choose_word(choices, "before an event")
            event = choose_word(choices, "events")
            return join_phrases([preposition, write_function_word("the"), event])
    return join_phrases([translate_word("in", "tại"), choose_word(choices, "places")])


def _choose_day(choices: Choices) -> Phrase:
    preposition = (
        write_function_word("on") if choices.decide(60) else choose_word(choices, "before a day")
    )
    day = choose_word(choices, "days")
    if not choices.decide(25):
        return join_phrases([preposition, day])
    part_of_day = choose_word(choices, "parts of a day")
    return join_phrases([preposition, day, part_of_day], [preposition, part_of_day, day])


def _choose_quarter(choices: Choices) -> Phrase:
    preposition = write_function_word("in")
    which = choose_word(choices, "quarters")
    quarter = translate_word("quarter", "quý")
    return join_phrases(
        [preposition, write_function_word("the"), which, quarter], [preposition, quarter, which]
    )


def _choose_year(choices: Choices, tense: str) -> Phrase:
    years = read_lexicon()["years"]
    year = choices.choose(years[NUM_PAST_YEARS:] if tense == "future" else years[:NUM_PAST_YEARS])
    return join_phrases([write_function_word("in"), translate_word(year.name, year.vietnamese)])


def _choose_near_time(choices: Choices, tense: str) -> Phrase:
    if choices.decide(35):
        return (
            write_function_word("tomorrow")
            if tense == "future"
            else choose_word(choices, f"{tense} times")
        )
    which = {"past": "last", "present": "this", "future": "next"}[tense]
    length = choose_word(choices, "lengths of time")
    of_years = {"last": "ngoái", "this": "nay"}
    is_year = length.english[0].text == "year" and which in of_years
    which_phrase = translate_word(which, of_years[which]) if is_year else write_function_word(which)
    return join_phrases([which_phrase, length], [length, which_phrase])
