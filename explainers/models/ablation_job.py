"""A model with some heads switched off reads texts: its heads are measured first if need be."""

from pathlib import Path
from typing import NamedTuple

from explainers.job_queue import Job
from explainers.messages import N_
from explainers.models.ablation import (
    TEXTS_PER_ABLATION,
    Ablation,
    HeadIndex,
    draw_control_heads,
    group_heads_by_role,
    measure_ablation,
)
from explainers.models.head_scores import HeadScores
from explainers.models.head_scores_job import locate_scores, read_scores, score_heads
from explainers.models.load import load_model
from explainers.models.registry import ModelError

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
