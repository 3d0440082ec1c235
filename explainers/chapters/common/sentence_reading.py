"""Who reads the reader's sentence: the small head, a head of a real model, or untrained weights.

The small head knows some hundred words. A sentence with others is read by a real model, where one
is on this machine; else untrained weights draw it, and the page says so and offers the model.
"""

import functools
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import streamlit as st

from explainers.chapters.common.choose_real_model import obtain_model
from explainers.chapters.common.own_words import OwnWords, read_with
from explainers.toys import layers
from explainers.toys.examples import make_generator
from explainers.toys.grammar import find_language, find_unknown_words, fold_word, read_running
from explainers.toys.layers import Layer, Tokens
from explainers.toys.sentence import Sentence, is_word, list_known_examples
from explainers.toys.training import draw_news
from explainers.translations import _, get_language
from explainers.ui.controls import controls
from explainers.ui.controls.choose_text import choose_text
from explainers.ui.controls.control import Control
from explainers.ui.figure.hero import HeroChoice, begin_again, choose_word
from explainers.ui.lecture.screens import screen
from explainers.ui.page import Prose, read_seed, show_question
from explainers.ui.session import OWN_WORDS
from explainers.ui.text.numbers import write_percent
from explainers.ui.untrusted_text import verbatim

if TYPE_CHECKING:
    from explainers.models.load import RealModel


MOST_NAMED = 2
"""Of the words that the small head lacks."""
UNTRAINED = 4
"""Heads, where no others know the words."""
JOB = "own words"
SMALL, REAL = controls.reader.options


class Reading(NamedTuple):
    """A sentence, and who reads it."""

    words: Tokens
    """The reader's words."""
    own: OwnWords | None
    """What a real model makes of them, if it reads them."""
    is_known: bool
    """Did the small head learn all of these words?"""
    wants_model: bool = False
    """Shall a real model read them?"""

    @property
    def is_small(self) -> bool:
        """Does the small head read them?"""
        return self.own is None and self.is_known

    @property
    def tokens(self) -> Tokens:
        """What the pictures draw."""
        return self.own.tokens if self.own else self.words

    @property
    def is_free(self) -> bool:
        """Can the words be changed? The small head knows them, or untrained weights are asked for.

        What a real model makes of a word depends on all others.
        """
        return self.own is None and (self.is_known or not self.wants_model)

    @property
    def known(self) -> Tokens:
        """What cards read that change the words: the sentence itself, or the running one."""
        return self.words if self.is_free else read_running(get_language()).tokens

    def layer(self, rule: str = "full", is_trained: bool = True) -> Layer:
        """The head that draws the picture, under a mask; untrained, one of the same sizes."""
        if self.own:
            return self.own.layer(rule, is_trained, read_seed())
        if self.is_known and is_trained:
            return layers.load_readable_layer(self.words, rule, layers.FILM_SEED)
        return layers.draw_layer(
            self.words, layers.READABLE_D_MODEL, 1, layers.READABLE_HEAD_DIM, rule, read_seed()
        )

    def layer_of_heads(self) -> Layer:
        """All heads of the real model's layer, or four untrained ones."""
        if self.own:
            return self.own.layer_of_all()
        return layers.draw_layer(
            self.words, layers.D_MODEL, UNTRAINED, layers.D_MODEL // UNTRAINED, "full", read_seed()
        )

    def of_known(self) -> "Reading":
        """The same page's reading of words that the small head knows."""
        return self if self.is_free else Reading(self.known, None, True)

    def explain_known(self) -> None:
        """Say what a card reads that needs other words than the reader's."""
        if not self.is_free:
            sentence = " ".join(self.known)
            st.caption(
                _("This takes words that the small head knows: *{sentence}*.", sentence=sentence)
            )

    @property
    def opening_word(self) -> int:
        """The word that is followed at first: the running sentence's verb, or what tells most."""
        usual = min(controls.followed_word.default, len(self.tokens) - 1)
        return self.own.telling_word if self.own else usual

    @property
    def last_word(self) -> int:
        """The last one that is neither a mark nor the model's own."""
        own = self.own.own_positions if self.own else ()
        words = [n for n, token in enumerate(self.tokens) if n not in own and is_word(token)]
        return words[-1] if words else len(self.tokens) - 1

    def choose_word(self) -> HeroChoice:
        """The word that is followed; in other words, and by another reader, it begins anew."""
        if not self.own:
            st.session_state.pop(OWN_WORDS, None)
            return choose_word(len(self.words))
        if OWN_WORDS not in st.session_state and controls.followed_word.key not in st.query_params:
            Control.put(controls.followed_word, None)  # it was the usual word of another sentence
        begin_again(OWN_WORDS, self.own.tokens, controls.followed_word)
        return choose_word(len(self.own.tokens), self.opening_word)

    @property
    def marks(self) -> dict[str, Any]:
        """Which of the tokens are the model's own, and what is said of them when hidden."""
        if not self.own:
            return {}
        said = {"share": _("{share} to {token}"), "one": _("Hidden: {shares}.")}
        said["several"] = _("Hidden, on average: {shares}.")
        return {"ownPositions": list(self.own.own_positions), "ownSaid": said}

    @property
    def sentences(self) -> tuple[str, ...]:
        """What a picture says of words while the model's own tokens are hidden."""
        return ("hero_hidden",) if self.own else ()

    def choose_marks(self) -> list[HeroChoice]:
        """Are the model's own tokens drawn? Hidden, they keep their shares."""
        if not self.own:
            return []
        control = controls.model_marks
        return [HeroChoice.read(control, control.options, [*map(_, control.options)])]


