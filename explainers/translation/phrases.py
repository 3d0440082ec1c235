"""Phrases in two languages at once: each syllable knows the word that it comes from."""

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from explainers.translation.vocabulary import (
    MISSING_FORM,
    Entry,
    list_modifiers,
    list_money_nouns,
    read_lexicon,
)

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

    def choose_several(self, entries: Sequence[Entry], count: int) -> list[Entry]:
        """`count` different entries."""
        selection: list[Entry] = []
        for _ in range(count):
            selection.append(self.choose([entry for entry in entries if entry not in selection]))
        return selection


VOWELS = tuple("aeiouAEIOU")
CONSONANT_SOUNDS = ("Euro", "uni")  # written with a vowel, said with a consonant


class Noun(NamedTuple):
    """A noun phrase, the name of its noun, and its possessive (his, its, their)."""

    phrase: Phrase
    name: str
    is_plural: bool
    possessive: str


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


def choose_actor(choices: Choices, can_belong: bool = True) -> Noun:
    """A subject that acts: people or organisations, also "the company's CEO"."""
    kind = choices.choose_name(people=60, organisations=40)
    entry = choices.choose(read_lexicon()[kind])
    modifiers = choices.choose_several(list_modifiers(kind), int(choices.decide(30)))
    determiner = choices.choose_name(the=55, a=10, this=8, several=27)
    is_plural = determiner == "several"
    possessive = "their" if is_plural else "its" if kind == "organisations" else "his"
    if can_belong and determiner == "the" and kind == "people" and choices.decide(28):
        determiner = "'s"
    phrase = _add_determiner(choices, determiner, entry, entry.forms[is_plural], modifiers)
    return Noun(phrase, entry.name, is_plural, possessive)


def choose_thing(choices: Choices, kind: str, possessive: str = "") -> Noun:
    """What is announced, paid or sold; it may carry the `possessive` of its subject."""
    entry = choices.choose(list_money_nouns() if kind == "money" else read_lexicon()[kind])
    modifiers = choices.choose_several(
        list_modifiers(kind), int(choices.choose_name(_0=28, _1=54, _2=18)[1])
    )
    singular, plural = entry.forms
    is_single = plural == MISSING_FORM or (singular != MISSING_FORM and choices.decide(25))
    if MISSING_FORM in entry.forms:
        determiner = choices.choose_name(none=70, the=12, own=9, owner=9)
    elif is_single:
        determiner = choices.choose_name(a=50, the=25, own=13, owner=12)
    else:
        determiner = choices.choose_name(none=66, the=10, several=8, own=8, owner=8)
    determiner = {"own": possessive or "none", "owner": "'s"}.get(determiner, determiner)
    if determiner == "none" and is_single and plural != MISSING_FORM:
        determiner = "the"
    form = singular if is_single else plural
    return Noun(
        _add_determiner(choices, determiner, entry, form, modifiers), entry.name, not is_single, ""
    )


def _add_determiner(
    choices: Choices, determiner: str, entry: Entry, form: str, modifiers: Sequence[Entry]
) -> Phrase:
    """The noun with its modifiers and its determiner, each language in its own order."""
    noun = translate_word(form, entry.vietnamese)
    modifier_phrases = [
        translate_word(modifier.name, modifier.vietnamese) for modifier in modifiers
    ]
    pairs = frozenset((modifier.name, entry.name) for modifier in modifiers)
    english_core, vietnamese_core = [*modifier_phrases, noun], [noun, *reversed(modifier_phrases)]
    match determiner:
        case "none":
            english, vietnamese = english_core, vietnamese_core
        case "the":
            english, vietnamese = [write_function_word("the"), *english_core], vietnamese_core
        case "a":
            article = write_function_word(
                _choose_article(join_phrases(english_core).english[0].text)
            )
            english, vietnamese = [article, *english_core], [article, *vietnamese_core]
        case "several":
            numeral = choose_word(choices, "numbers")
            english, vietnamese = [numeral, *english_core], [numeral, *vietnamese_core]
        case "'s":
            owner, apostrophe = _choose_owner(choices), write_function_word("'s")
            english = [write_function_word("the"), owner, apostrophe, *english_core]
            vietnamese = [*vietnamese_core, apostrophe, owner]
        case _:  # this, its, his, their: said at the end
            possessive = write_function_word(determiner)
            english, vietnamese = [possessive, *english_core], [*vietnamese_core, possessive]
    return join_phrases(english, vietnamese)._replace(pairs=pairs)


def _choose_owner(choices: Choices) -> Phrase:
    """An organisation that owns something, without its article."""
    entry = choices.choose(read_lexicon()["organisations"])
    modifiers = choices.choose_several(list_modifiers("organisations"), int(choices.decide(25)))
    return _add_determiner(choices, "none", entry, entry.name, modifiers)


def _choose_article(word: str) -> str:
    return "an" if word.startswith(VOWELS) and not word.startswith(CONSONANT_SOUNDS) else "a"


NUM_PAST_YEARS = 11
"""How many years of the lexicon are past."""


def choose_time(choices: Choices, tense: str) -> Phrase:
    """A time or place that fits the tense: past, present or future."""
    kinds = {
        "past": {"day": 34, "month": 12, "quarter": 10, "year": 10, "near": 18, "event": 8},
        "present": {"near": 60, "event": 20},
        "future": {"day": 34, "month": 12, "quarter": 10, "year": 10, "near": 18, "event": 8},
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
