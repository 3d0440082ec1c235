"""Which sentence is translated: typed, or an example, with its correct links if they are known."""

import functools
from collections.abc import Sequence
from difflib import get_close_matches
from typing import NamedTuple

import streamlit as st

from explainers.chapters.common.sentence_reading import list_few
from explainers.messages import N_
from explainers.toys.sentence import list_known_examples
from explainers.translation import corpus, translator
from explainers.translation.corpus import (
    ACTOR_SECTIONS,
    MISSING_FORM,
    MODIFIER_SECTIONS,
    SPECIAL_TOKENS,
    THING_SECTIONS,
    VERB_SECTIONS,
    Entry,
    Phrase,
    SentencePair,
    capitalise_sentence,
    english_vocabulary,
    find_words,
    list_entries,
    list_partners,
    read_lexicon,
)
from explainers.translation.translator import Translation, Translator
from explainers.translations import _, translate_error
from explainers.ui.controls import controls
from explainers.ui.untrusted_text import shorten, verbatim

OTHER_NAMES = "verbs alone", "verbs of saying", "days", "months", "events", "places"
MOST_NAMED = 8
"""Of the words that are not known."""
NUM_EXAMPLES = 6
"""Of each kind of held-out sentence: with a pair of words that never met in training, or none."""


@functools.cache
def list_held_out_examples() -> dict[str, SentencePair]:
    """Held-out sentences by their text."""
    pairs = [
        pair
        for kind in (corpus.UNSEEN, corpus.HELD_OUT)
        for pair in corpus.read_sentences(kind)[:NUM_EXAMPLES]
    ]
    return {" ".join(pair.source): pair for pair in pairs}


@functools.cache
def list_slots() -> tuple[dict[str, Entry], ...]:
    """Who, did, what kind of, what, on: the words that may stand there in sentences whose correct
    links are known."""
    lists = read_lexicon()
    persons = list_entries(*ACTOR_SECTIONS)
    kinds = {kind for noun in lists["news"] for kind in noun.kinds}
    modifiers = list_partners(tuple(sorted(kinds)), *MODIFIER_SECTIONS)
    return (
        {entry.forms[0]: entry for entry in persons},
        {entry.forms[1]: entry for entry in lists["verbs of news"]},
        {entry.name: entry for entry in modifiers},
        {
            entry.name if entry.forms[1] == MISSING_FORM else entry.forms[1]: entry
            for entry in lists["news"]
        },
        {entry.name: entry for entry in lists["days"]},
    )


def build_sentence(
    who: str, did: str, kind: str, what: str, day: str, is_passive: bool = False
) -> SentencePair:
    """The sentence in both languages; raises KeyError for a word that may not stand there.

    "" is no modifier. The passive is of a plural: "earnings were announced by the CEO".
    """
    subject, verb, modifier, noun, friday = (
        words[word] if word else None
        for word, words in zip((who, did, kind, what, day), list_slots(), strict=True)
    )
    if not (subject and verb and noun and friday):
        raise KeyError("")
    actor, time = _translate(who, subject), _translate(day, friday)
    described = [_translate(kind, modifier)] if modifier else []
    news = [*described, _translate(what, noun)]
    on = _translate("on", next(one for one in read_lexicon()["before a day"] if one.name == "on"))
    if is_passive:
        were, done = corpus.translate_word("were", "đã được"), _translate(verb.forms[3], verb)
        agent = [corpus.write_function_word(word) for word in ("by", "the")]
        english = [*news, were, done, *agent, actor, on, time]
        vietnamese = [*reversed(news), were, *agent, actor, done, on, time]
    else:
        does = _translate(did, verb)
        english = [corpus.write_function_word("the"), actor, does, *news, on, time]
        vietnamese = [actor, corpus.mark_past(does), does, *reversed(news), on, time]
    return corpus.align_phrase(corpus.join_phrases(english, vietnamese))


def _translate(word: str, entry: Entry) -> Phrase:
    return corpus.translate_word(word, entry.vietnamese)


def rebuild_sentence(words: Sequence[str]) -> SentencePair:
    """The sentence that has these words where a built one has them; raises if there is none."""
    match words:
        case (_the, who, did, kind, what, _on, day):
            return build_sentence(who, did, kind, what, day)
        case (_the, who, did, what, _on, day):
            return build_sentence(who, did, "", what, day)
        case (kind, what, _were, did, _by, _the, who, _on, day):
            return build_sentence(who, did, kind, what, day, is_passive=True)
    raise KeyError(" ".join(words))


def find_gold(words: tuple[str, ...]) -> SentencePair | None:
    """The sentence with its gold, if it is one of those that are known."""
    known = list_held_out_examples().get(" ".join(words))
    if known or words == corpus.RUNNING_PAIR.source:
        return known or corpus.RUNNING_PAIR
    try:
        pair = rebuild_sentence(words)
    except KeyError:
        return None
    return pair if pair.source == words else None


def write_variant(kind: str | None = None, is_passive: bool = False) -> str:
    """The running sentence as a reader types it, in the passive or with another modifier."""
    who, did, own_kind, what, day = _list_default_words()
    kind = own_kind if kind is None else kind
    return _print_sentence(build_sentence(who, did, kind, what, day, is_passive).source)


