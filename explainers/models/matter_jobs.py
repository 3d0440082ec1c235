"""What a head is worth, measured on a reader's wish, in another thread: a pair, or one head."""

from typing import NamedTuple

import torch
from torch import Tensor

from explainers.job_queue import Job
from explainers.messages import N_
from explainers.models.head_ablation import KINDS, measure_head, read_baseline
from explainers.models.layer_by_layer import find_decoder
from explainers.models.load import load_model
from explainers.models.patching import DRAWS, Pair, Patching, patch_pair
from explainers.models.probes import make_natural_probe
from explainers.models.registry import ModelError

Place = tuple[int, int]


class PairRequest(NamedTuple):
    """A pair of prompts, and the seed of the random words."""

    model: str
    pair: Pair
    seed: int


PatchingJob = Job[PairRequest, str, Patching]
"""It reports in words how many layers have been run."""
HeadRequest = tuple[str, Place]
HeadJob = Job[HeadRequest, str, Tensor]
"""Of a model and a head; (kinds, texts)."""


def make_patching_job(request: PairRequest) -> PatchingJob:
    """Every head exchanged, and as often again with random words."""
    return Job(request, _patch, readable_errors=(ModelError,))


def make_head_job(request: HeadRequest) -> HeadJob:
    """One head, three ways, on all texts."""
    return Job(request, _measure, readable_errors=(ModelError,))


def _patch(job: PatchingJob) -> Patching:
    loaded = load_model(job.subject.model)
    decoder = find_decoder(loaded)
    job.total = decoder.num_layers * (1 + DRAWS)

    def report(_: int) -> None:
        job.report(N_("{done} of {all} layers", done=len(job.reports) + 1, all=job.total))

    return patch_pair(loaded, decoder, job.subject.pair, job.subject.seed, report)


def _measure(job: HeadJob) -> Tensor:
    model, place = job.subject
    loaded = load_model(model)
    decoder = find_decoder(loaded)
    job.total = 1 + len(KINDS)
    baseline = read_baseline(decoder, make_natural_probe(loaded).ids)
    job.report(N_("the texts as they are"))
    rows = []
    for kind in KINDS:
        rows.append(measure_head(decoder, baseline, place, kind))
        job.report(N_("{done} of {all} replacements", done=len(rows), all=len(KINDS)))
    return torch.stack(rows)
