"""To take away from page 06: all heads, one of them enlarged, which head did it, and dropout."""

from typing import Any

import torch
from torch import Tensor

from explainers.attention.dropout import drop
from explainers.attention.multi_head import contributions, merge_heads, multi_head
from explainers.chapters.many_heads.selection import Looked
from explainers.takeaway.recipe import Recipe
from explainers.toys.examples import make_generator
from explainers.toys.layers import Layer
from explainers.translations import _
from explainers.ui.takeaway_files import take

Computed = dict[str, Tensor]


def all_heads(layer: Layer, head: int, word: int, off: list[int]) -> Computed:
    """Every head's weights; one head's values and output; what each adds to a word's output."""
    run = multi_head(layer.x, layer.heads, layer.mask)
    per_head = run.per_head.clone()
    per_head[off] = 0  # a head that is switched off adds nothing
    added = contributions(per_head, layer.heads.w_output)
    parts, output = added[:, word], added.sum(dim=0)
    shares = parts @ output[word] / (output[word] @ output[word]).clamp_min(1e-12)
    one = {"weights": run.weights[head], "V": run.value[head], "output": run.per_head[head]}
    together = {"heads": merge_heads(per_head), "layer": output}
    each = {f"head {n}": weights for n, weights in enumerate(run.weights)}
    return {**each, **one, **together, "parts": parts, "shares": shares[:, None]}


def votes(layer: Layer, word: int, off: list[int], directions: Tensor, bias: Tensor) -> Computed:
    """How strongly each head names each of some words (d_model, words), and what comes of it."""
    per_head = multi_head(layer.x, layer.heads, layer.mask).per_head
    whole = contributions(per_head, layer.heads.w_output)[:, word]  # (heads, d_model)
    parts = whole.clone()
    parts[off] = 0
    totals = torch.stack([whole.sum(dim=0), parts.sum(dim=0)]) @ directions + bias
    summed = torch.cat([parts @ directions, bias[None], totals[1:]])
    return {"votes": summed, "named": totals.sigmoid()}


def dropped(layer: Layer, probability: float, seed: int) -> Computed:
    """One head's weights, one draw of dropout, and averages over more and more draws."""
    weights = multi_head(layer.x, layer.heads, layer.mask).weights[0]
    seeded = make_generator("dropout", seed, str(probability))
    drawn = drop(weights.expand(1_000, *weights.shape), probability, seeded)
    averages = {f"{draws:,} draws": drawn[:draws].mean(dim=0) for draws in (10, 100, 1_000)}
    return {"weights": weights, "one draw": drawn[0], **averages}


def heads(looked: Looked) -> None:
    """The picture of a layer."""
    single = {name: looked.one_head.numbers[name] for name in ("weights", "V", "output")}
    each = {f"head {n}": weights for n, weights in enumerate(looked.run.weights)}
    together = {"heads": merge_heads(looked.per_head), "layer": looked.output}
    who = {"parts": looked.parts, "shares": looked.shares[:, None]}
    take(
        "heads",
        Recipe(
            _("All heads, and which head did it"),
            all_heads,
            {"head": looked.head, **_inputs(looked)},
            {**each, **single, **together, **who},
        ),
        *_votes(looked),
    )


def _inputs(looked: Looked) -> dict[str, Any]:
    """The layer, the word, and which heads are off."""
    return {"layer": looked.layer, "word": looked.word, "off": sorted(looked.off)}


def _votes(looked: Looked) -> list[Recipe]:
    """What trained heads name, as far as there is a word that they could."""
    known, places = looked.layer.learned, list(looked.candidates)
    if known is None or not places:
        return []
    each = torch.eye(looked.output.shape[-1], device=looked.output.device)
    outputs = torch.stack([looked.run.output, looked.output])[:, looked.word]
    totals, bias = known.score_words(outputs)[:, places], known.bias[places]
    parts = (known.score_words(looked.parts) - known.bias)[:, places]
    directions = (known.score_words(each) - known.bias)[:, places]
    return [
        Recipe(
            _("What the layer names for the word"),
            votes,
            {**_inputs(looked), "directions": directions, "bias": bias},
            {"votes": torch.cat([parts, bias[None], totals[1:]]), "named": totals.sigmoid()},
        )
    ]


def dropout(
    layer: Layer,
    probability: float,
    seed: int,
    weights: list[list[float]],
    averages: list[list[list[float]]],
) -> None:
    """Weights before and after, at one probability; the single head was trained."""
    names = "one draw", "10 draws", "100 draws", "1,000 draws"
    shown = dict(zip(("weights", *names), (weights, *averages), strict=True))
    take(
        "dropout",
        Recipe(
            _("Dropout on the weights"),
            dropped,
            {"layer": layer, "probability": probability, "seed": seed},
            {name: torch.tensor(numbers) for name, numbers in shown.items()},
        ),
    )
