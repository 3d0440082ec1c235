"""The reader's own sentence, whatever its words: a head of a real model reads it at once."""

from typing import TYPE_CHECKING, NamedTuple

import streamlit as st
import torch
from torch import Tensor

from explainers.attention import masks
from explainers.attention.scaled_dot_product import Attention, attention
from explainers.chapters.common.choose_real_model import obtain_model
from explainers.chapters.common.unknown_words import find_unknown_words
from explainers.toys.layers import Tokens
from explainers.toys.sentence import Sentence, is_word
from explainers.ui.text.numbers import write_percent
from explainers.ui.untrusted_text import verbatim

if TYPE_CHECKING:
    from explainers.models.load import RealModel

RELATION = "determiner → noun"
"""The head is the one that finds this best in sentences by which it was chosen."""
MOST_TOKENS = 16
"""Of a longer text the picture has the beginning: more words in one line cannot be read."""
MOST_NAMED = 2
"""Of the words that the small head lacks."""
JOB = "own words"
PIECE, GOES_ON = "##", "…"
"""Before a token that goes on with a word: how the model writes it, and how we do."""
MANY_PIECES = 1.5
"""Tokens for each word: of English few words are cut."""


class OwnWords(NamedTuple):
    """A sentence in one head of a real model: x (tokens, d_model), the rest (tokens, d_k)."""

    tokens: Tokens
    x: Tensor
    query: Tensor
    key: Tensor
    value: Tensor
    own_positions: tuple[int, ...]
    """Of tokens that are the model's own: what looks at them has found nothing."""
    num_tokens: int
    """Of the whole text, without the model's own."""
    origin: str
    model: str
    head: str
    words: Tokens
    """Its words, before the model cut them into tokens."""
    score: float
    """How often the head finds the noun of a determiner in sentences by which it was not chosen."""
    by_distance: float
    """How often the best fixed distance finds it there."""

    def build_mask(self, rule: str) -> Tensor:
        """Which token may attend to which."""
        count = len(self.tokens)
        return masks.build(masks.RULES[rule], count, count).to(self.query.device)

    def attend(self, rule: str) -> Attention:
        """What our function makes of it under a mask."""
        return attention(self.query, self.key, self.value, self.build_mask(rule))

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

    def describe(self) -> dict[str, str]:
        """Which words the small head lacks, and what the other one was chosen for."""
        unknown = [verbatim(word) for word in find_unknown_words(self.words) if is_word(word)]
        more = ["…"] if len(unknown) > MOST_NAMED else []
        return {
            "model": self.model,
            "unknown": ", ".join([*unknown[:MOST_NAMED], *more]),
            "head": self.head,
            "score": write_percent(self.score),
            "distance": write_percent(self.by_distance),
            "words": f"{len(self.words)}",
            "pieces": f"{self.num_tokens}",
            "left_out": f"{self.left_out}",
        }

    def find_telling_word(self) -> int:
        """The word that gives most to another one, which is not the model's own; no mark, where
        there are words."""
        weights = torch.tensor(self.weigh_words()).fill_diagonal_(0)
        weights[:, list(self.own_positions)] = weights[list(self.own_positions)] = 0
        marks = [place for place, token in enumerate(self.tokens) if not is_word(token)]
        if len(marks) + len(self.own_positions) < len(self.tokens):
            weights[marks] = 0
        return int(weights.amax(dim=-1).argmax())


def obtain_own_words(sentence: Sentence) -> OwnWords | None:
    """What the real model makes of words that the small head never learned.

    None: it knows all of them, or the model is not on this machine, or it is being loaded.
    """
    if not find_unknown_words(sentence.tokens):
        return None
    from explainers.models.load import is_on_disk  # the first paint needs no models
    from explainers.models.registry import WHEEL_MODELS

    named = next(one.id for one in WHEEL_MODELS if one.kind == "bidirectional")
    loaded = obtain_model(named, JOB) if is_on_disk(named) else None
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
    layer, head = best.layer_index, best.head_index
    read = _read(loaded.name, id(loaded), sentence.text, layer, head, loaded)
    names = loaded.name.split("/")[-1], f"L{layer}.H{head}"
    scores_of_head = best.score, best.offset_score
    return OwnWords(*read, describe_live_run(loaded), *names, sentence.tokens, *scores_of_head)


# A page runs at every choice, and its sentence is the same one.
@st.cache_resource(show_spinner=False, max_entries=12)
def _read(
    name: str, which: int, sentence: str, layer: int, head: int, _loaded: "RealModel"
) -> tuple[Tokens, Tensor, Tensor, Tensor, Tensor, tuple[int, ...], int]:
    """What goes into one head; `which` tells a model from another of the same `name`."""
    from explainers.chapters.common.recording import cut_text
    from explainers.models.attention_hook import run_model
    from explainers.models.borrowed_model import make_inputs

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
    run = run_model(_loaded.model, output_hidden_states=True, **given)
    seen = next(one for one in run.layers if one.layer_index == layer)
    into = (tensor[0, head].float() for tensor in (seen.query, seen.key, seen.value))
    count = len(whole["input_ids"]) - sum(whole["special_tokens_mask"])
    return tokens, run.output.hidden_states[layer][0].float(), *into, own_positions, count
