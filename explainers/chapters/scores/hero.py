"""The hero of the page: for one word, products, scores, weights and output beside each other."""

import math
from collections.abc import Mapping
from typing import Any

from explainers.attention.scaling import with_temperature
from explainers.attention.steps import hide
from explainers.chapters.common.choose_layer import name_layer_origin
from explainers.chapters.common.mask_names import MASK_NAMES, translate_mask
from explainers.chapters.common.one_head import attend
from explainers.chapters.common.sentence_reading import Reading
from explainers.toys.layers import Layer
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.figure.hero import (
    Experiment,
    Hero,
    HeroChoice,
    begin_again,
    make_weight_table,
    read_choice,
    round_numbers,
)
from explainers.ui.page import Prose
from explainers.ui.session import ROOT_SHOWN
from explainers.ui.text.numbers import write_percent

MASKS = tuple(MASK_NAMES)
TEMPERATURES = tuple(
    int(step) if step.is_integer() else step
    for step in (round(2 ** (n / 4), 4) for n in range(-12, 25))
)
"""Whole ones as whole numbers: a browser tells 2, never 2.0."""
COLD, HOT = TEMPERATURES[0], TEMPERATURES[-1]
SENTENCES = ("hero_caption", "hero_two", "hero_one", "hero_spread", "hero_only")


def make_hero(text: Prose, reading: Reading) -> Hero:
    """The four steps of a head, for every word, under each mask."""
    tokens, layers = reading.tokens, {rule: reading.layer(rule) for rule in MASKS}
    word, root = reading.choose_word(), find_root(layers["full"].heads.head_dim)
    begin_again(ROOT_SHOWN, root, controls.divided_by)
    divided_by = read_choice(controls.divided_by, TEMPERATURES, root)
    choices = [
        word,
        HeroChoice(controls.divided_by, TEMPERATURES, divided_by),
        HeroChoice(
            controls.mask, MASKS, read_choice(controls.mask, MASKS), [*map(translate_mask, MASKS)]
        ),
    ]
    alt = _("Four steps from the products of one word's query to its output.")
    experiments = list_experiments(text, layers, word.value)
    shown = layers[choices[2].value]
    return Hero(
        "four_steps",
        alt,
        compute_numbers(layers),
        choices,
        SENTENCES,
        experiments,
        name_layer_origin(shown),
        lambda: make_weight_table(tokens, weigh(shown, choices[1].value)),
    )


def find_root(head_dim: int) -> float:
    """√d_k as the slider has it, which stands at powers of 2 and between them."""
    return min(TEMPERATURES, key=lambda one: abs(one - math.sqrt(head_dim)))


def compute_numbers(layers: Mapping[str, Layer]) -> dict[str, Any]:
    """All that the picture needs; what a temperature makes of it, the browser computes."""
    layer = layers["full"]
    views, steps = attend(layer)
    return {
        "tokens": list(layer.tokens),
        "products": round_numbers(steps.products),
        "value": round_numbers(views.value),
        "allowed": {rule: one.mask.tolist() for rule, one in layers.items()},
        "temperatures": list(TEMPERATURES),
        "root": find_root(layer.heads.head_dim),
    }


def weigh(layer: Layer, temperature: float) -> list[list[float]]:
    """The weights of every word if the products are divided by this."""
    products = hide(attend(layer)[1].products, layer.mask)
    weights: list[list[float]] = with_temperature(products, temperature).tolist()
    return weights


def list_experiments(text: Prose, layers: Mapping[str, Layer], word: int) -> list[Experiment]:
    """What a reader can try, each with the numbers that it will show."""
    tokens = layers["full"].tokens
    cold, hot = (weigh(layers["full"], temperature)[word] for temperature in (COLD, HOT))
    frozen = {
        "word": tokens[word],
        "temperature": f"{COLD}",
        "first": tokens[cold.index(max(cold))],
        "first_share": write_percent(max(cold)),
    }
    melted = {
        "word": tokens[word],
        "temperature": f"{HOT}",
        "largest": write_percent(max(hot)),
        "smallest": write_percent(min(hot)),
    }
    return [
        Experiment(
            "freeze", text.fill("try_freeze", **frozen), {"mask": "full", "divided_by": COLD}
        ),
        Experiment("melt", text.fill("try_melt", **melted), {"mask": "full", "divided_by": HOT}),
        Experiment(
            "first_word", text.fill("try_first_word", word=tokens[0]), {"mask": "causal", "word": 0}
        ),
    ]
