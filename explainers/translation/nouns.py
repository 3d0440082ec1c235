"""Noun phrases: modifiers stand before an English noun and behind a Vietnamese one."""

import functools
from collections.abc import Sequence
from typing import NamedTuple

from explainers.translation.lexicon import MISSING, Entry, fitting, lexicon, paid
from explainers.translation.phrases import Choices, Phrase, join, translated

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
    return translated(word, _small_words()[word])


@functools.cache
def _small_words() -> dict[str, str]:
    return {entry.name: entry.vietnamese for entry in lexicon()["small words"]}


def said(choices: Choices, section: str) -> Phrase:
    """Any word of a section whose words have one form each."""
    entry = choices.one_of(lexicon()[section])
    return translated(entry.name, entry.vietnamese)


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
    noun = translated(form, entry.vietnamese)
    before = [translated(modifier.name, modifier.vietnamese) for modifier in modifiers]
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
