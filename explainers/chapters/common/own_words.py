"""A reader's own sentence, whatever its words, in a layer of a real model."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import streamlit as st
import torch
from torch import Tensor, nn

from explainers.attention.layer import MultiHead
from explainers.attention.scaled_dot_product import Attention
from explainers.attention.single_head import single_head
from explainers.chapters.common.choose_real_model import BY_MODEL
from explainers.toys.examples import random_heads
from explainers.toys.layers import Layer, Tokens, build_mask
from explainers.toys.sentence import MOST_DRAWN, Sentence, is_word, split_words
from explainers.translations import _

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

    def weigh_words(self) -> list[list[float]]:
        """How each word divides its attention over all words, without a mask."""
        weights: list[list[float]] = self.attend("full").weights.tolist()
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


def read_with(loaded: "RealModel", sentence: Sentence) -> OwnWords | None:
    """The sentence in the head that finds objects best; None if its scores are not known."""
    from explainers.chapters.common.recording import describe_live_run
    from explainers.models.head_scores import find_relation_heads
    from explainers.models.shipped_measurements import find_known_scores

    scores = find_known_scores(loaded.name)
    if not scores:  # other weights than were measured
        return None
    best = next(one for one in find_relation_heads(scores) if one.relation == RELATION)
    read = _read(loaded, sentence.text, best.layer_index, best.head_index)
    return OwnWords(
        *read,
        describe_live_run(loaded),
        loaded.name.split("/")[-1],
        sentence.tokens,
        best.score,
        best.offset_score,
    )


# A page runs at every choice, and its sentence is the same one.
@st.cache_resource(show_spinner=False, max_entries=12, hash_funcs=BY_MODEL)
def _read(
    loaded: "RealModel", sentence: str, layer: int, head: int
) -> tuple[Tokens, Tensor, MultiHead, int, int, tuple[int, ...], int]:
    """What goes into one head."""
    tokens, own_positions, count, read = run_beginning(loaded, sentence, layer)
    heads = read_heads(loaded.model, layer)
    return tokens, append_one(read), heads, layer, head, own_positions, count


def run_beginning(
    loaded: "RealModel", sentence: str, layer: int, most: int = MOST_TOKENS
) -> tuple[Tokens, tuple[int, ...], int, Tensor]:
    """As much as is drawn: its tokens, the model's own ones among them, how many the whole text
    has without these, and what a layer reads (tokens, d_model)."""
    from explainers.chapters.common.recording import cut_text
    from explainers.models.attention_hook import run_model
    from explainers.models.borrowed_model import make_inputs

    beginning, _left_out = cut_text(loaded, sentence, most)
    whole, encoded = (
        loaded.tokenizer(text, return_special_tokens_mask=True) for text in (sentence, beginning)
    )
    ids = torch.tensor([encoded["input_ids"]], device=loaded.model.device)
    spans = zip(encoded.tokens(), encoded.encodings[0].offsets, strict=True)
    tokens = tuple(_name_token(beginning, token, *span) for token, span in spans)
    is_own = encoded["special_tokens_mask"]
    own_positions = tuple(position for position, own in enumerate(is_own) if own)
    given = make_inputs(loaded.model, ids)
    # What goes into the layer is enough: our head computes the rest.
    run = run_model(loaded.model, record=lambda _: None, output_hidden_states=True, **given)
    count = len(whole["input_ids"]) - sum(whole["special_tokens_mask"])
    return tokens, own_positions, count, run.output.hidden_states[layer][0].float()


def _name_token(text: str, token: str, start: int, stop: int) -> str:
    """Its part of the text, marked where it goes on with a word.

    Models that do not mark it themselves write the space in front into a token.
    """
    part = text[start:stop]
    goes_on = token.startswith(PIECE) or (text[start - 1 : start + 1].isalnum() and start > 0)
    return f"{GOES_ON if goes_on else ''}{part.strip()}" or token


def choose_head(heads: MultiHead, number: int) -> MultiHead:
    """One of the heads by itself."""
    size = heads.head_dim
    own = slice(number * size, (number + 1) * size)
    w_query, w_key, w_value = (one[:, own] for one in (heads.w_query, heads.w_key, heads.w_value))
    return MultiHead(w_query, w_key, w_value, heads.w_output[own], size)


def read_heads(model: Any, layer_index: int) -> MultiHead:
    """All heads of a layer of a model built like BERT, from 0.

    A bias is one more row of its matrix, which a 1 at the end of each word's numbers reads (see
    `append_one`): x · W + b = [x, 1] · [W; b]. W_O writes nothing where the 1 stands, and its
    bias, which belongs to no head, is left out.
    """
    block = model.encoder.layer[layer_index].attention
    w_query, w_key, w_value = (
        _join_bias(getattr(block.self, name)) for name in ("query", "key", "value")
    )  # (d_model + 1, heads · head_dim) each
    w_output = nn.functional.pad(block.output.dense.weight.T, (0, 1)).detach().float()
    return MultiHead(w_query, w_key, w_value, w_output, block.self.attention_head_size)


def pair_neighbours(weight: Any, size: int) -> Tensor:
    """W_Q or W_K of a Llama, transposed, with heads of this size (d_model, heads · size).

    Its code rotates numbers 0 and 32 as a pair, ours neighbours: both matrices are reordered alike.
    """
    order = torch.arange(size).view(2, -1).T.flatten()
    return weight.unflatten(0, (-1, size))[:, order].flatten(0, 1).T.detach().float()


def append_one(x: Tensor) -> Tensor:
    """Each word's numbers with a 1 at their end (..., d_model + 1), for the row of the biases."""
    return nn.functional.pad(x, (0, 1), value=1.0)


def _join_bias(linear: nn.Linear) -> Tensor:
    return torch.cat([linear.weight.T, linear.bias[None]]).detach().float()
