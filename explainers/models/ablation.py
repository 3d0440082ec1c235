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
    real_model: "RealModel", heads: tuple[HeadIndex, ...], report: Callable[[int], None]
) -> Ablation:
    """Read both probes with some heads off, text by text; `report` gets each text's index."""
    ids = make_repeated_probe(real_model).ids
    if real_model.context_length and real_model.context_length < ids.shape[1]:
        raise ModelError(
            N_(
                "{model} cannot read the {count} tokens of this test.",
                model=real_model.name,
                count=ids.shape[1],
            )
        )
    losses, hits = (
        torch.cat(parts) for parts in zip(*_read_texts(real_model, ids, heads, report), strict=True)
    )
    prose_ids = make_natural_probe(real_model).ids
    prose_losses = [loss for loss, _ in _read_texts(real_model, prose_ids, heads, report)]
    second_copy = slice(REPEATED_LENGTH + 1, None)  # what follows its first token was heard before
    return Ablation(
        heads,
        losses.mean(dim=0).tolist(),
        losses[:, second_copy].mean().item(),
        hits[:, second_copy].float().mean().item(),
        torch.cat(prose_losses).mean().item(),
    )


def _read_texts(
    real_model: "RealModel",
    ids: Tensor,
    heads: tuple[HeadIndex, ...],
    report: Callable[[int], None],
) -> Iterator[tuple[Tensor, Tensor]]:
    """Of each text the losses, and where the likeliest token was right; each (1, tokens - 1)."""
    changes = [AblatedHeads(heads=frozenset(heads))] if heads else []
    for text_index in range(len(ids)):
        text_ids = ids[text_index : text_index + 1]
        log_probabilities = compute_log_probabilities(real_model, text_ids, changes)
        hits = log_probabilities[:, :-1].argmax(dim=-1) == text_ids[:, 1:]
        yield compute_losses(log_probabilities, text_ids), hits
        report(text_index)


def group_heads_by_role(scores: HeadScores) -> dict[str, tuple[HeadIndex, ...]]:
    """The heads that have a label, for every label that any of them has."""
    layers, heads = scores.shape
    heads_by_role: dict[str, list[HeadIndex]] = {role.name: [] for role in ROLES}
    for head in itertools.product(range(layers), range(heads)):
        for label in find_roles(scores, *head):
            heads_by_role[label.role].append(head)
    return {role: tuple(role_heads) for role, role_heads in heads_by_role.items() if role_heads}


def draw_control_heads(
    heads: tuple[HeadIndex, ...], num_heads: int, seed: int
) -> tuple[HeadIndex, ...]:
    """As many heads of the same layers, drawn among the rest."""
    generator = random.Random(seed)  # noqa: S311
    control_heads: list[HeadIndex] = []
    for layer in sorted({layer for layer, _ in heads}):
        ablated = [head for where, head in heads if where == layer]
        others = [head for head in range(num_heads) if head not in ablated]
        drawn = generator.sample(others, min(len(ablated), len(others)))
        control_heads += [(layer, head) for head in drawn]
    return tuple(sorted(control_heads))
