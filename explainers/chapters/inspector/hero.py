"""The hero of the inspector: all heads of a model as squares, and the arcs of one of them."""

from base64 import b64encode
from collections.abc import Sequence
from typing import NamedTuple

import streamlit as st
import torch
from torch import Tensor

from explainers.attention.multi_head import multi_head
from explainers.chapters.common.choose_layer import name_layer_origin
from explainers.chapters.common.recording import (
    Recording,
    average_weight_on_key,
    pack_weights,
    tabulate_strongest_keys,
)
from explainers.models.head_scores import SINK_THRESHOLD
from explainers.toys.layers import D_MODEL, Configuration, load_layer
from explainers.toys.sentence import PRESETS, SENTENCE
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.controls.control import Control
from explainers.ui.figure.hero import Experiment, Hero, HeroChoice, begin_again
from explainers.ui.page import Prose
from explainers.ui.session import INSPECTED
from explainers.ui.text.numbers import write_percent
from explainers.ui.untrusted_text import shorten

SENTENCES = (
    *("hero_caption", "hero_seen", "hero_first", "hero_alone"),
    *("hero_dimmed", "hero_dimmed_alone", "hero_toy"),
)
MOST_DRAWN = 24
"""Tokens of the picture: the squares of a longer text would be grey, and its words too small."""
MOST_TELLING, NEAR = 24, 2
"""Heads that are offered one after the other; a token nearer than this is nothing to tell."""
LONGEST_NAME = 40
REPEATED = "a repeated word"
FOLLOWED = controls.model_layer, controls.model_head, controls.queried_token
TOY_HEADS = Configuration(8, 8, D_MODEL // 8, "full")


class Heads(NamedTuple):
    """What the picture shows: weights (layers, heads, tokens, tokens), and what may be seen."""

    name: str
    origin: str
    tokens: tuple[str, ...]
    weights: Tensor
    hidden: Tensor
    group_size: int
    is_toy: bool = False
    is_shipped: bool = False

    @property
    def shape(self) -> tuple[int, int]:
        """(layers, heads)"""
        return self.weights.shape[0], self.weights.shape[1]

    @property
    def is_causal(self) -> bool:
        """Is no later token seen in any layer?"""
        return not bool((~self.hidden).triu(1).any())


def cut_heads(seen: Recording) -> Heads:
    """The heads of a model on the first tokens of a text."""
    few = slice(MOST_DRAWN)
    weights = seen.weights[..., few, few]
    hidden = ~seen.masks[:, None, few, few].expand_as(weights)
    return Heads(
        shorten_name(seen.name), seen.origin, seen.tokens[few], weights, hidden, seen.group_size
    )


def shorten_name(name: str) -> str:
    """A model's name without its owner or its folder."""
    return shorten(name.rstrip("/").split("/")[-1], LONGEST_NAME)


def load_toy_heads(missing: str) -> Heads:
    """Small heads that were trained for this app: they stand in for a model that is missing."""
    layer = load_layer(tuple(SENTENCE.split()), TOY_HEADS, 0)
    weights = multi_head(layer.x, layer.heads, layer.mask).weights[None]
    hidden = torch.zeros_like(weights, dtype=torch.bool)
    name = shorten_name(missing)
    return Heads(name, name_layer_origin(layer), layer.tokens, weights, hidden, 1, is_toy=True)


def make_hero(text: Prose, heads: Heads, sentence: str, model: str) -> Hero:
    """All heads as squares; the head, the token and the model that are chosen."""
    if not heads.is_toy:
        begin_again(INSPECTED, (heads.name, heads.tokens), *FOLLOWED)
    telling = find_telling_heads(heads)
    choose = _stand_in if heads.is_toy else HeroChoice.read
    sizes = (*heads.shape, len(heads.tokens))
    choices = [
        *(
            choose(one, range(n), opening=at)
            for one, n, at in zip(FOLLOWED, sizes, telling[0], strict=True)
        ),
        HeroChoice.read(controls.dim_first_token, (False, True)),
        HeroChoice(controls.sentence, (), sentence, is_elsewhere=True),
        HeroChoice(controls.real_model, (model,), model, is_elsewhere=True),
    ]
    is_run = not (heads.is_toy or heads.is_shipped)
    return _make_mosaic(heads, telling, choices, list_experiments(text, heads) if is_run else [])


def make_still_hero(heads: Heads) -> Hero:
    """All heads of another model, at the one that tells most; its choices are nobody else's."""
    telling = find_telling_heads(heads)
    choices = [HeroChoice(one, (), at) for one, at in zip(FOLLOWED, telling[0], strict=True)]
    choices.append(HeroChoice(controls.dim_first_token, (), value=False))
    return _make_mosaic(heads, telling, choices)


def _make_mosaic(
    heads: Heads,
    telling: list[tuple[int, int, int]],
    choices: Sequence[HeroChoice],
    experiments: Sequence[Experiment] = (),
) -> Hero:
    layers, count = heads.shape
    planes = pack_weights(heads.weights.flatten(0, 1), heads.hidden.flatten(0, 1))
    numbers = {
        "model": heads.name,
        "isToy": heads.is_toy,
        "tokens": [token.strip() or "␣" for token in heads.tokens],
        "layers": layers,
        "heads": count,
        "group": heads.group_size,
        "planes": b64encode(planes).decode(),
        "parked": int((average_weight_on_key(heads.weights, 0) > SINK_THRESHOLD).sum()),
        "onFirst": measure_first_share(heads),
        "telling": [list(one) for one in telling],
    }
    return Hero(
        "mosaic",
        _("The weights of all heads as small squares, and the arcs of one head."),
        numbers,
        choices,
        SENTENCES,
        experiments,
        heads.origin,
        lambda: tabulate_strongest_keys(heads.weights, range(layers), heads.tokens),
    )


def _stand_in(control: Control, values: Sequence[int], opening: int) -> HeroChoice:
    """Among a few small heads; what a link asks of the model that they stand in for stays there."""
    asked = st.session_state.get(control.key)
    return HeroChoice(control, values, asked if asked in values else opening)


def find_telling_heads(heads: Heads) -> list[tuple[int, int, int]]:
    """Layer, head and query of the largest weights between tokens that are not neighbours.

    The first token is left aside, and the last one where all tokens are seen: they are attention
    sinks. Each head has one place in the list.
    """
    size = len(heads.tokens)
    places = torch.arange(size)
    is_far = (places[:, None] - places).abs() >= NEAR
    is_far[:, 0] = False
    if not heads.is_causal and not heads.is_toy:
        is_far[:, -1] = is_far[-1] = False
    weights = heads.weights.cpu().masked_fill(~is_far | heads.hidden.cpu(), 0).flatten(2)
    best = weights.max(dim=-1)
    order = best.values.flatten().argsort(descending=True, stable=True)[:MOST_TELLING].tolist()
    queries = best.indices.flatten() // size
    if not best.values.any():
        return [(0, 0, size - 1)]
    return [(*divmod(place, heads.shape[1]), int(queries[place])) for place in order]


def measure_first_share(heads: Heads) -> float:
    """The first token's share of all weight, the mean over all rows of all heads."""
    return round(heads.weights[..., 0].mean().item(), 4)


def list_experiments(text: Prose, heads: Heads) -> list[Experiment]:
    """What a reader can try: another sentence, without the first token, another kind of model."""
    from explainers.models.load import is_on_disk  # the first paint needs no models
    from explainers.models.registry import WHEEL_MODELS

    tries = [
        Experiment(
            "sentence", text.fill("try_sentence"), {controls.sentence.key: PRESETS[REPEATED]}
        ),
        Experiment(
            "past_first",
            text.fill("try_past", share=write_percent(measure_first_share(heads))),
            {controls.dim_first_token.key: True},
        ),
    ]
    kind = "bidirectional" if heads.is_causal else "causal"
    others = (one.id for one in WHEEL_MODELS if one.kind == kind and is_on_disk(one.id))
    if other := next(others, None):
        section = "try_both_ways" if heads.is_causal else "try_one_way"
        # of all weight, what queries give to tokens after them: the mean over all rows
        later = write_percent(heads.weights.triu(1).sum(dim=-1).mean().item())
        told = text.fill(section, other=shorten_name(other), this=heads.name, later=later)
        choices = {controls.real_model.key: other}
        tries.append(Experiment("other_model", told, choices, is_slow=True))
    return tries
