"""The reader's own sentence, whatever its words: a head of a real model reads it at once."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import streamlit as st
import torch
from torch import Tensor

from explainers.attention import masks
from explainers.attention.scaled_dot_product import Attention, attention
from explainers.chapters.common.choose_real_model import obtain_model
from explainers.chapters.common.reader_sentence import list_unknown_words
from explainers.toys.layers import Tokens
from explainers.toys.sentence import Sentence
from explainers.ui.figure.hero import round_numbers
from explainers.ui.text.numbers import write_percent

if TYPE_CHECKING:
    from explainers.models.load import RealModel

RELATION = "determiner → noun"
"""The head is the one that finds this best in sentences by which it was chosen."""
MOST_TOKENS = 16
"""Of a longer text the picture has the beginning: more words in one line cannot be read."""
PLACE = "own words"
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
    ends: tuple[int, ...]
    """Places of tokens that are the model's own: what looks at them has found nothing."""
    origin: str
    head: str
    words: Tokens
    """Its words, before the model cut them into tokens."""
    score: float
    """How often the head finds the noun of a determiner in sentences by which it was not chosen."""
    by_distance: float
    """How often the best fixed distance finds it there."""

    def attend(self, rule: str) -> Attention:
        """What our function makes of it under a mask."""
        count = len(self.tokens)
        mask = masks.build(masks.RULES[rule], count, count).to(self.query.device)
        return attention(self.query, self.key, self.value, mask)

    def weigh_words(self, rule: str = "full") -> list[list[float]]:
        """How each word divides its attention over all words."""
        weights: list[list[float]] = self.attend(rule).weights.tolist()
        return weights

    def compute_numbers(self, rules: Sequence[str]) -> dict[str, Any]:
        """All that the picture shows, under each mask; there is no film of this training."""
        count = len(self.tokens)
        shown = {}
        for rule in rules:
            found = self.attend(rule)
            shown[rule] = {
                "allowed": masks.build(masks.RULES[rule], count, count).tolist(),
                "weights": round_numbers(found.weights, 8),
                "output": round_numbers(found.output),
                "film": [],
            }
        vectors = {"x": self.x, "query": self.query, "key": self.key, "value": self.value}
        return {
            "tokens": list(self.tokens),
            **{name: round_numbers(vector) for name, vector in vectors.items()},
            "scores": round_numbers(self.attend("full").scores),
            "masks": shown,
            "batches": [],
            "losses": [],
            "ends": list(self.ends),
        }

    @property
    def is_in_pieces(self) -> bool:
        """Are most of its words cut? The model has hardly read their language."""
        return len(self.tokens) - len(self.ends) > MANY_PIECES * len(self.words)

    def describe(self) -> dict[str, str]:
        """Which words the small head lacks, and what the other one was chosen for."""
        return {
            "unknown": self._name_unknown(),
            "head": self.head,
            "score": write_percent(self.score),
            "distance": write_percent(self.by_distance),
            "words": f"{len(self.words)}",
            "pieces": f"{len(self.tokens) - len(self.ends)}",
        }

    def _name_unknown(self) -> str:
        """The first words that are new to the small head."""
        first, *others = list_unknown_words(self.words).split(", ")
        return f"{first}, {others[0]}, …" if len(others) > 1 else ", ".join([first, *others])

    def find_telling_word(self) -> int:
        """The word that gives most to another one, which is not the model's own."""
        weights = torch.tensor(self.weigh_words()).fill_diagonal_(0)
        weights[:, list(self.ends)] = weights[list(self.ends)] = 0
        return int(weights.amax(dim=-1).argmax())


def obtain_own_words(sentence: Sentence) -> OwnWords | None:
    """What the real model makes of words that the small head never learned.

    None: it knows all of them, or the model is not on this machine, or it is being loaded.
    """
    if not list_unknown_words(sentence.tokens):
        return None
    from explainers.models.load import is_on_disk  # the first paint needs no models
    from explainers.models.registry import WHEEL_MODELS

    named = next(one.id for one in WHEEL_MODELS if one.kind == "bidirectional")
    loaded = obtain_model(named, PLACE) if is_on_disk(named) else None
    return read_with(loaded, sentence) if loaded else None


def read_with(loaded: "RealModel", sentence: Sentence) -> OwnWords | None:
    """The sentence in the head that finds nouns best; None if its scores are not known."""
    from explainers.models.head_roles import find_relation_heads
    from explainers.models.shipped_scores import find_known_scores

    scores = find_known_scores(loaded.name)
    if not scores:  # other weights than were measured
        return None
    best = next(one for one in find_relation_heads(scores) if one.relation == RELATION)
    layer, head = best.layer_index, best.head_index
    read = _read(loaded.name, id(loaded), sentence.text, layer, head, loaded)
    return OwnWords(*read, f"L{layer}.H{head}", sentence.tokens, best.score, best.offset_score)


# A page runs at every choice, and its sentence is the same one.
@st.cache_resource(show_spinner=False, max_entries=12)
def _read(
    name: str, which: int, sentence: str, layer: int, head: int, _loaded: "RealModel"
) -> tuple[Tokens, Tensor, Tensor, Tensor, Tensor, tuple[int, ...], str]:
    """What goes into one head; `which` tells a model from another of the same `name`."""
    from explainers.chapters.common.real_head_takeaway import record_layer
    from explainers.chapters.common.recording import cut_text, describe_live_run
    from explainers.models.borrowed_model import make_inputs

    beginning, _left_out = cut_text(_loaded, sentence, MOST_TOKENS)
    encoded = _loaded.tokenizer(beginning, return_special_tokens_mask=True)
    ids = torch.tensor([encoded["input_ids"]], device=_loaded.model.device)
    spans = encoded.encodings[0].offsets
    tokens = tuple(
        f"{GOES_ON if token.startswith(PIECE) else ''}{beginning[start:stop]}" or token
        for token, (start, stop) in zip(encoded.tokens(), spans, strict=True)
    )
    ends = tuple(n for n, own in enumerate(encoded["special_tokens_mask"]) if own)
    with torch.no_grad():
        run = _loaded.model(**make_inputs(_loaded.model, ids), output_hidden_states=True)
    seen = record_layer(_loaded, layer, ids)
    into = (tensor[0, head].float() for tensor in (seen.query, seen.key, seen.value))
    return (tokens, run.hidden_states[layer][0].float(), *into, ends, describe_live_run(_loaded))