def choose_reading(
    sentence: Sentence, has_all_heads: bool = False, is_trained: bool = True
) -> Reading:
    """Choose who reads the sentence; where it is not the small head, one line says who, and why.

    A page that `has_all_heads` shows those of a layer. Where a page is asked for weights that are
    not trained, no model is needed.
    """
    words = drop_end_marks(sentence.tokens)
    unknown = find_unknown_words(words)
    wants_model = is_trained and (bool(unknown) or controls.reader(is_drawn=False) == REAL)
    loaded = find_model("bidirectional") if wants_model else None
    own = read_with(loaded, sentence) if loaded else None
    lacks = _(
        "The small head never learned {unknown}.", unknown=list_few([*filter(is_word, unknown)])
    )
    if own:
        reads = _(
            "**A real model reads your words:** {part} of {model}.",
            part=own.name_part(has_all_heads),
            model=own.model,
        )
        marks = _(
            "*[CLS]* marks the start, *[SEP]* the end; heads with nothing to find look there."
        )
        st.markdown(" ".join([reads, *([lacks] if unknown else []), marks]))
    elif unknown:
        st.markdown(f"{_say_untrained(wants_model and is_model_near())} {lacks}")
    return Reading(words, own, not unknown, wants_model)


def drop_end_marks(tokens: Tokens) -> Tokens:
    """Without the marks that end a sentence: the small head learned none, and needs none."""
    count = len(tokens)
    while count > 1 and not is_word(tokens[count - 1]):
        count -= 1
    return tokens[:count]


def _say_untrained(is_waiting: bool) -> str:
    if is_waiting:
        return _("**Untrained weights read your words** until a real model is loaded.")
    return _("**Untrained weights read your words:** these numbers are random.")


def list_few(words: Sequence[str], most: int = MOST_NAMED) -> str:
    """So many of the words as a reader typed them, and how many more there are."""
    names, more = ", ".join(map(verbatim, words[:most])), len(words) - most
    return _("{names} and {count} more", names=names, count=more) if more > 0 else names


def ask_about(
    text: Prose,
    question: str,
    own_form: str,
    has_all_heads: bool = False,
    below: Callable[[], None] | None = None,
) -> tuple[Sentence, Reading]:
    """Ask for the sentence below a question that, of other words, is asked about one of these.

    What the page shows `below` the question stands between both.
    """
    lead = st.container()
    sentence = choose_sentence()
    reading = choose_reading(sentence, has_all_heads)
    word = "" if reading.is_small else verbatim(reading.tokens[reading.opening_word])
    with lead:
        show_question(text, question, own_form, word)
        if below:
            below()
    return sentence, reading


def show_reader(reading: Reading, has_all_heads: bool = False) -> None:
    """Below a picture: how well its head reads, what it left out, and who else could read."""
    if has_all_heads and reading.is_small:  # the pages of one head offer another one
        return
    with screen("rest", "reader"):
        if own := reading.own:
            finds = _(
                "This head finds objects: in {score} of English test sentences a verb looks most "
                "at its object. Always looking the same number of words ahead finds it in "
                "{distance}.",
                score=write_percent(own.score),
                distance=write_percent(own.by_distance),
            )
            bias = _(
                "The last of a word's {width} numbers is a 1: the model's biases stand in the last "
                "row of each matrix.",
                width=own.x.shape[-1],
            )
            left_out = _("The last {count} tokens have no room here.", count=own.left_out)
            pieces = _(
                "{model} has read English above all: it cuts these {words} words into {pieces} "
                "tokens, and lines between parts of words may mean little.",
                model=own.model,
                words=len(own.words),
                pieces=own.num_tokens,
            )
            said = {
                finds: not has_all_heads,
                bias: True,
                left_out: own.left_out,
                pieces: own.is_in_pieces,
            }
            st.markdown(" ".join(one for one, holds in said.items() if holds))
        back = _("Let the small head read it")
        _offer_others(reading.words, bool(reading.own), reading.wants_model, back)


