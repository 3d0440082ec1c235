"""The hero of this page: three matrices make a query, a key and a value, and the query is used."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from explainers.chapters.common.choose_layer import name_layer_origin
from explainers.chapters.common.one_head import attend
from explainers.messages import N_
from explainers.toys.grammar import find_language
from explainers.toys.layers import Layer, Tokens
from explainers.toys.readable_head import FILM_SEED, load_readable_layer, load_readable_stages
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.figure.hero import (
    Experiment,
    Hero,
    HeroChoice,
    choose_word,
    make_weight_table,
    read_choice,
    round_numbers,
)
from explainers.ui.page import Prose
from explainers.ui.text.numbers import write_decimals, write_percent

LEARNED = {"trained": -1, "untrained": 0}
"""Which stage of the training is shown."""
LEARNED_LABELS = N_("trained"), N_("untrained")
KEY_MATRICES = ("own", "w_q")
KEY_MATRIX_LABELS = N_("its own"), "W_K = W_Q"
SENTENCES = (
    *("hero_caption", "hero_two", "hero_one", "hero_spread", "hero_untrained"),
    *("hero_tied_own", "hero_tied", "hero_cell"),
)
Layers = Mapping[tuple[str, str], Layer]
"""By what is chosen of the weights and of W_K."""


def make_hero(text: Prose, tokens: Tokens) -> Hero:
    """One word's query, key and value, and whom its query finds."""
    layers = make_layers(tokens)
    word = choose_word(len(tokens))
    learned = read_choice(controls.weights, tuple(LEARNED))
    own = read_choice(controls.key_matrix, KEY_MATRICES)
    choices = [
        word,
        HeroChoice(controls.weights, tuple(LEARNED), learned, [*map(_, LEARNED_LABELS)]),
        HeroChoice(controls.key_matrix, KEY_MATRICES, own, [*map(_, KEY_MATRIX_LABELS)]),
    ]
    alt = _(
        "The numbers of a word, its query, key and value, and lines from the query to all keys."
    )
    experiments = list_experiments(text, layers, word.value)
    shown = layers[learned, own]
    return Hero(
        "views",
        alt,
        compute_numbers(layers),
        choices,
        SENTENCES,
        experiments,
        name_layer_origin(shown),
        lambda: make_weight_table(tokens, attend(shown)[1].weights.tolist()),
    )


def make_layers(tokens: Tokens) -> Layers:
    """The readable head, trained and untrained, with its own W_K and with W_Q in its place."""
    trained = load_readable_layer(tokens, "full", FILM_SEED)
    layers: dict[tuple[str, str], Layer] = {}
    for learned, layer in {"trained": trained, "untrained": _undo_training(trained)}.items():
        tied = replace(layer, heads=replace(layer.heads, w_key=layer.heads.w_query))
        layers |= {(learned, "own"): layer, (learned, "w_q"): tied}
    return layers


def _undo_training(layer: Layer) -> Layer:
    """The same words read by the same head before its first batch."""
    stages = load_readable_stages(FILM_SEED, find_language(layer.tokens))
    x, _unknown = stages.read_words(layer.tokens)
    first = LEARNED["untrained"]
    heads = replace(
        layer.heads,
        w_query=stages.head.w_query[first],
        w_key=stages.head.w_key[first],
        w_value=stages.head.w_value[first],
    )
    return replace(layer, x=x[first], heads=heads, learned=None, is_changed=True)


def compute_numbers(layers: Layers) -> dict[str, Any]:
    """All that the picture shows of a sentence, for each pair of choices."""
    heads: dict[str, dict[str, Any]] = {learned: {} for learned in LEARNED}
    for (learned, own), layer in layers.items():
        head = layer.head()
        views, steps = attend(layer)
        heads[learned][own] = {
            "x": round_numbers(layer.x),
            "matrices": {
                "query": round_numbers(head.w_query),
                "key": round_numbers(head.w_key),
                "value": round_numbers(head.w_value),
            },
            "query": round_numbers(views.query),
            "key": round_numbers(views.key),
            "value": round_numbers(views.value),
            "scores": round_numbers(steps.scores),
            "weights": round_numbers(steps.weights, 7),  # no weight above 0 is said to be 0 %
        }
    return {"tokens": list(layers["trained", "own"].tokens), "heads": heads}


def find_pair(layer: Layer) -> tuple[int, int]:
    """The last word, and the other word to which it gives most of its attention."""
    last = len(layer.tokens) - 1
    weights = attend(layer)[1].weights[last].tolist()
    return last, max(range(last), key=weights.__getitem__, default=last)


def list_experiments(text: Prose, layers: Layers, word: int) -> list[Experiment]:
    """What a reader can try, each with the numbers that it will show."""
    layer = layers["trained", "own"]
    tokens = layer.tokens
    last, found = find_pair(layer)
    pair = {"word": tokens[last], "first": tokens[found]}
    before = attend(layer)[1]
    tied = attend(layers["trained", "w_q"])[1].scores[last, found].item()
    untrained = max(attend(layers["untrained", "own"])[1].weights[word].tolist())
    asked = text.fill(
        "try_ask", **pair, first_share=write_percent(before.weights[last, found].item())
    )
    scores = {"there": before.scores[last, found], "back": before.scores[found, last], "tied": tied}
    written = {name: write_decimals(float(score)) for name, score in scores.items()}
    undone = {"word": tokens[word], "first_share": write_percent(untrained)}
    return [
        Experiment("ask", asked, {"word": last}),
        Experiment("tied", text.fill("try_tied", **pair, **written), {"w_k": "w_q", "word": last}),
        Experiment("untrained", text.fill("try_untrained", **undone), {"weights": "untrained"}),
    ]
