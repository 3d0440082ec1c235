"""Phrases in two languages at once: who puts them together keeps which word each syllable says."""

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from explainers.translation.lexicon import MISSING, Entry, fitting, lexicon, paid

T_co = TypeVar("T_co")


@dataclass(frozen=True, eq=False)
class Word:
    """A word of the English sentence; the same word a second time is another one."""

    text: str


class Syllable(NamedTuple):
    """A syllable of the Vietnamese sentence, and the word that it comes from.

    It is weak if the word says it only by its form: "đã" comes from the past tense of a verb.
    """

    text: str
    word: Word
    is_weak: bool = False


class Phrase(NamedTuple):
    """Some English, the same in Vietnamese, and which words were brought together in it."""

    english: tuple[Word, ...] = ()
    vietnamese: tuple[Syllable, ...] = ()
    pairs: frozenset[tuple[str, str]] = frozenset()


NOTHING = Phrase()


def word_pair(english: str, vietnamese: str) -> Phrase:
    """One word and all its syllables; none for a word that Vietnamese does without."""
    word = Word(english)
    return Phrase((word,), tuple(Syllable(text, word) for text in vietnamese.split()))


def of_past(verb: Phrase) -> Phrase:
    """The "đã" that a verb's past tense asks for: English has no word for it."""
    return Phrase((), (Syllable("đã", verb.english[0], is_weak=True),))


def join(english: Sequence[Phrase], vietnamese: Sequence[Phrase] | None = None) -> Phrase:
    """Put parts together, in an order of its own in each language."""
    order = english if vietnamese is None else vietnamese
    return Phrase(
        tuple(word for part in english for word in part.english),
        tuple(syllable for part in order for syllable in part.vietnamese),
        frozenset(pair for part in english for pair in part.pairs),
    )


class Choices:
    """Decisions, each made by the next of some whole numbers: the same numbers, the same text."""

    def __init__(self, numbers: Iterable[int]) -> None:
        self._numbers = iter(numbers)

    def one_of(self, some: Sequence[T_co]) -> T_co:
        return some[next(self._numbers) % len(some)]

    def chance(self, percent: int) -> bool:
        return next(self._numbers) % 100 < percent

    def shared(self, **percent: int) -> str:
        """One of the names, each as often as it says in percent; the last takes what is left."""
        drawn = next(self._numbers) % 100
        *names, last = percent
        for name in names:
            drawn -= percent[name]
            if drawn < 0:
                return name
        return last

    def some_of(self, entries: Sequence[Entry], count: int) -> list[Entry]:
        """Different ones."""
        chosen: list[Entry] = []
        for _ in range(count):
            chosen.append(self.one_of([entry for entry in entries if entry not in chosen]))
        return chosen


AN = tuple("aeiouAEIOU")
A = ("Euro", "uni")  # written with a vowel, said with a consonant


class Noun(NamedTuple):
    """A noun with all that belongs to it, and how others speak of what is its own."""

    phrase: Phrase
    name: str
    is_plural: bool
    own: str


def small(word: str) -> Phrase:
    """One of the words that hold a sentence together."""
    return word_pair(word, _small_words()[word])


@functools.cache
def _small_words() -> dict[str, str]:
    return {entry.name: entry.vietnamese for entry in lexicon()["small words"]}


def said(choices: Choices, section: str) -> Phrase:
    """Any word of a section whose words have one form each."""
    entry = choices.one_of(lexicon()[section])
    return word_pair(entry.name, entry.vietnamese)


def who(choices: Choices, can_belong: bool = True) -> Noun:
    """Who does something: people or organisations, also "the company's CEO"."""
    kind = choices.shared(people=60, organisations=40)
    entry = choices.one_of(lexicon()[kind])
    modifiers = choices.some_of(fitting(kind), int(choices.chance(30)))
    determiner = choices.shared(the=55, a=10, this=8, several=27)
    is_plural = determiner == "several"
    own = "their" if is_plural else "its" if kind == "organisations" else "his"
    if can_belong and determiner == "the" and kind == "people" and choices.chance(28):
        determiner = "'s"
    phrase = _determined(choices, determiner, entry, entry.forms[is_plural], modifiers)
    return Noun(phrase, entry.name, is_plural, own)


