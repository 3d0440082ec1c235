"""The hero of the page: for one word, products, scores, weights and output beside each other."""

import math
from collections.abc import Callable
from typing import Any

from explainers.attention.scaling import with_temperature
from explainers.chapters.common.choose_layer import name_layer_origin
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
    list_for_each,
    make_weight_table,
    read_choice,
    round_numbers,
)
from explainers.ui.page import Prose
from explainers.ui.session import ROOT_SHOWN
from explainers.ui.text.numbers import write_percent

TEMPERATURES = tuple(
    int(step) if step.is_integer() else step
    for step in (round(2 ** (n / 4), 4) for n in range(-12, 25))
)
"""Whole ones as whole numbers: a browser tells 2, never 2.0."""
COLD, HOT = TEMPERATURES[0], TEMPERATURES[-1]
SENTENCES = ("hero_caption", "hero_two", "hero_one", "hero_spread", "hero_only")


def make_hero(text: Prose, reading: Reading) -> Hero:
    """The four steps of a head, for every word."""
    layer, word = reading.layer(), reading.choose_word()
    root = find_root(layer.heads.head_dim)
    begin_again(ROOT_SHOWN, root, controls.divided_by)
    divided_by = read_choice(controls.divided_by, TEMPERATURES, root)
    return Hero(
        "four_steps",
        _("Four steps from the products of one word's query to its output."),
        compute_numbers(layer) | reading.marks,
        [word, HeroChoice(controls.divided_by, TEMPERATURES, divided_by), *reading.choose_marks()],
        (*SENTENCES, *reading.sentences),
        list_for_each(word, list_experiments(text, layer)),
        name_layer_origin(layer),
        lambda: make_weight_table(reading.tokens, weigh(layer, divided_by)),
    )


def find_root(head_dim: int) -> float:
    """√d_k as the slider has it, which stands at powers of 2 and between them."""
    return min(TEMPERATURES, key=lambda one: abs(one - math.sqrt(head_dim)))


def compute_numbers(layer: Layer) -> dict[str, Any]:
    """All that the picture needs; what a temperature makes of it, the browser computes."""
    views, steps = attend(layer)
    return {
        "tokens": list(layer.tokens),
        "products": round_numbers(steps.products),
        "value": round_numbers(views.value),
        "temperatures": list(TEMPERATURES),
        "root": find_root(layer.heads.head_dim),
    }


def weigh(layer: Layer, temperature: float) -> list[list[float]]:
    """The weights of every word if the products are divided by this."""
    products = attend(layer)[1].products
    weights: list[list[float]] = with_temperature(products, temperature).tolist()
    return weights


def list_experiments(text: Prose, layer: Layer) -> Callable[[int], list[Experiment]]:
    """By the word that is followed, what a reader can try, with the numbers that it will show."""
    tokens, cold, hot = layer.tokens, weigh(layer, COLD), weigh(layer, HOT)

    def list_of(word: int) -> list[Experiment]:
        most = max(cold[word])
        frozen = {
            "word": tokens[word],
            "temperature": f"{COLD}",
            "first": tokens[cold[word].index(most)],
            "first_share": write_percent(most),
        }
        melted = {
            "word": tokens[word],
            "temperature": f"{HOT}",
            "largest": write_percent(max(hot[word])),
            "smallest": write_percent(min(hot[word])),
        }
        return [
            Experiment("freeze", text.fill("try_freeze", **frozen), {"divided_by": COLD}),
            Experiment("melt", text.fill("try_melt", **melted), {"divided_by": HOT}),
        ]

    return list_of