def offer_causal_reader(words: Tokens, is_read: bool, wants_model: bool) -> None:
    """Below a picture of a model that writes: who else could read, or the model that comes."""
    with screen("rest", "reader"):
        _offer_others(words, is_read, wants_model, _("Back to the app's own weights"), "causal")


def _offer_others(
    words: Tokens, is_read: bool, wants_model: bool, back: str, kind: str = "bidirectional"
) -> None:
    with st.container(horizontal=True):
        if find_unknown_words(words):
            nearest = find_nearest_sentence(words)
            swap = _("Swap the words: “{sentence}”", sentence=nearest)
            offer_choice(swap, ":material/swap_horiz:", controls.sentence, nearest)
        elif is_read:
            offer_choice(back, ":material/undo:", controls.reader, SMALL)
        else:
            label = _("Let a real model read it")
            offer_choice(label, ":material/psychology:", controls.reader, REAL)
    if wants_model and not is_read:
        obtain_model(name_model(kind), JOB)  # drawn again once it has come


Found = TypeVar("Found")


def choose_causal_reader(
    sentence: Sentence,
    read: "Callable[[RealModel, str], Found | None]",
    name_part: Callable[[Any], str],
) -> tuple[Found | None, bool]:
    """What a model that writes makes of the sentence, if it reads it; and is one wanted?

    One line says who reads, and which part of the model.
    """
    unknown = find_unknown_words(drop_end_marks(sentence.tokens))
    wants_model = bool(unknown) or controls.reader(is_drawn=False) == REAL
    loaded = find_model("causal") if wants_model else None
    found = read(loaded, sentence.text) if loaded else None
    listed = list_few([*filter(is_word, unknown)])
    is_waiting = wants_model and is_model_near("causal")
    if found:
        said = _("**A real model reads your words:** {part}.", part=name_part(found))
        lacks = _("The small heads never learned {unknown}.", unknown=listed)
        st.markdown(f"{said} {lacks}" if listed else said)
    elif is_waiting or listed:
        st.markdown(_say_untrained(is_waiting))
    return found, wants_model


def find_model(kind: str) -> "RealModel | None":
    """The model of a kind that reads the reader's sentences, if it is in memory."""
    from explainers.models.load import find_loaded_model

    return find_loaded_model(name_model(kind)) if is_model_near(kind) else None


def name_model(kind: str = "bidirectional") -> str:
    """The model that reads all words."""
    from explainers.models.registry import WHEEL_MODELS  # the first paint needs no models

    return next(one.id for one in WHEEL_MODELS if one.kind == kind)


def is_model_near(kind: str = "bidirectional") -> bool:
    """Does it lie on this machine?"""
    from explainers.models.load import is_on_disk

    return is_on_disk(name_model(kind))


NUM_SENTENCES = 2_000
"""Of the sentences that the head can read, so many are compared with the reader's."""


def choose_sentence() -> Sentence:
    """Ask for the reader's sentence: typed, or chosen among those that the trained heads know."""
    return choose_text(examples=list_known_examples(get_language()))


def offer_choice(label: str, icon: str, control: Control, value: object) -> None:
    """A button that chooses, for the whole page, also where it stands in a part that runs alone."""
    if st.button(label, icon=icon, on_click=control.put, args=(value,)):
        st.rerun()


def find_nearest_sentence(tokens: Tokens) -> str:
    """The sentence of known words that shares most with this one: its words, then its length.

    Where no word is known, it is one in the visitor's language.
    """
    language = find_language(tokens, get_language())
    wanted = Counter(map(fold_word, tokens))

    def measure_likeness(news: Tokens) -> tuple[int, int]:
        common = wanted & Counter(map(fold_word, news))
        return common.total(), -abs(len(news) - len(tokens))

    nearest: Tokens = max(list_known_sentences(language), key=measure_likeness)
    return " ".join(nearest)


@functools.cache
def list_known_sentences(language: str) -> tuple[Tokens, ...]:
    """Sentences of the task, of which the nearest is offered."""
    seeded = make_generator("sentences of known words")
    return tuple(news.tokens for news in draw_news(language, NUM_SENTENCES, True, seeded))
