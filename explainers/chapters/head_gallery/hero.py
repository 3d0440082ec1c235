"""The hero of the head gallery: all heads by name, one with its scores and its arcs on a text."""

import base64
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import streamlit as st
from torch import Tensor

from explainers.chapters.common.measured_heads import Gallery, name_head
from explainers.messages import N_
from explainers.models.head_scores import (
    ROLES,
    EarnedRole,
    HeadScores,
    Role,
    find_relation_heads,
    find_roles,
)
from explainers.models.registry import WHEEL_MODELS
from explainers.models.shipped_measurements import LEVELS, Example, read_shipped_scores
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.controls.number_controls import Counter
from explainers.ui.figure.chart import tabulate
from explainers.ui.figure.hero import Experiment, Hero, HeroChoice
from explainers.ui.page import Prose
from explainers.ui.text.numbers import write_percent

INDUCTION, PREVIOUS, SINK = "induction", "previous token", "sink"
GRAMMAR_MODEL, RELATION = WHEEL_MODELS[1].id, "determiner → noun"
DETERMINER = "the"
"""Of the example, the last one: a head looks for its noun."""
EVERY, NAMELESS = controls.head_name.default, N_("no name")
EXPERIMENTS = {INDUCTION: "try_induction", PREVIOUS: "try_previous"}
NAMES = (*(role.name for role in ROLES if role.name != SINK), SINK)
"""The sink stands last: most heads have that name, so any other one says more of a head."""
BY_NAME = {role.name: role for role in sorted(ROLES, key=lambda role: NAMES.index(role.name))}
READ = {"repeated": N_("random"), "natural": N_("prose")}
"""What a score was measured on, as briefly as beside a bar."""
MOST = 256
"""Of layers, heads and words of any model: a reset names those of the model that was left."""
WORDS = (
    *(N_("determiner"), N_("adjective"), N_("noun"), N_("its noun")),
    *(N_("preposition"), N_("verb"), N_("subject"), N_("object")),
)
"""What relations are made of."""
CLEARLY = 0.1
"""A head that beats the best fixed distance by less than this is called as good as it."""
SENTENCES = (
    *("hero_caption", "hero_named", "hero_sink", "hero_other", "hero_nameless"),
    *("hero_nobody", "hero_relation"),
)

Place = tuple[int, int]

gallery_layer = Counter("gallery_layer", N_("Layer, from 0"), None)
gallery_head = Counter("gallery_head", N_("Head, from 0"), None)
gallery_word = Counter("gallery_word", N_("Word to follow, from 0"), None)
"""Without a default: what is shown at first depends on the model."""
controls.register(gallery_layer, gallery_head, gallery_word)
OLD_NAMES = {controls.model_layer.key: gallery_layer.key, controls.model_head.key: gallery_head.key}
"""Links once named the head as those of the inspector do."""


def make_hero(text: Prose, gallery: Gallery, named: str) -> Hero:
    """All heads of a model by name.

    The reader's model, `named`, stays chosen where the gallery is that of another.
    """
    scores, (layers, heads) = gallery.scores, gallery.scores.shape
    opens = find_best_head(scores, INDUCTION)
    for old, new in OLD_NAMES.items():
        if old in st.query_params and new not in st.query_params:
            st.query_params[new] = st.query_params[old]
            del st.query_params[old]
    layer_control = replace(gallery_layer, default=opens[0])
    head_control = replace(gallery_head, default=opens[1])
    offered = [EVERY, *NAMES, NAMELESS]
    shipped = read_shipped_scores(gallery.name)
    example = shipped.example if shipped else None
    word = replace(gallery_word, default=example.first_repeated if example else 0)
    words = range(len(example.tokens)) if example else range(1)
    chosen = [
        HeroChoice(control, accepted, control.resolve_among(values), fitting=values)
        for control, values, accepted in (
            (layer_control, range(layers), range(MOST)),
            (head_control, range(heads), range(MOST)),
            (controls.head_name, offered, offered),
            (word, words, range(MOST)),
        )
    ]
    model = HeroChoice(controls.real_model, (), named, is_elsewhere=True)
    numbers = compute_numbers(gallery.name, scores, example)
    return Hero(
        "gallery",
        _("A square for every head of a model, coloured by its name; and one head's scores."),
        numbers,
        [*chosen, model],
        SENTENCES,
        list_experiments(text, scores),
        gallery.origin,
        lambda: make_table(scores),
    )


def find_head(hero: Hero) -> Place:
    """The head that is looked at; as it was drawn, where the model has no such head."""
    layer, head = (
        value if (value := hero.chosen(one.control)) in (one.fitting or ()) else one.value
        for one in hero.choices[:2]
    )
    return layer, head


