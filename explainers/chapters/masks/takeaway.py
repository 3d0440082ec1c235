"""To take away from page 05: one matrix of scores under masks, and what masks let through."""

from typing import Any

import torch
from torch import Tensor

from explainers.attention import masks
from explainers.attention.leak import masked_after, masked_before
from explainers.attention.reach import reach
from explainers.attention.single_head import Projections, SingleHead, project, single_head
from explainers.attention.steps import dot_products, hide, scale, softmax
from explainers.chapters.common.head_takeaway import of_head, of_two
from explainers.chapters.common.score_matrix import Lab, rules_of
from explainers.chapters.masks.masks_compared import left
from explainers.chapters.masks.one_more_word import BOTH, changes
from explainers.takeaway.recipe import Recipe
from explainers.translations import _
from explainers.ui.takeaway_files import take

Computed = dict[str, Tensor]


def scores_of(x: Tensor, head: SingleHead) -> Tensor:
    """The scores that all masks begin with."""
    query, key, _unused = project(x, head)
    return scale(dot_products(query, key), head_dim=query.shape[-1])


def under_masks(x: Tensor, head: SingleHead, mask: Tensor, numbers: dict[str, int]) -> Computed:
    """The scores, the weights under each mask, and what each row wins and loses by it."""
    scores, length = scores_of(x, head), len(x)
    built = {name: masks.build(r, length, length) for name, r in rules_of(numbers).items()}
    weights = {name: softmax(hide(scores, mask.to(x.device))) for name, mask in built.items()}
    moved = {f"{name} − full": each - weights["full"] for name, each in weights.items()}
    del moved["full − full"]
    return {"scores": scores, **weights, **moved}


def under_drawn(x: Tensor, head: SingleHead, mask: Tensor, cells: list[list[bool]]) -> Computed:
    """The weights under a mask by hand, and what they are more than without a mask."""
    scores, allowed = scores_of(x, head), masks.drawn(torch.tensor(cells))
    weights = softmax(hide(scores, masks.build(allowed, len(x), len(x)).to(x.device)))
    return {"weights": weights, "yours − full": weights - softmax(scores)}


def both_ways(x: Tensor, new: Tensor, head: SingleHead, mask: Tensor) -> Computed:
    """Causal weights made in the right and in the wrong order, and how a new last word moves them.

    The change is in percent.
    """
    causal = masks.build(masks.causal, *mask.shape).to(x.device)
    before, after = scores_of(x, head), scores_of(new, head)
    ways = {"0 after": masked_after, "−∞ before": masked_before}
    weights = {name: way(before, causal) for name, way in ways.items()}
    moved = {name: way(after, causal) - weights[name] for name, way in ways.items()}
    return weights | {f"{name}: new − old": 100 * m[:-1, :-1] for name, m in moved.items()}


def in_a_batch(
    x: Tensor, new: Tensor, head: SingleHead, mask: Tensor, lengths: list[int]
) -> Computed:
    """Two sentences in one call, the filling of the shorter one hidden."""
    allowed = masks.build(masks.padding(torch.tensor(lengths)), *mask.shape).to(x.device)
    weights = single_head(torch.stack([x, new])[:, None], head, allowed).weights[:, 0]
    return {"sentence 1": weights[0], "sentence 2": weights[1]}


def through_layers(width: int, words: int, layers: int, most: int) -> Computed:
    """Which words know of which after some layers, and of what the last one knows after each."""
    mask = masks.build(masks.sliding_window(width), words, words)
    by_layer = reach(mask, most).int()
    return {"pairs": by_layer[layers - 1], "cone": by_layer[:, -1]}


def one_more_word(tokens: tuple[str, ...], seed: int) -> Computed:
    """What one more word changes in the second layer's K and V, under full and causal masks."""
    return by_role({name: changes(tokens, rule, seed) for name, rule in BOTH.items()})


def by_role(found: dict[str, Projections]) -> Computed:
    """What changed in K and in V, under each mask."""
    keys = {f"K, {name}": each.key for name, each in found.items()}
    return keys | {f"V, {name}": each.value for name, each in found.items()}


def side_by_side(lab: Lab, numbers: dict[str, int]) -> None:
    """One matrix under every mask, and how many cells each leaves."""
    options: dict[str, Any] = {"numbers": numbers}
    shown = under_masks(*lab.toy, numbers)
    of_words = {**options, "length": len(lab.tokens)}
    take(
        "side by side",
        of_head(_("One matrix, many masks"), under_masks, lab.head, lab.toy, shown, **options),
        Recipe(_("Cells that are left"), left, of_words, left(**of_words)),
    )


def by_hand(lab: Lab, cells: list[list[bool]], shown: Computed) -> None:
    """The reader's own mask."""
    title = _("Your mask")
    take("by hand", of_head(title, under_drawn, lab.head, lab.toy, shown, cells=cells))


def leak(lab: Lab, others: tuple[str, ...], shown: Computed) -> None:
    """Two orders of the same two steps."""
    title, other = _("−∞ before the softmax, or 0 after it"), lab.reading(others).toy.x
    take("leak", of_two(title, both_ways, lab.head, lab.toy, (others, other), shown))


def batch(labs: list[Lab], lengths: list[int], weights: Tensor) -> None:
    """Two sentences, filled up to one length."""
    first, second = labs
    shown = {f"sentence {n + 1}": each for n, each in enumerate(weights)}
    other, title = (second.tokens, second.toy.x), _("Two sentences in one batch")
    recipe = of_two(title, in_a_batch, first.head, first.toy, other, shown, lengths=lengths)
    take("batch", recipe)


def layers(width: int, words: int, number: int, by_layer: Tensor) -> None:
    """How far windows reach."""
    shown = {"pairs": by_layer[number - 1].int(), "cone": by_layer[:, -1].int()}
    sizes = {"width": width, "words": words, "layers": number, "most": len(by_layer)}
    take("reach", Recipe(_("Windows stacked in layers"), through_layers, sizes, shown))


def growing(tokens: tuple[str, ...], seed: int, found: dict[str, Projections]) -> None:
    """What a word that is added changes."""
    inputs: dict[str, Any] = {"tokens": tokens, "seed": seed}
    take("growing", Recipe(_("One more word"), one_more_word, inputs, by_role(found)))