def what(choices: Choices, kind: str, own: str = "") -> Noun:
    """What is announced, paid or sold; where `own` is given, it may be its owner's own."""
    entry = choices.one_of(paid() if kind == "money" else lexicon()[kind])
    modifiers = choices.some_of(fitting(kind), int(choices.shared(_0=28, _1=54, _2=18)[1]))
    singular, plural = entry.forms
    is_single = plural == MISSING or (singular != MISSING and choices.chance(25))
    if MISSING in entry.forms:
        determiner = choices.shared(none=70, the=12, own=9, owner=9)
    elif is_single:
        determiner = choices.shared(a=50, the=25, own=13, owner=12)
    else:
        determiner = choices.shared(none=66, the=10, several=8, own=8, owner=8)
    determiner = {"own": own or "none", "owner": "'s"}.get(determiner, determiner)
    if determiner == "none" and is_single and plural != MISSING:
        determiner = "the"
    form = singular if is_single else plural
    return Noun(
        _determined(choices, determiner, entry, form, modifiers), entry.name, not is_single, ""
    )


def _determined(
    choices: Choices, determiner: str, entry: Entry, form: str, modifiers: Sequence[Entry]
) -> Phrase:
    """The noun with its modifiers and what stands in front of them in English."""
    noun = word_pair(form, entry.vietnamese)
    before = [word_pair(modifier.name, modifier.vietnamese) for modifier in modifiers]
    pairs = frozenset((modifier.name, entry.name) for modifier in modifiers)
    core, turned = [*before, noun], [noun, *reversed(before)]
    match determiner:
        case "none":
            english, vietnamese = core, turned
        case "the":
            english, vietnamese = [small("the"), *core], turned
        case "a":
            article = small(_article(join(core).english[0].text))
            english, vietnamese = [article, *core], [article, *turned]
        case "several":
            number = said(choices, "numbers")
            english, vietnamese = [number, *core], [number, *turned]
        case "'s":
            owner, of = _owner(choices), small("'s")
            english, vietnamese = [small("the"), owner, of, *core], [*turned, of, owner]
        case _:  # this, its, his, their: said at the end
            last = small(determiner)
            english, vietnamese = [last, *core], [*turned, last]
    return join(english, vietnamese)._replace(pairs=pairs)


def _owner(choices: Choices) -> Phrase:
    """The organisation that something or somebody belongs to, without its article."""
    entry = choices.one_of(lexicon()["organisations"])
    modifiers = choices.some_of(fitting("organisations"), int(choices.chance(25)))
    return _determined(choices, "none", entry, entry.name, modifiers)


def _article(word: str) -> str:
    return "an" if word.startswith(AN) and not word.startswith(A) else "a"


THIS_YEAR = 11
"""How many of the years in the list are past."""


def when(choices: Choices, tense: str) -> Phrase:
    """A time that goes with the tense: past, present or future."""
    kinds = {
        "past": {"day": 34, "month": 12, "quarter": 10, "year": 10, "near": 18, "event": 8},
        "present": {"near": 60, "event": 20},
        "future": {"day": 34, "month": 12, "quarter": 10, "year": 10, "near": 18, "event": 8},
    }[tense]
    match choices.shared(**kinds, place=100):
        case "day":
            return _day(choices)
        case "month":
            return join([small("in"), said(choices, "months")])
        case "quarter":
            return _quarter(choices)
        case "year":
            return _year(choices, tense)
        case "near":
            return _near(choices, tense)
        case "event":
            before, event = said(choices, "before an event"), said(choices, "events")
            return join([before, small("the"), event])
    return join([word_pair("in", "tại"), said(choices, "places")])


def _day(choices: Choices) -> Phrase:
    before = small("on") if choices.chance(60) else said(choices, "before a day")
    day = said(choices, "days")
    if not choices.chance(25):
        return join([before, day])
    part = said(choices, "parts of a day")
    return join([before, day, part], [before, part, day])


def _quarter(choices: Choices) -> Phrase:
    within, which, quarter = small("in"), said(choices, "quarters"), word_pair("quarter", "quý")
    return join([within, small("the"), which, quarter], [within, quarter, which])


def _year(choices: Choices, tense: str) -> Phrase:
    years = lexicon()["years"]
    year = choices.one_of(years[THIS_YEAR:] if tense == "future" else years[:THIS_YEAR])
    return join([small("in"), word_pair(year.name, year.vietnamese)])


def _near(choices: Choices, tense: str) -> Phrase:
    if choices.chance(35):
        return small("tomorrow") if tense == "future" else said(choices, f"{tense} times")
    which = {"past": "last", "present": "this", "future": "next"}[tense]
    length = said(choices, "lengths of time")
    of_years = {"last": "ngoái", "this": "nay"}
    is_year = length.english[0].text == "year" and which in of_years
    turned = word_pair(which, of_years[which]) if is_year else small(which)
    return join([turned, length], [length, turned])
