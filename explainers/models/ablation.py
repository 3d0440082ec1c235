"""What a model still can without some of its heads: repeating a text, and reading prose."""

import itertools
import random
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from explainers.messages import N_
from explainers.models.change_effect import compute_log_probabilities, compute_losses
from explainers.models.changes import AblatedHeads
from explainers.models.head_roles import ROLES, find_roles
from explainers.models.head_scores import HeadScores
from explainers.models.probes import (
    NUM_TEXTS,
    REPEATED_LENGTH,
    make_natural_probe,
    make_repeated_probe,
)
from explainers.models.registry import ModelError

if TYPE_CHECKING:
    from explainers.models.load import RealModel

HeadIndex = tuple[int, int]
"""Its layer and its number."""
TEXTS_PER_ABLATION = 2 * NUM_TEXTS
"""Texts that are read for each `Silenced`."""


class Ablation(NamedTuple):
    """What is left: losses in nats per token, `hits` as a share.

    `by_place` is the loss of each token of a text of random tokens that are said twice; `second`
    and `hits` (the likeliest token was right) are of the second copy, from its second token on.
    """

    heads: tuple[HeadIndex, ...]
    losses_by_position: list[float]
    second_copy_loss: float
    second_copy_hits: float
    prose_loss: float


def measure_ablation(
    loaded: "RealModel", heads: tuple[HeadIndex, ...], say: Callable[[int], None]
) -> Ablation:
    """Read both probes with some heads off, text by text; `say` hears of each."""
    ids = make_repeated_probe(loaded).ids
    if loaded.context_length and loaded.context_length < ids.shape[1]:
        raise ModelError(
            N_(
                "{model} cannot read the {count} tokens of this test.",
                model=loaded.name,
                count=ids.shape[1],
            )
        )
    losses, hits = (
        torch.cat(found) for found in zip(*_read_texts(loaded, ids, heads, say), strict=True)
    )
    prose = [loss for loss, _ in _read_texts(loaded, make_natural_probe(loaded).ids, heads, say)]
    second = slice(REPEATED_LENGTH + 1, None)  # what follows its first token was heard before
    return Ablation(
        heads,
        losses.mean(dim=0).tolist(),
        losses[:, second].mean().item(),
        hits[:, second].float().mean().item(),
        torch.cat(prose).mean().item(),
    )


def _read_texts(
    loaded: "RealModel", ids: Tensor, heads: tuple[HeadIndex, ...], say: Callable[[int], None]
) -> Iterator[tuple[Tensor, Tensor]]:
    """Of each text the losses, and where the likeliest token was right; each (1, tokens - 1)."""
    changes = [AblatedHeads(heads=frozenset(heads))] if heads else []
    for number in range(len(ids)):
        one = ids[number : number + 1]
        log_chances = compute_log_probabilities(loaded, one, changes)
        yield compute_losses(log_chances, one), log_chances[:, :-1].argmax(dim=-1) == one[:, 1:]
        say(number)


def group_heads_by_role(scores: HeadScores) -> dict[str, tuple[HeadIndex, ...]]:
    """The heads that have a label, for every label that any of them has."""
    layers, heads = scores.shape
    found: dict[str, list[HeadIndex]] = {role.name: [] for role in ROLES}
    for one in itertools.product(range(layers), range(heads)):
        for label in find_roles(scores, *one):
            found[label.role].append(one)
    return {role: tuple(having) for role, having in found.items() if having}


def draw_control_heads(
    heads: tuple[HeadIndex, ...], num_heads: int, seed: int
) -> tuple[HeadIndex, ...]:
    """As many heads of the same layers, drawn among the rest."""
    draw = random.Random(seed)  # noqa: S311
    found: list[HeadIndex] = []
    for layer in sorted({layer for layer, _ in heads}):
        taken = [head for where, head in heads if where == layer]
        rest = [head for head in range(num_heads) if head not in taken]
        found += [(layer, head) for head in draw.sample(rest, min(len(taken), len(rest)))]
    return tuple(sorted(found))