def load_translator_or_warn() -> Translator | None:
    """The trained translator, or a message to the reader if its file is missing or broken."""
    try:
        return translator.load_translator()
    except translator.BrokenWeightsError as error:
        st.error(
            _(
                "The translator cannot be used: {problem}. All that needs it is left out; the rest "
                "of the app works.",
                problem=verbatim(translate_error(error)),
            ),
            icon=":material/error:",
        )
    return None


@st.cache_resource(show_spinner=False, max_entries=64)
def translate_once(words: tuple[str, ...]) -> Translation:
    """The same sentence is translated once, however often the page runs."""
    return translator.load_translator().translate(words)


class Known(NamedTuple):
    """What of the reader's sentence the translator can read."""

    words: tuple[str, ...]
    """In their order; none if too few are left to say anything."""
    unknown: tuple[str, ...] = ()
    is_cut: bool = False
    """Had the sentence more words than any in training?"""
    nearest: str = ""
    """The sentence that its words are spelled most like, if that is another one."""


def read_words(sentence: str) -> Known:
    """The words that the translator knows, without the others.

    Words of the grammar alone say nothing, nor does a sentence of which more than half is missing.
    """
    words = find_words(sentence)
    known, nearest = _keep_known(words), _spell_nearest(words)
    unknown = tuple(dict.fromkeys(word for word in words if word not in known))
    if unknown and not _says_enough(known, words):
        return Known((), unknown, nearest=nearest)
    is_cut = len(known) > corpus.MAX_SOURCE_WORDS
    return Known(known[: corpus.MAX_SOURCE_WORDS], unknown, is_cut, nearest if unknown else "")


@functools.cache
def list_known_words() -> dict[str, None]:
    """All that the translator can read, in the order of a dictionary."""
    return dict.fromkeys(
        sorted(english_vocabulary().tokens[len(SPECIAL_TOKENS) :], key=str.casefold)
    )


def _keep_known(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(word for word in words if word in list_known_words())


@functools.cache
def _list_content_words() -> frozenset[str]:
    """Who, what, what kind of, what is done, when and where."""
    sections = (*ACTOR_SECTIONS, *THING_SECTIONS, *VERB_SECTIONS, *MODIFIER_SECTIONS, *OTHER_NAMES)
    forms = (form for entry in list_entries(*sections) for form in entry.forms)
    return frozenset(forms) - {MISSING_FORM}


def _says_enough(known: Sequence[str], words: Sequence[str]) -> bool:
    return 2 * len(known) >= len(words) and len(_list_content_words().intersection(known)) >= 2


SHORTEST = 4
"""Letters of a word that may be meant by a misspelled one: "two" is not what "to" means."""
ALIKE = 0.8
"""How alike words are (`difflib`) of which one may be the other, spelled wrongly."""


def _spell_nearest(words: Sequence[str]) -> str:
    """The words with what is spelled like them; if that says too little, a built sentence.

    It has the reader's words where they may stand, and those of the running sentence elsewhere.
    "" if nothing was misspelled in a sentence that says enough.
    """
    every = list_known_words()
    long = [word for word in every if len(word) >= SHORTEST]
    mended = [
        word if word in every else next(iter(get_close_matches(word, long, 1, ALIKE)), "")
        for word in words
    ]
    most, known = corpus.MAX_SOURCE_WORDS, _keep_known(words)
    found = tuple(word for word in mended if word)[:most]
    if _says_enough(known, words) and found == known[:most]:
        return ""
    if _says_enough(found, words) and (_says_enough(known, words) or all(mended)):
        return _print_sentence(found)
    usual = zip(list_slots(), _list_default_words(), strict=True)
    who, did, kind, what, day = (
        next((word for word in found if word in slot), word) for slot, word in usual
    )
    return _print_sentence(build_sentence(who, did, kind, what, day).source)


def _print_sentence(words: Sequence[str]) -> str:
    return " ".join(capitalise_sentence(words))


def offer_known(known: Known) -> None:
    """What a reader can do about words that are not known."""
    # By this name the page's style knows that no picture stands above what asks for a sentence.
    key = "words left out" if known.words else "nothing known"
    with st.container(horizontal=True, key=key):
        if known.nearest:
            st.button(
                _("Translate “{sentence}”", sentence=known.nearest),
                icon=":material/spellcheck:",
                key="nearest sentence",
                on_click=controls.sentence.put,
                args=(known.nearest,),
            )
        every = list_known_words()
        with st.popover(_("The {count} words it knows", count=len(every)), key="known words"):
            st.markdown(verbatim(", ".join(every)))


def describe_unknown(known: Known) -> dict[str, object]:
    """By name what is not known, for a text."""
    words = list_few([shorten(word, 40) for word in known.unknown], MOST_NAMED)
    return {"words": words, "known": len(list_known_words())}


def list_examples() -> dict[str, str]:
    """Sentences that the translator can read, by their names."""
    known = list_known_examples("en")
    readable = {name: text for name, text in known.items() if not read_words(text).unknown}
    return readable | {
        N_("the passive"): write_variant(is_passive=True),
        N_("never in training"): _print_sentence(corpus.read_sentences(corpus.HELD_OUT)[1].source),
    }


def _list_default_words() -> tuple[str, ...]:
    _unused, who, did, kind, what, _unused, day = corpus.RUNNING_PAIR.source
    return who, did, kind, what, day
