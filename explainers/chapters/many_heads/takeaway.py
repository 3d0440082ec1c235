"""To take away from page 06: all heads, one of them enlarged, which head did it, and dropout."""

import torch
from torch import Tensor

from explainers.attention.dropout import drop
from explainers.attention.layer import MultiHead
from explainers.attention.multi_head import contributions, merge_heads, multi_head
from explainers.chapters.common.choose_layer import LayerChoices
from explainers.chapters.common.head_takeaway import beginning, learned_inputs, learned_layer
from explainers.chapters.many_heads.selection import Looked
from explainers.takeaway.recipe import Recipe
from explainers.toys.examples import generator
from explainers.translations import _
from explainers.ui.takeaway_files import take

Computed = dict[str, Tensor]


def all_heads(
    x: Tensor, layer: MultiHead, mask: Tensor, head: int, word: int, off: list[int]
) -> Computed:
    """Every head's weights; one head's values and output; what each adds to a word's output."""
    run = multi_head(x, layer, mask)
    per_head = run.per_head.clone()
    per_head[off] = 0  # a head that is switched off adds nothing
    added = contributions(per_head, layer.w_output)
    parts, output = added[:, word], added.sum(dim=0)
    shares = parts @ output[word] / (output[word] @ output[word]).clamp_min(1e-12)
    one = {"weights": run.weights[head], "V": run.value[head], "output": run.per_head[head]}
    together = {"heads": merge_heads(per_head), "layer": output}
    each = {f"head {n}": weights for n, weights in enumerate(run.weights)}
    return {**each, **one, **together, "parts": parts, "shares": shares[:, None]}


def votes(
    x: Tensor,
    layer: MultiHead,
    mask: Tensor,
    word: int,
    off: list[int],
    directions: Tensor,
    bias: Tensor,
) -> Computed:
    """How strongly each head names each of some words (d_model, words), and what comes of it."""
    per_head = multi_head(x, layer, mask).per_head
    whole = contributions(per_head, layer.w_output)[:, word]  # (heads, d_model)
    parts = whole.clone()
    parts[off] = 0
    totals = torch.stack([whole.sum(dim=0), parts.sum(dim=0)]) @ directions + bias
    summed = torch.cat([parts @ directions, bias[None], totals[1:]])
    return {"votes": summed, "named": totals.sigmoid()}


def dropped(x: Tensor, layer: MultiHead, mask: Tensor, probability: float, seed: int) -> Computed:
    """One head's weights, one draw of dropout, and averages over more and more draws."""
    weights = multi_head(x, layer, mask).weights[0]
    seeded = generator("dropout", seed, str(probability))
    drawn = drop(weights.expand(1_000, *weights.shape), probability, seeded)
    averages = {f"{draws:,} draws": drawn[:draws].mean(dim=0) for draws in (10, 100, 1_000)}
    return {"weights": weights, "one draw": drawn[0], **averages}


def heads(choices: LayerChoices, looked: Looked) -> None:
    """The picture of a layer."""
    layer, head = looked.layer, looked.head
    single = {name: looked.one_head.numbers[name] for name in ("weights", "V", "output")}
    each = {f"head {n}": weights for n, weights in enumerate(looked.run.weights)}
    together = {"heads": merge_heads(looked.per_head), "layer": looked.output}
    who = {"parts": looked.parts, "shares": looked.shares[:, None]}
    take(
        "heads",
        Recipe(
            _("All heads, and which head did it"),
            all_heads,
            shown={**each, **single, **together, **who},
            options={"head": head, "word": looked.word, "off": sorted(looked.off)},
            **beginning(choices, layer),
        ),
        *_votes(choices, looked),
    )


def _votes(choices: LayerChoices, looked: Looked) -> list[Recipe]:
    """What trained heads name, as far as there is a word that they could."""
    known, places = looked.layer.known, list(looked.candidates)
    if known is None or not places:
        return []
    each = torch.eye(looked.output.shape[-1], device=looked.output.device)
    outputs = torch.stack([looked.run.output, looked.output])[:, looked.word]
    totals, bias = known.named(outputs)[:, places], known.bias[places]
    parts = (known.named(looked.parts) - known.bias)[:, places]
    directions = (known.named(each) - known.bias)[:, places]
    options = {"word": looked.word, "off": sorted(looked.off)}
    return [
        Recipe(
            _("What the layer names for the word"),
            votes,
            shown={"votes": torch.cat([parts, bias[None], totals[1:]]), "named": totals.sigmoid()},
            options={**options, "directions": directions, "bias": bias},
            **beginning(choices, looked.layer),
        )
    ]


def dropout(
    x: Tensor,
    layer: MultiHead,
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
            learned_inputs(x, layer, "full"),
            {name: torch.tensor(numbers) for name, numbers in shown.items()},
            learned_layer,
            {"probability": probability, "seed": seed},
        ),
    )
