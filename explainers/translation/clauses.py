"""Sentences in two languages at once: who did what, and when; the verb chooses who and what."""

from collections.abc import Iterable

from explainers.translation.noun_phrases import Noun, choose_actor, choose_amount, choose_thing
from explainers.translation.phrases import (
    EMPTY_PHRASE,
    Choices,
    Phrase,
    choose_time,
    choose_word,
    join_phrases,
    mark_past,
    translate_word,
    write_function_word,
)
from explainers.translation.vocabulary import (
    ACTOR_SECTIONS,
    THING_SECTIONS,
    VERB_SECTIONS,
    Entry,
    list_partners,
    read_lexicon,
)

NUM_CHOICES = 64
"""More numbers than any sentence uses."""
SPEAKERS = ("head", "office", "watch", "firm", "body", "council")
"""The kinds of actors that say something."""


def write_sentence(choice_numbers: Iterable[int]) -> Phrase:
    """The sentence that `NUM_CHOICES` whole numbers choose."""
    choices = Choices(choice_numbers)
    if not choices.decide(5):
        return _write_clause(choices)
    speaker = choose_actor(choices, SPEAKERS, can_belong=False).phrase
    verb = choose_word(choices, "verbs of saying")
    rest = [write_function_word("that"), _write_clause(choices)]
    return join_phrases([speaker, verb, *rest], [speaker, mark_past(verb), verb, *rest])


def _write_clause(choices: Choices) -> Phrase:
    """A clause in the active or passive, or with an intransitive verb, and its time."""
    section = VERB_SECTIONS[int(choices.choose_name(_0=55, _1=18, _2=27)[1])]
    match choices.choose_name(active=70, passive=15, alone=15):
        case "active":
            phrase, tense = _write_active(choices, section)
        case "passive":
            phrase, tense = _write_passive(choices, section)
        case _:
            phrase, tense = _write_intransitive(choices)
    match choices.choose_name(behind=62, fronted=12, never=26):
        case "behind":
            return join_phrases([phrase, choose_time(choices, tense)])
        case "fronted":
            return join_phrases([choose_time(choices, tense), write_function_word(","), phrase])
    return phrase


def list_actors(verb: Entry) -> tuple[Entry, ...]:
    """Who may do a verb."""
    return list_partners(verb.kinds, *ACTOR_SECTIONS)


def _write_active(choices: Choices, section: str) -> tuple[Phrase, str]:
    verb = choices.choose(read_lexicon()[section])
    subject = choose_actor(choices, verb.kinds)
    does, tense = _write_verb(choices, verb, subject.is_plural)
    owner = subject._replace(possessive="'s") if "others" in verb.kinds else subject
    objects = [choose_thing(choices, verb.kinds, THING_SECTIONS, owner)]
    if choices.decide(7):
        other = choose_thing(choices, verb.kinds, THING_SECTIONS, owner)
        objects += [other] if other.entry != objects[0].entry else []
    phrases = [thing.phrase for thing in objects]
    and_words = [write_function_word("and")] if len(objects) > 1 else []
    phrase = join_phrases([subject.phrase, does, phrases[0], *and_words, *phrases[1:]])
    return _note_pair(phrase, subject, verb), tense


def _write_passive(choices: Choices, section: str) -> tuple[Phrase, str]:
    verbs = [entry for entry in read_lexicon()[section] if "active" not in entry.kinds]
    verb = choices.choose(verbs)
    subject = choose_thing(choices, verb.kinds, THING_SECTIONS)
    helpers, tense = _write_passive_helpers(
        choices, subject.is_plural, "bị" if "harm" in verb.kinds else "được"
    )
    participle = translate_word(verb.forms[3], verb.vietnamese)
    if not choices.decide(60):
        return join_phrases([subject.phrase, *helpers, participle]), tense
    agent = choose_actor(choices, verb.kinds, can_belong=False)
    english = [subject.phrase, *helpers, participle, write_function_word("by"), agent.phrase]
    return _note_pair(
        join_phrases(english, [subject.phrase, *helpers, agent.phrase, participle]), agent, verb
    ), tense


def _write_intransitive(choices: Choices) -> tuple[Phrase, str]:
    verb = choices.choose(read_lexicon()["verbs alone"])
    subject = choose_amount(choices, verb.kinds, THING_SECTIONS)
    does, tense = _write_verb(choices, verb, subject.is_plural)
    is_described = "moves" in verb.kinds and choices.decide(50)
    manner = choose_word(choices, "how it moves") if is_described else EMPTY_PHRASE
    return join_phrases([subject.phrase, does, manner]), tense


def _note_pair(phrase: Phrase, subject: Noun, verb: Entry) -> Phrase:
    """The phrase with its subject and verb noted as a pair that may be held out."""
    return phrase._replace(pairs=phrase.pairs | {(subject.entry.name, verb.name)})


def _choose_manner(choices: Choices, verb: Entry) -> tuple[Phrase, Phrase]:
    """How it is done, or "also"; a verb alone has neither."""
    manners = list_partners(verb.kinds, "how it is done")
    if verb in read_lexicon()["verbs alone"] or not choices.decide(12):
        return EMPTY_PHRASE, EMPTY_PHRASE
    if not manners or choices.decide(40):
        return EMPTY_PHRASE, write_function_word("also")
    entry = choices.choose(manners)
    return translate_word(entry.name, entry.vietnamese), EMPTY_PHRASE


def _write_verb(choices: Choices, verb: Entry, is_plural: bool) -> tuple[Phrase, str]:
    """The verb with its helping verbs and adverbs, and its tense."""
    base, past, gerund, participle = (translate_word(form, verb.vietnamese) for form in verb.forms)
    manner, adverb = _choose_manner(choices, verb)
    match choices.choose_name(past=40, will=24, has=9, doing=9, did=7, will_not=4, modal=7):
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
            helpers, main, tense = [_choose_modal(choices, verb)], base, "future"
    return join_phrases([*helpers, adverb, manner, main], [adverb, *helpers, manner, main]), tense


def _choose_modal(choices: Choices, verb: Entry) -> Phrase:
    """What somebody may, must, can or should do, and what an amount may or can."""
    modals = read_lexicon()["modals"]
    if verb in read_lexicon()["verbs alone"]:
        modals = tuple(modal for modal in modals if "duty" not in modal.kinds)
    entry = choices.choose(modals)
    return translate_word(entry.name, entry.vietnamese)


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
