"""What a model loses when the heads of one role are put to 0, or as many other heads."""

import itertools
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from explainers.job_queue import Job
from explainers.messages import N_
from explainers.models.changes import AblatedHeads, compute_log_probabilities, compute_losses
from explainers.models.head_roles import ROLES, find_roles
from explainers.models.head_scores import HeadScores
from explainers.models.load import load_model
from explainers.models.probes import (
    NUM_TEXTS,
    REPEATED_LENGTH,
    make_natural_probe,
    make_repeated_probe,
)
from explainers.models.registry import ModelError
from explainers.models.shipped_scores import locate_scores, read_scores, score_heads

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


ROLE = "induction"
CASES = 3
"""With all heads, without those that have the role, and without as many others."""
MOST_KEPT = 300
"""Readings in memory. Other seeds draw others; the first two cases serve them all."""

_readings: dict[tuple[Path, tuple[HeadIndex, ...]], Ablation] = {}
"""For all visitors, by a model's weights. Jobs take turns, so only one writes at a time."""


class AblationRequest(NamedTuple):
    """Which model, and the seed of the other heads that are drawn."""

    model: str
    seed: int


AblationJob = Job[AblationRequest, str, None]
"""It reports in words what has been read; `recall_readings` has what came out."""


def make_ablation_job(request: AblationRequest) -> AblationJob:
    """Heads measured if they are not yet; then both probes read three times."""
    return Job(request, read_cases, readable_errors=(ModelError,))


def list_cases(scores: HeadScores, seed: int) -> list[tuple[HeadIndex, ...]]:
    """Which heads are off in each reading; there is none where no head has the role."""
    heads = group_heads_by_role(scores).get(ROLE)
    return [(), heads, draw_control_heads(heads, scores.shape[1], seed)] if heads else []


def recall_readings(request: AblationRequest) -> list[Ablation] | None:
    """All readings, if they were made before, for whomever."""
    scores = read_scores(request.model)
    if not scores:
        return None
    file = locate_scores(request.model)
    found = [_readings.get((file, heads)) for heads in list_cases(scores, request.seed)]
    readings = [reading for reading in found if reading]
    return readings if len(readings) == len(found) else None


def read_cases(job: AblationJob) -> None:
    """Read what was not read before."""
    model, seed = job.subject

    def report_layer(done: int, total: int) -> None:
        job.total = total + TEXTS_PER_ABLATION * CASES
        told = N_("measuring all heads, once: layer {done} of {all}", done=done, all=total)
        job.report(told)

    scores = read_scores(model) or score_heads(model, report_layer)
    loaded, file = load_model(model), locate_scores(model)
    cases = [heads for heads in list_cases(scores, seed) if (file, heads) not in _readings]
    measured, texts = len(job.reports), TEXTS_PER_ABLATION * len(cases)
    job.total = measured + texts

    def report_text(_: int) -> None:
        done = len(job.reports) - measured + 1
        job.report(N_("text {done} of {all}", done=done, all=texts))

    for heads in cases:
        _readings[file, heads] = measure_ablation(loaded, heads, report_text)
    for oldest in list(_readings)[:-MOST_KEPT]:
        del _readings[oldest]
