"""Menus that make a sentence: whatever is chosen, the trained heads know all of its words."""

import streamlit as st

from explainers.messages import N_
from explainers.toys.sentence import Sentence, split_words
from explainers.toys.task import COMMON_WORDS, RUNNING, TOPICS
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.controls.choose_text import choose_text
from explainers.ui.session import BUILT_WORD

MENUS = (N_("Who"), N_("did"), N_("what kind of"), N_("what"), N_("on"))
"""The parts of "the CEO announced record earnings on Friday" that can be chosen."""
NOTHING = "–"
"""What a menu offers for a part that can be left out."""
Parts = tuple[str, ...]
"""A word for each menu; "" where there is none, which only the kind may be."""


def choose_sentence() -> Sentence:
    """Ask for the reader's sentence, typed, chosen among examples, or made of words in menus."""
    return choose_text(offer_menus)


def offer_menus(text: str) -> None:
    """A menu for each part of the reader's sentence; a choice makes another sentence."""
    parts = find_parts(text)
    with st.popover(_("Build one"), icon=":material/construction:", help=_("Build a sentence")):
        for place, name in enumerate(MENUS):
            key = BUILT_WORD.format(name)
            st.session_state[key] = parts[place]
            st.selectbox(
                _(name),
                list_words(parts, place),
                format_func=lambda word: word or NOTHING,
                key=key,
                on_change=_take_word,
                args=(parts, place),
            )


def find_parts(text: str) -> Parts:
    """The words of a text that the menus offer, by their places; others from the running sentence.

    All are of the topic that most of the text is about, because no sentence was learned of two.
    """
    own, running = ([word.casefold() for word in words] for words in (split_words(text), RUNNING))
    known = [sum(word in own for some in _list_parts(topic) for word in some) for topic in TOPICS]
    topic = TOPICS[known.index(max(known))]
    parts: Parts = ()
    for offered in _list_parts(topic):
        free = {word.casefold(): word for word in offered if word not in parts}
        kept = [free[word] for word in own if word in free]
        usual = [free[word] for word in running if word in free]
        parts += (next(iter([*kept, *([""] if "" in offered else usual), *free.values()])),)
    return parts


def list_words(parts: Parts, place: int) -> list[str]:
    """What one menu offers: who did it, of any topic; the rest, of the topic that it is."""
    if place == 0:
        return sorted(word for topic in TOPICS for word in _list_parts(topic)[0])
    return [word for word in _list_parts(_find_topic(parts))[place] if word not in parts[:1]]


def replace_part(parts: Parts, place: int, word: str) -> Parts:
    """The same sentence with another word; of another topic, the words that stand there instead."""
    old, new = _find_topic(parts), _find_topic((word,) if place == 0 else parts)
    moved = [
        there[here.index(part) % len(there)]
        for part, here, there in zip(parts, _list_parts(old), _list_parts(new), strict=True)
    ]
    moved[place] = word
    return find_parts(write_sentence(tuple(moved)))


def write_sentence(parts: Parts) -> str:
    """The sentence of these words."""
    who, did, kind, what, time = parts
    return " ".join(filter(None, ("The", who, did, kind, what, "on", time)))


def _find_topic(parts: Parts) -> dict[str, str]:
    return next(topic for topic in TOPICS if parts[0] in _list_parts(topic)[0])


def _list_parts(topic: dict[str, str]) -> tuple[list[str], ...]:
    """What can be chosen of a topic, by menu."""
    who, did, kind, what = (topic[part].split() for part in ("one", "verb", "modifier", "many"))
    return [*who, *what], did, ["", *kind], what, COMMON_WORDS["time"].split()


def _take_word(parts: Parts, place: int) -> None:
    word = st.session_state[BUILT_WORD.format(MENUS[place])]
    st.session_state[controls.sentence.key] = write_sentence(replace_part(parts, place, word))
