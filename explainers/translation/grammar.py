"""Business news in English and Vietnamese at once, each syllable with the word it comes from."""

from collections.abc import Iterable

from explainers.translation.lexicon import Entry, lexicon
from explainers.translation.phrases import (
    NOTHING,
    Choices,
    Noun,
    Phrase,
    join,
    of_past,
    said,
    small,
    what,
    when,
    who,
    word_pair,
)

CHOICES = 64
"""More decisions than any sentence takes."""


def sentence(numbers: Iterable[int]) -> Phrase:
    """The sentence that `CHOICES` whole numbers choose."""
    choices = Choices(numbers)
    if not choices.chance(7):
        return _clause(choices)
    speaker = who(choices, can_belong=False).phrase
    verb = said(choices, "verbs of saying")
    rest = [small("that"), _clause(choices)]
    return join([speaker, verb, *rest], [speaker, of_past(verb), verb, *rest])


def _clause(choices: Choices) -> Phrase:
    """Who does what, what is done by whom, or what rises and falls; and when."""
    kind = choices.shared(news=58, money=20, goods=22)
    match choices.shared(active=70, passive=15, alone=15):
        case "active":
            phrase, tense = _active(choices, kind)
        case "passive":
            phrase, tense = _passive(choices, kind)
        case _:
            phrase, tense = _alone(choices)
    match choices.shared(behind=62, fronted=14, never=24):
        case "behind":
            return join([phrase, when(choices, tense)])
        case "fronted":
            return join([when(choices, tense), small(","), phrase])
    return phrase


def _active(choices: Choices, kind: str) -> tuple[Phrase, str]:
    subject = who(choices)
    verb = choices.one_of(lexicon()[f"verbs of {kind}"])
    does, tense = _verb(choices, verb, subject.is_plural, can_be_described=True)
    objects = [what(choices, kind, subject.own).phrase]
    if choices.chance(10):
        objects += [small("and"), what(choices, kind, subject.own).phrase]
    return _met(join([subject.phrase, does, *objects]), subject, verb), tense


def _passive(choices: Choices, kind: str) -> tuple[Phrase, str]:
    verbs = [entry for entry in lexicon()[f"verbs of {kind}"] if "active" not in entry.kinds]
    thing, verb = what(choices, kind), choices.one_of(verbs)
    helpers, tense = _suffered(choices, thing.is_plural, "bị" if "harm" in verb.kinds else "được")
    done = word_pair(verb.forms[3], verb.vietnamese)
    if not choices.chance(60):
        return join([thing.phrase, *helpers, done]), tense
    agent = who(choices, can_belong=False)
    english = [thing.phrase, *helpers, done, small("by"), agent.phrase]
    return _met(join(english, [thing.phrase, *helpers, agent.phrase, done]), agent, verb), tense


def _alone(choices: Choices) -> tuple[Phrase, str]:
    subject, verb = what(choices, "money"), choices.one_of(lexicon()["verbs alone"])
    does, tense = _verb(choices, verb, subject.is_plural, can_be_described=False)
    is_described = "moves" in verb.kinds and choices.chance(50)
    manner = said(choices, "how it moves") if is_described else NOTHING
    return join([subject.phrase, does, manner]), tense


def _met(phrase: Phrase, subject: Noun, verb: Entry) -> Phrase:
    """Note that this subject did this: such pairs are held out as well."""
    return phrase._replace(pairs=phrase.pairs | {(subject.name, verb.name)})


def _verb(
    choices: Choices, verb: Entry, is_plural: bool, can_be_described: bool
) -> tuple[Phrase, str]:
    """The verb with what goes before it, and its tense."""
    base, past, doing, done = (word_pair(form, verb.vietnamese) for form in verb.forms)
    manner = also = NOTHING
    if can_be_described and choices.chance(14):
        manner, also = choices.one_of(
            [(said(choices, "how it is done"), NOTHING), (NOTHING, small("also"))]
        )
    match choices.shared(past=50, will=17, has=8, doing=8, did=7, will_not=3, modal=7):
        case "past":
            english = [also, manner, past]
            return join(english, [also, of_past(past), manner, past]), "past"
        case "will":
            helpers, main, tense = [small("will")], base, "future"
        case "has":
            helpers, main, tense = [small("have" if is_plural else "has")], done, "present"
        case "doing":
            helpers, main, tense = [small("are" if is_plural else "is")], doing, "present"
        case "did":
            return join([small("did"), small("not"), base]), "past"
        case "will_not":
            return join([small("will"), small("not"), base]), "future"
        case _:
            helpers, main, tense = [said(choices, "modals")], base, "future"
    return join([*helpers, also, manner, main], [also, *helpers, manner, main]), tense


def _suffered(choices: Choices, is_plural: bool, suffers: str) -> tuple[list[Phrase], str]:
    """The helping verbs of the passive, in the order of both languages, and the tense."""
    match choices.shared(past=55, future=25, present=12, not_past=8):
        case "future":
            return [small("will"), word_pair("be", suffers)], "future"
        case "present":
            has = small("have" if is_plural else "has")
            return [has, word_pair("been", suffers)], "present"
        case "past":
            return [word_pair("were" if is_plural else "was", f"đã {suffers}")], "past"
    was = word_pair("were" if is_plural else "was", f"đã {suffers}")
    return [_around(was, small("not"))], "past"


def _around(was: Phrase, no: Phrase) -> Phrase:
    """Two syllables of one word with another word's between them: "đã không được"."""
    first, second = was.vietnamese
    return Phrase(was.english + no.english, (first, *no.vietnamese, second))
