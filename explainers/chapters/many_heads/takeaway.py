"""To take away: all heads, one of them enlarged, which head did it, and dropout."""

from typing import Any

import torch
from torch import Tensor

from explainers.attention.dropout import drop
from explainers.attention.multi_head import merge_heads, multi_head
from explainers.chapters.many_heads.selection import Selection
from explainers.takeaway.recipe import Recipe
from explainers.toys.examples import make_generator
from explainers.toys.layers import Layer
from explainers.translations import _
from explainers.ui.takeaway_files import take

Computed = dict[str, Tensor]
DRAWS = (1, 10, 100, 1_000)
DRAWN = ("one draw", "10 draws", "100 draws", "1,000 draws")


def compute_heads(layer: Layer, head: int, word: int, off: list[int]) -> Computed:
    """Every head's weights; one head's values and output; what each adds to a word's output."""
    return list_numbers(Selection.of(layer, head, word, off))


def list_numbers(looked: Selection) -> Computed:
    """What the picture shows, under the names that it has there."""
    run, head = looked.run, looked.head
    each = {f"head {n}": weights for n, weights in enumerate(run.weights)}
    one = {"weights": run.weights[head], "V": run.value[head], "output": run.per_head[head]}
    together = {"heads": merge_heads(looked.per_head), "layer": looked.output}
    return {**each, **one, **together, "parts": looked.parts, "shares": looked.shares[:, None]}


def compute_votes(
    layer: Layer, word: int, off: list[int], directions: Tensor, bias: Tensor
) -> Computed:
    """How strongly each head names each of some words (d_model, words), and what comes of it."""
    return list_votes(Selection.of(layer, 0, word, off), directions, bias)


def list_votes(looked: Selection, directions: Tensor, bias: Tensor) -> Computed:
    """The two tables of votes."""
    summed, totals = looked.votes(directions, bias)
    return {"votes": summed, "named": totals.sigmoid()}


def average_draws(weights: Tensor, probability: float, seed: int) -> list[Tensor]:
    """Weights after dropout: one draw, and averages over more and more draws."""
    seeded = make_generator("dropout", seed, str(probability))
    drawn = drop(weights.expand(DRAWS[-1], *weights.shape), probability, seeded)
    return [drawn[:count].mean(dim=0) for count in DRAWS]


def drop_weights(layer: Layer, probability: float, seed: int) -> Computed:
    """One head's weights, before dropout and after it."""
    weights = multi_head(layer.x, layer.heads, layer.mask).weights[0]
    averages = average_draws(weights, probability, seed)
    return {"weights": weights, **dict(zip(DRAWN, averages, strict=True))}


def take_heads(looked: Selection) -> None:
    """The picture of a layer."""
    title, inputs = (
        _("All heads, and which head did it"),
        {"head": looked.head, **_collect_inputs(looked)},
    )
    take(
        "heads",
        Recipe(title, compute_heads, inputs, list_numbers(looked)),
        *_make_vote_recipes(looked),
    )


def _collect_inputs(looked: Selection) -> dict[str, Any]:
    """The layer, the word, and which heads are off."""
    return {"layer": looked.layer, "word": looked.word, "off": sorted(looked.off)}


def _make_vote_recipes(looked: Selection) -> list[Recipe]:
    """What trained heads name, as far as there is a word that they could."""
    known = looked.learned
    if known is None or not looked.candidates:
        return []
    directions, bias = looked.directions(known)
    inputs = {**_collect_inputs(looked), "directions": directions, "bias": bias}
    shown = list_votes(looked, directions, bias)
    return [Recipe(_("What the layer names for the word"), compute_votes, inputs, shown)]


def take_dropout(
    layer: Layer,
    probability: float,
    seed: int,
    weights: list[list[float]],
    averages: list[list[list[float]]],
) -> None:
    """Weights before and after, at one probability; the single head was trained."""
    shown = dict(zip(("weights", *DRAWN), (weights, *averages), strict=True))
    take(
        "dropout",
        Recipe(
            _("Dropout on the weights"),
            drop_weights,
            {"layer": layer, "probability": probability, "seed": seed},
            {name: torch.tensor(numbers) for name, numbers in shown.items()},
        ),
    )
