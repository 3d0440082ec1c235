"""What a model still can without some of its heads: repeating a text, and reading prose."""

import itertools
import random
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from explainers.messages import N_
from explainers.models.changes import HeadsOff
from explainers.models.effect import expected, loss_of
from explainers.models.head_names import ROLES, labels
from explainers.models.head_scores import HeadScores
from explainers.models.probes import REPEATED_LENGTH, TEXTS, natural, repeated
from explainers.models.registry import ModelError

if TYPE_CHECKING:
    from explainers.models.load import Loaded

Head = tuple[int, int]
"""Its layer and its number."""
READ = 2 * TEXTS
"""Texts that are read for each `Silenced`."""


class Silenced(NamedTuple):
    """What is left: losses in nats per token, `hits` as a share.

    `by_place` is the loss of each token of a text of random tokens that are said twice; `second`
    and `hits` (the likeliest token was right) are of the second copy, from its second token on.
    """

    heads: tuple[Head, ...]
    by_place: list[float]
    second: float
    hits: float
    natural: float


def silenced(loaded: "Loaded", heads: tuple[Head, ...], say: Callable[[int], None]) -> Silenced:
    """Read both probes with some heads off, text by text; `say` hears of each."""
    ids = repeated(loaded).ids
    if loaded.context and loaded.context < ids.shape[1]:
        raise ModelError(
            N_(
                "{model} cannot read the {count} tokens of this test.",
                model=loaded.name,
                count=ids.shape[1],
            )
        )
    losses, hits = (torch.cat(found) for found in zip(*_read(loaded, ids, heads, say), strict=True))
    prose = [loss for loss, _ in _read(loaded, natural(loaded).ids, heads, say)]
    second = slice(REPEATED_LENGTH + 1, None)  # what follows its first token was heard before
    return Silenced(
        heads,
        losses.mean(dim=0).tolist(),
        losses[:, second].mean().item(),
        hits[:, second].float().mean().item(),
        torch.cat(prose).mean().item(),
    )


def _read(
    loaded: "Loaded", ids: Tensor, heads: tuple[Head, ...], say: Callable[[int], None]
) -> Iterator[tuple[Tensor, Tensor]]:
    """Of each text the losses, and where the likeliest token was right; each (1, tokens - 1)."""
    changes = [HeadsOff(heads=frozenset(heads))] if heads else []
    for number in range(len(ids)):
        one = ids[number : number + 1]
        log_chances = expected(loaded, one, changes)
        yield loss_of(log_chances, one), log_chances[:, :-1].argmax(dim=-1) == one[:, 1:]
        say(number)


def by_role(scores: HeadScores) -> dict[str, tuple[Head, ...]]:
    """The heads that have a label, for every label that any of them has."""
    layers, heads = scores.shape
    found: dict[str, list[Head]] = {role.name: [] for role in ROLES}
    for one in itertools.product(range(layers), range(heads)):
        for label in labels(scores, *one):
            found[label.role].append(one)
    return {role: tuple(having) for role, having in found.items() if having}


def others(heads: tuple[Head, ...], num_heads: int, seed: int) -> tuple[Head, ...]:
    """As many heads of the same layers, drawn among the rest."""
    draw = random.Random(seed)  # noqa: S311
    found: list[Head] = []
    for layer in sorted({layer for layer, _ in heads}):
        taken = [head for where, head in heads if where == layer]
        rest = [head for head in range(num_heads) if head not in taken]
        found += [(layer, head) for head in draw.sample(rest, min(len(taken), len(rest)))]
    return tuple(sorted(found))
