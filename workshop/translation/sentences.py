"""A grammar that writes English and Vietnamese at once, and the sets that are drawn from it.

The sentences are business news; each syllable is linked to the word that it comes from.
"""

import collections
import functools
import itertools
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import torch

from explainers.toys.examples import make_generator
from explainers.translation.corpus import (
    ACTOR_SECTIONS,
    COUNTED,
    EMPTY_PHRASE,
    HELD_OUT,
    MAX_SOURCE_WORDS,
    MODIFIER_SECTIONS,
    RUNNING,
    SENTENCES_FILE,
    THING_SECTIONS,
    UNSEEN,
    VERB_SECTIONS,
    Entry,
    Phrase,
    SentencePair,
    align_phrase,
    join_phrases,
    list_entries,
    list_partners,
    mark_past,
    read_lexicon,
    translate_word,
    write_function_word,
)
from workshop.translation.phrases import (
    Choices,
    Noun,
    choose_actor,
    choose_amount,
    choose_thing,
    choose_time,
    choose_word,
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


MAX_TARGET_SYLLABLES = 34
TEST_SENTENCES = 1_000
"""The size of each of the two test sets."""
KEPT_SENTENCES, COUNTED_SENTENCES = 50, 1_000
"""Of each test set for the page, and of those in which IBM Model 1 counts; more do not help it."""
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
            pair = write_pair(choices)
            if len(pair.source) <= MAX_SOURCE_WORDS and len(pair.target) <= MAX_TARGET_SYLLABLES:
                yield pair


def write_pair(choice_numbers: Iterable[int]) -> SentencePair:
    """The sentence that whole numbers choose, and whether words meet in it that are held out."""
    phrase = write_sentence(choice_numbers)
    is_held_out = not phrase.pairs.isdisjoint(list_held_out_pairs())
    return align_phrase(phrase)._replace(is_held_out=is_held_out)


RUNNING_CHOICES = (99, 0, 0, 0, 0, 0, 99, 0, 99, 99, 0, 0, 30, 0, 0, 99, 0, 0, 0, 4, 99)


@functools.cache
def write_running() -> SentencePair:
    """The sentence of the whole course."""
    return write_pair((*RUNNING_CHOICES, *[0] * NUM_CHOICES))


def draw_sentences(
    name: str, count: int, is_held_out: bool, excluded: Iterable[SentencePair]
) -> list[SentencePair]:
    """`count` different sentences, all of them with held-out pairs or all without.

    None says the same as an `excluded` one in either language.
    """
    known = [write_running(), *excluded]
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


def draw_kept() -> dict[str, list[SentencePair]]:
    """The sentences that the page reads, by their kinds."""
    tested = draw_test_sets(KEPT_SENTENCES)
    counted = draw_sentences("for counting", COUNTED_SENTENCES, False, itertools.chain(*tested))
    kinds = UNSEEN, HELD_OUT, COUNTED
    return {RUNNING: [write_running()], **dict(zip(kinds, (*tested, counted), strict=True))}


def format_kept() -> str:
    """The file that `explainers.translation.corpus` reads: a line for each sentence."""
    kept = {
        kind: ",\n ".join(json.dumps(_list_parts(pair), ensure_ascii=False) for pair in pairs)
        for kind, pairs in draw_kept().items()
    }
    return "{\n" + ",\n".join(f'"{kind}": [\n {rows}\n]' for kind, rows in kept.items()) + "\n}\n"


def _list_parts(pair: SentencePair) -> list[object]:
    words = [word for _syllable, word in sorted(pair.sure)]
    return [" ".join(pair.source), " ".join(pair.target), words, sorted(at for at, _ in pair.weak)]


def keep_sentences() -> None:
    """Write them."""
    SENTENCES_FILE.write_text(format_kept(), encoding="utf-8")
