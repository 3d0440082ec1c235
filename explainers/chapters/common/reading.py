"""Who reads the reader's sentence: the small head, a head of a real model, or untrained weights.

The small head knows some hundred words. A sentence with others is read by a real model, where one
is on this machine; else untrained weights draw it, and the page says so and offers the model.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import streamlit as st
import torch
from torch import Tensor

from explainers.attention.layer import MultiHead
from explainers.attention.scaled_dot_product import Attention
from explainers.attention.single_head import single_head
from explainers.chapters.common.choose_real_model import obtain_model
from explainers.chapters.common.unknown_words import (
    find_unknown_words,
    offer_choice,
    offer_nearest_sentence,
)
from explainers.toys.examples import random_heads
from explainers.toys.grammar import read_running
from explainers.toys.layers import D_MODEL, Layer, Tokens, build_mask, draw_layer
from explainers.toys.readable_head import (
    FILM_SEED,
    READABLE_D_MODEL,
    READABLE_HEAD_DIM,
    load_readable_layer,
)
from explainers.toys.sentence import MOST_DRAWN, Sentence, is_word, split_words
from explainers.translations import _, get_language
from explainers.ui.controls import controls
from explainers.ui.controls.control import Control
from explainers.ui.figure.hero import HeroChoice, begin_again, choose_word
from explainers.ui.lecture.screens import is_lecture, screen
from explainers.ui.page import Prose, read_seed
from explainers.ui.session import OWN_WORDS
from explainers.ui.text.numbers import write_percent
from explainers.ui.untrusted_text import verbatim

if TYPE_CHECKING:
    from explainers.models.load import RealModel

RELATION = "verb → object"
"""The head is the one that finds this best in sentences by which it was chosen."""
FUNCTION_WORDS = frozenset(
    split_words(
        "a an the this that these those my your his her its our their i you he she it we they me "
        "him us them who which what and or but if as of to in on at by for from with into over "
        "after before is are was were be been am has have had do does did not no will would can"
    )
)
"""English words that say little by themselves: no picture opens on one."""
MOST_TOKENS = MOST_DRAWN
"""Of a longer text the pictures have the beginning."""
MOST_NAMED = 2
"""Of the words that the small head lacks."""
UNTRAINED = 4
"""Heads, where no others know the words."""
JOB = "own words"
SMALL, REAL = controls.reader.options
PIECE, GOES_ON = "##", "…"
"""Before a token that goes on with a word: how the model writes it, and how we do."""
MANY_PIECES = 1.5
"""Tokens for each word: of English few words are cut."""


@dataclass(frozen=True, eq=False)
class OwnWords:
    """A sentence in one head of a real model."""

    tokens: Tokens
    x: Tensor
    """What its layer reads (tokens, d_model + 1): at the end a 1, which reads the biases."""
    all_heads: MultiHead
    """All of its layer."""
    layer_index: int
    number: int
    """Which of them draws the pictures of one head."""
    own_positions: tuple[int, ...]
    """Of tokens that are the model's own: what looks at them has found nothing."""
    num_tokens: int
    """Of the whole text, without the model's own."""
    origin: str
    model: str
    words: Tokens
    """Its words, before the model cut them into tokens."""
    score: float
    """How often the head finds a verb's object in sentences by which it was not chosen."""
    by_distance: float
    """How often the best fixed distance finds it there."""

    def layer(self, rule: str = "full", is_trained: bool = True, seed: int = 0) -> Layer:
        """Its one head as the pages read a layer; untrained, random matrices of the same sizes."""
        if is_trained:
            return self._make_layer(choose_head(self.all_heads, self.number), rule, seed)
        heads = random_heads(self.x.shape[-1], 1, 1, self.all_heads.head_dim, seed)
        return replace(self._make_layer(heads, rule, seed), origin="")

    def name_part(self, has_all_heads: bool) -> str:
        """What of the model draws a picture."""
        if has_all_heads:
            return _("all heads of layer {layer}", layer=self.layer_index)
        return _("head {head}", head=f"L{self.layer_index}.H{self.number}")

    def layer_of_all(self) -> Layer:
        """All heads of its layer."""
        return self._make_layer(self.all_heads, "full", 0)

    def _make_layer(self, heads: MultiHead, rule: str, seed: int) -> Layer:
        mask = build_mask(rule, self.x)
        return Layer(
            self.tokens, self.x, heads, mask, rule, seed, is_changed=True, origin=self.origin
        )

    def attend(self, rule: str) -> Attention:
        """What our function makes of it under a mask."""
        return single_head(*self.layer(rule).single())

    def weigh_words(self, rule: str = "full") -> list[list[float]]:
        """How each word divides its attention over all words."""
        weights: list[list[float]] = self.attend(rule).weights.tolist()
        return weights

    @property
    def is_in_pieces(self) -> bool:
        """Are most of its words cut? The model has hardly read their language."""
        return self.num_tokens > MANY_PIECES * len(self.words)

    @property
    def left_out(self) -> int:
        """Tokens of the text for which the picture has no room."""
        return self.num_tokens - (len(self.tokens) - len(self.own_positions))

    @cached_property
    def telling_word(self) -> int:
        """The word that gives most to another one, as long as there are two that mean a thing."""
        weights = torch.tensor(self.weigh_words()).fill_diagonal_(0)
        places = range(len(self.tokens))
        words = [n for n in places if n not in self.own_positions and is_word(self.tokens[n])]
        telling = [n for n in words if self.tokens[n].casefold() not in FUNCTION_WORDS]
        asked = telling if len(telling) > 1 else words or [*places]
        if len(asked) == 1:
            return asked[0]
        chosen = torch.tensor(asked)
        return int(chosen[weights[chosen][:, chosen].amax(dim=-1).argmax()])


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
    def known(self) -> Tokens:
        """What cards read that change the words: the sentence itself, or the running one."""
        return self.words if self.is_small else read_running(get_language()).tokens

    def layer(self, rule: str = "full", is_trained: bool = True) -> Layer:
        """The head that draws the picture, under a mask; untrained, one of the same sizes."""
        if self.own:
            return self.own.layer(rule, is_trained, read_seed())
        if self.is_known and is_trained:
            return load_readable_layer(self.words, rule, FILM_SEED)
        return draw_layer(self.words, READABLE_D_MODEL, 1, READABLE_HEAD_DIM, rule, read_seed())

    def layer_of_heads(self) -> Layer:
        """All heads of the real model's layer, or four untrained ones."""
        if self.own:
            return self.own.layer_of_all()
        return draw_layer(self.words, D_MODEL, UNTRAINED, D_MODEL // UNTRAINED, "full", read_seed())

    def of_known(self) -> "Reading":
        """The same page's reading of words that the small head knows."""
        return self if self.is_small else Reading(self.known, None, True)

    def explain_known(self) -> None:
        """Say what a card reads that needs other words than the reader's."""
        if not self.is_small:
            sentence = " ".join(self.known)
            st.caption(
                _("This takes words that the small head knows: *{sentence}*.", sentence=sentence)
            )

    @property
    def opening_word(self) -> int:
        """The word that is followed at first: the running sentence's verb, or what tells most."""
        return self.own.telling_word if self.own else controls.followed_word.default

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


def choose_reading(
    sentence: Sentence, has_all_heads: bool = False, is_trained: bool = True
) -> Reading:
    """Choose who reads the sentence; where it is not the small head, one line says who, and why.

    A page that `has_all_heads` shows those of a layer. Where a page is asked for weights that are
    not trained, no model is needed.
    """
    words = drop_end_marks(sentence.tokens)
    unknown = find_unknown_words(words)
    wants_model = is_trained and (bool(unknown) or controls.reader.read() == REAL)
    own = obtain_own_words(sentence) if wants_model else None
    if own or unknown:
        st.markdown(_say_who_reads(own, unknown, has_all_heads, wants_model))
    return Reading(words, own, not unknown, wants_model)


def drop_end_marks(tokens: Tokens) -> Tokens:
    """Without the marks that end a sentence: the small head learned none, and needs none."""
    count = len(tokens)
    while count > 1 and not is_word(tokens[count - 1]):
        count -= 1
    return tokens[:count]


def _say_who_reads(
    own: OwnWords | None, unknown: Sequence[str], has_all_heads: bool, wants_model: bool
) -> str:
    lacks = _(
        "The small head never learned {unknown}.", unknown=_list_few([*filter(is_word, unknown)])
    )
    if not own:
        if wants_model and is_model_near():
            reads = _("**Untrained weights read your words** until a real model is loaded.")
        else:
            reads = _("**Untrained weights read your words:** these numbers are random.")
        return f"{reads} {lacks}"
    reads = _(
        "**A real model reads your words:** {part} of {model}.",
        part=own.name_part(has_all_heads),
        model=own.model,
    )
    marks = _("*[CLS]* and *[SEP]* mark the start and the end; what finds nothing looks there.")
    return " ".join([reads, *([lacks] if unknown else []), marks])


def _list_few(words: Sequence[str]) -> str:
    more = ["…"] if len(words) > MOST_NAMED else []
    return ", ".join([*map(verbatim, words[:MOST_NAMED]), *more])


def show_question(text: Prose, reading: Reading) -> None:
    """The question of a page; one that is about a word of the running sentence has another form."""
    if reading.is_small or is_lecture():
        text("question")
    else:
        text("question_own", word=verbatim(reading.tokens[reading.opening_word]))


def show_reader(reading: Reading, has_all_heads: bool = False) -> None:
    """Below a picture: how well its head reads, what it left out, and who else could read."""
    with screen("rest", "reader"):
        if reading.own:
            st.markdown(" ".join(_describe_reading(reading.own, has_all_heads)))
        with st.container(horizontal=True):
            if not reading.is_known:
                offer_nearest_sentence(reading.words)
            elif reading.own:
                back = _("Let the small head read it")
                offer_choice(back, ":material/undo:", controls.reader, SMALL)
            else:
                label = _("Let a real model read it")
                offer_choice(label, ":material/psychology:", controls.reader, REAL)
        if reading.wants_model and not reading.own:
            obtain_model(name_model(), JOB)  # drawn again once it has come


def _describe_reading(own: OwnWords, has_all_heads: bool) -> list[str]:
    finds = _(
        "This head finds objects: in {score} of English test sentences a verb looks most at its "
        "object. Always looking the same number of words ahead finds it in {distance}.",
        score=write_percent(own.score),
        distance=write_percent(own.by_distance),
    )
    said = [
        *([] if has_all_heads else [finds]),
        _(
            "The last of a word's {width} numbers is a 1: the model's biases stand in the last "
            "row of each matrix.",
            width=own.x.shape[-1],
        ),
    ]
    if own.left_out:
        said.append(_("The last {count} tokens have no room here.", count=own.left_out))
    if own.is_in_pieces:
        pieces = _(
            "{model} has read English above all: it cuts these {words} words into {pieces} tokens, "
            "and lines between parts of words may mean little.",
            model=own.model,
            words=len(own.words),
            pieces=own.num_tokens,
        )
        said.append(pieces)
    return said


def name_model() -> str:
    """The model that reads all words."""
    from explainers.models.registry import WHEEL_MODELS  # the first paint needs no models

    return next(one.id for one in WHEEL_MODELS if one.kind == "bidirectional")


def is_model_near() -> bool:
    """Does it lie on this machine?"""
    from explainers.models.load import is_on_disk

    return is_on_disk(name_model())


def obtain_own_words(sentence: Sentence) -> OwnWords | None:
    """What the real model makes of a sentence; None as long as it is not in memory."""
    from explainers.models.load import find_loaded_model

    loaded = find_loaded_model(name_model()) if is_model_near() else None
    return read_with(loaded, sentence) if loaded else None


def read_with(loaded: "RealModel", sentence: Sentence) -> OwnWords | None:
    """The sentence in the head that finds nouns best; None if its scores are not known."""
    from explainers.chapters.common.recording import describe_live_run
    from explainers.models.head_roles import find_relation_heads
    from explainers.models.shipped_scores import find_known_scores

    scores = find_known_scores(loaded.name)
    if not scores:  # other weights than were measured
        return None
    best = next(one for one in find_relation_heads(scores) if one.relation == RELATION)
    read = _read(loaded.name, id(loaded), sentence.text, best.layer_index, best.head_index, loaded)
    return OwnWords(
        *read,
        describe_live_run(loaded),
        loaded.name.split("/")[-1],
        sentence.tokens,
        best.score,
        best.offset_score,
    )


# A page runs at every choice, and its sentence is the same one.
@st.cache_resource(show_spinner=False, max_entries=12)
def _read(
    name: str, which: int, sentence: str, layer: int, head: int, _loaded: "RealModel"
) -> tuple[Tokens, Tensor, MultiHead, int, int, tuple[int, ...], int]:
    """What goes into one head; `which` tells a model from another of the same `name`."""
    from explainers.chapters.common.recording import cut_text
    from explainers.models.attention_hook import run_model
    from explainers.models.borrowed_model import make_inputs
    from explainers.models.projections import append_one, read_heads

    beginning, _left_out = cut_text(_loaded, sentence, MOST_TOKENS)
    whole, encoded = (
        _loaded.tokenizer(text, return_special_tokens_mask=True) for text in (sentence, beginning)
    )
    ids = torch.tensor([encoded["input_ids"]], device=_loaded.model.device)
    spans = encoded.encodings[0].offsets
    tokens = tuple(
        f"{GOES_ON if token.startswith(PIECE) else ''}{beginning[start:stop]}" or token
        for token, (start, stop) in zip(encoded.tokens(), spans, strict=True)
    )
    is_own = encoded["special_tokens_mask"]
    own_positions = tuple(position for position, own in enumerate(is_own) if own)
    given = make_inputs(_loaded.model, ids)
    run = run_model(_loaded.model, record=_forget, output_hidden_states=True, **given)
    x = append_one(run.output.hidden_states[layer][0].float())
    count = len(whole["input_ids"]) - sum(whole["special_tokens_mask"])
    return tokens, x, read_heads(_loaded.model, layer), layer, head, own_positions, count


def _forget(_recorded: object) -> None:
    """What goes into the layer is enough: our head computes the rest."""


def choose_head(heads: MultiHead, number: int) -> MultiHead:
    """One of the heads by itself."""
    size = heads.head_dim
    own = slice(number * size, (number + 1) * size)
    w_query, w_key, w_value = (one[:, own] for one in (heads.w_query, heads.w_key, heads.w_value))
    return MultiHead(w_query, w_key, w_value, heads.w_output[own], size)
