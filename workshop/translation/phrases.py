"""The phrases of a sentence in two languages at once, as random numbers choose them."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeVar

from explainers.translation.corpus import (
    ACTOR_SECTIONS,
    EMPTY_PHRASE,
    MISSING_FORM,
    MODIFIER_SECTIONS,
    Entry,
    Phrase,
    join_phrases,
    list_partners,
    read_lexicon,
    translate_word,
    write_function_word,
)

T_co = TypeVar("T_co")


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


VOWELS = tuple("aeiouAEIOU")
CONSONANT_SOUNDS = ("Euro", "uni")  # written with a vowel, said with a consonant
OWNED_KINDS = ("paper", "plan", "rule", "deal")
"""What people may call their own; the rest belongs to organisations."""


class Noun(NamedTuple):
    """A noun phrase, its noun, and its possessive (its, his, their); "" for a thing."""

    phrase: Phrase
    entry: Entry
    is_plural: bool
    possessive: str = ""


def choose_actor(choices: Choices, kinds: tuple[str, ...], can_belong: bool = True) -> Noun:
    """Who acts: people or organisations of these kinds, also "the company's CEO"."""
    sections = [section for section in ACTOR_SECTIONS if list_partners(kinds, section)]
    section = choices.choose_name(people=55, organisations=45)
    section = section if section in sections else sections[0]
    entry = choices.choose(list_partners(kinds, section))
    modifiers = choose_modifiers(choices, entry.kinds, int(choices.decide(30)))
    determiner = choices.choose_name(the=50, a=10, this=7, these=6, the_many=11, several=16)
    is_plural = determiner in ("these", "the_many", "several")
    possessive = "their" if is_plural else "its" if section == "organisations" else "his"
    if can_belong and determiner == "the" and "owned" in entry.kinds and choices.decide(28):
        determiner = "'s"
    phrase = add_determiner(choices, determiner, entry, entry.forms[is_plural], modifiers)
    return Noun(phrase, entry, is_plural, possessive)


def choose_thing(
    choices: Choices, kinds: tuple[str, ...], sections: Sequence[str], subject: Noun | None = None
) -> Noun:
    """What is announced, paid or sold; it may carry the possessive of its subject."""
    entry = choices.choose(list_partners(kinds, *sections))
    count = int(choices.choose_name(_0=30, _1=55, _2=15)[1])
    modifiers = choose_modifiers(choices, entry.kinds, count)
    return _write_thing(choices, entry, modifiers, subject)


def choose_amount(choices: Choices, kinds: tuple[str, ...], sections: Sequence[str]) -> Noun:
    """What rises or falls: only neutral modifiers, no "record earnings fell"."""
    entry = choices.choose(list_partners(kinds, *sections))
    neutral = [
        modifier
        for modifier in list_partners(entry.kinds, *MODIFIER_SECTIONS)
        if "rises" in modifier.kinds
    ]
    is_modified = choices.decide(50)
    modifiers = [choices.choose(neutral)] if is_modified and neutral else []
    return _write_thing(choices, entry, modifiers, None)


def choose_modifiers(choices: Choices, kinds: tuple[str, ...], count: int) -> list[Entry]:
    """Up to `count` modifiers of a noun of these kinds, in English order."""
    lists = {section: list_partners(kinds, section) for section in MODIFIER_SECTIONS}
    selection: dict[str, Entry] = {}
    for _ in range(count):
        options = [
            (section, entry)
            for section, entries in lists.items()
            if section not in selection
            for entry in entries
        ]
        if options:
            section, entry = choices.choose(options)
            selection[section] = entry
    return [selection[section] for section in MODIFIER_SECTIONS if section in selection]


def _write_thing(
    choices: Choices, entry: Entry, modifiers: Sequence[Entry], subject: Noun | None
) -> Noun:
    """A thing with its determiner, of the subject where somebody does something to it."""
    singular, plural = entry.forms
    is_single = plural == MISSING_FORM or (singular != MISSING_FORM and choices.decide(25))
    if MISSING_FORM in entry.forms:
        determiner = choices.choose_name(none=72, the=12, owner=16)
    elif is_single:
        determiner = choices.choose_name(a=45, the=32, this=7, owner=16)
    else:
        determiner = choices.choose_name(none=58, the_many=14, these=5, several=7, owner=16)
    if determiner == "several" and "sum" in entry.kinds:
        determiner = "none"  # nobody reports two profits
    if determiner == "owner":
        determiner = _find_owner(entry, subject)
    if determiner == "none" and is_single and plural != MISSING_FORM:
        determiner = "the"
    form = singular if is_single else plural
    return Noun(add_determiner(choices, determiner, entry, form, modifiers), entry, not is_single)


def _find_owner(entry: Entry, subject: Noun | None) -> str:
    """Whose a thing is: an organisation's, the subject's, or nobody's, as with taxes."""
    if "unowned" in entry.kinds:
        return "none"
    if subject is None:
        return "'s"
    is_own = entry.goes_with(OWNED_KINDS) or "people" not in subject.entry.kinds
    return subject.possessive if is_own else "'s"


def add_determiner(
    choices: Choices, determiner: str, entry: Entry, form: str, modifiers: Sequence[Entry]
) -> Phrase:
    """The noun with its modifiers and its determiner, each language in its own order."""
    noun = translate_word(form, entry.vietnamese)
    words = [translate_word(modifier.name, modifier.vietnamese) for modifier in modifiers]
    english_core, vietnamese_core = [*words, noun], [noun, *reversed(words)]
    before, behind = EMPTY_PHRASE, EMPTY_PHRASE
    match determiner:
        case "none":
            article = EMPTY_PHRASE
        case "a":
            article = before = write_function_word(
                choose_article(join_phrases(english_core).english[0].text)
            )
        case "the_many":
            article = before = translate_word("the", "các")
        case "several":
            article = before = choose_word(choices, "numbers")
        case "'s":
            owner, apostrophe = choose_owner(choices, entry), write_function_word("'s")
            article = join_phrases([write_function_word("the"), owner, apostrophe])
            behind = join_phrases([apostrophe, owner])
        case "these":
            article = write_function_word("these")
            first, last = article.vietnamese
            before, behind = Phrase((), (first,)), Phrase((), (last,))
        case _:  # the, this, its, his, their: said at the end, or not at all
            article = behind = write_function_word(determiner)
    pairs = frozenset((modifier.name, entry.name) for modifier in modifiers)
    return join_phrases([article, *english_core], [before, *vietnamese_core, behind])._replace(
        pairs=pairs
    )


def choose_owner(choices: Choices, entry: Entry) -> Phrase:
    """An organisation that owns something, without its article."""
    kinds: tuple[str, ...] = ("maker",) if "made" in entry.kinds else ("firm",)
    kinds = ("firm", "body") if entry.goes_with(OWNED_KINDS) else kinds
    owner = choices.choose(list_partners(kinds, "organisations"))
    modifiers = choose_modifiers(choices, owner.kinds, int(choices.decide(20)))
    return add_determiner(choices, "none", owner, owner.name, modifiers)


def choose_article(word: str) -> str:
    """ "a" or "an"."""
    return "an" if word.startswith(VOWELS) and not word.startswith(CONSONANT_SOUNDS) else "a"