def compute_numbers(model: str, scores: HeadScores, example: Example | None) -> dict[str, Any]:
    """What the picture shows of each head, layer by layer."""
    layers, heads = scores.shape
    places, roles = list_places(scores), BY_NAME.values()
    return {
        "model": model.split("/")[-1],
        "layers": layers,
        "heads": heads,
        "names": list(BY_NAME),
        "bars": [f"{_(role.name)} · {_(READ[role.probe])}" for role in roles],
        "labels": {name: _(name) for name in (EVERY, *NAMES, NAMELESS)},
        "named": [[NAMES.index(name) for name in list_names(scores, one)] for one in places],
        "scores": [[_round(_select(scores, role)[one]) for role in roles] for one in places],
        "chance": [
            round(scores.find_chance_score(role.probe, role.score_name), 4) for role in roles
        ],
        "needed": [role.threshold for role in roles],
        "relations": [
            {
                "place": one.layer_index * heads + one.head_index,
                "label": " → ".join(_(word) for word in one.relation.split(" → ")),
                "score": round(one.score, 4),
                "chance": round(one.offset_score, 4),
            }
            for one in find_relation_heads(scores)
            if one.score > one.offset_score + CLEARLY
        ],
        "tokens": [token.strip() for token in example.tokens] if example else [],
        "weights": _pack(example.weights) if example else "",
    }


def list_places(scores: HeadScores) -> list[Place]:
    """All heads, layer by layer."""
    layers, heads = scores.shape
    return list(product(range(layers), range(heads)))


def list_names(scores: HeadScores, place: Place) -> list[str]:
    """All names of a head: first the one whose score is farthest above what it needs."""

    def rank(found: EarnedRole) -> tuple[bool, float]:
        bar = max(BY_NAME[found.role].threshold, found.chance_score)
        return found.role == SINK, -(found.score - bar) / (1 - bar)

    return [found.role for found in sorted(find_roles(scores, *place), key=rank)]


def find_best_head(scores: HeadScores, name: str) -> Place:
    """The head with the highest score for this name."""
    return rank_heads(_select(scores, BY_NAME[name]), 1)[0]


def rank_heads(found: Tensor, most: int) -> list[Place]:
    """The heads with the highest scores (layers, heads), the best first."""
    places = found.nan_to_num(-1).flatten().topk(min(most, found.numel())).indices.tolist()
    return [divmod(place, found.shape[1]) for place in places]


def list_experiments(text: Prose, scores: HeadScores) -> list[Experiment]:
    """What a reader can try, each with the numbers that it will show."""
    found = [_show_name(text, scores, name) for name in EXPERIMENTS]
    shipped = read_shipped_scores(GRAMMAR_MODEL)
    if shipped:
        grammar, example = shipped.scores, shipped.example
        [best] = [one for one in find_relation_heads(grammar) if one.relation == RELATION]
        words = [token.strip().casefold() for token in example.tokens]
        word = max(place for place, one in enumerate(words) if one == DETERMINER)
        weights = example.weights[best.layer_index, best.head_index, word]
        told = {
            "model": GRAMMAR_MODEL.split("/")[-1],
            "head": name_head(best.layer_index, best.head_index),
            "word": example.tokens[word],
            "noun": example.tokens[int(weights.argmax())],
            "share": write_percent(weights.max().item()),
            "score": write_percent(best.score),
            "offset": write_percent(best.offset_score),
        }
        choices = {
            controls.real_model.key: GRAMMAR_MODEL,
            controls.head_name.key: EVERY,
            gallery_layer.key: best.layer_index,
            gallery_head.key: best.head_index,
            gallery_word.key: word,
        }
        found.append(Experiment("grammar", text.fill("try_grammar", **told), choices))
    return found


def _show_name(text: Prose, scores: HeadScores, name: str) -> Experiment:
    role, (layer, head) = BY_NAME[name], find_best_head(scores, name)
    named = [place for place in list_places(scores) if name in list_names(scores, place)]
    named_layers = {one for one, _head in named}
    told = {
        "count": len(named),
        "head": name_head(layer, head),
        "score": f"{_select(scores, role)[layer, head]:.2f}",
        "chance": f"{scores.find_chance_score(role.probe, role.score_name):.2f}",
        "first": min(named_layers, default=layer),
        "last": max(named_layers, default=layer),
    }
    choices = {controls.head_name.key: name, gallery_layer.key: layer, gallery_head.key: head}
    section = EXPERIMENTS[name]
    return Experiment(section.removeprefix("try_"), text.fill(section, **told), choices)


def make_table(scores: HeadScores) -> Any:
    """A row for each head: its names, and the scores that they are for."""
    rows = []
    for place in list_places(scores):
        names = ", ".join(_(name) for name in list_names(scores, place))
        values = [float(_select(scores, role)[place]) for role in BY_NAME.values()]
        rows.append([name_head(*place), names, *values])
    return tabulate(rows, [_("head"), _("names"), *map(_, NAMES)])


def _select(scores: HeadScores, role: Role) -> Tensor:
    return scores.select(role.probe, role.score_name)


def _round(value: Tensor) -> float | None:
    """A head that has no row to be scored on has no score."""
    return None if value.isnan() else round(float(value), 4)


def _pack(weights: Tensor) -> str:
    """Every weight as one byte."""
    levels: Sequence[int] = (weights * LEVELS).round().int().flatten().tolist()
    return base64.b64encode(bytes(levels)).decode()
