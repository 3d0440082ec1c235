"""What every head is worth for a pair, measured on a reader's wish, in another thread."""

from typing import NamedTuple

from explainers.job_queue import Job
from explainers.messages import N_
from explainers.models.layer_by_layer import find_decoder
from explainers.models.load import load_model
from explainers.models.patching import DRAWS, Pair, Patching, patch_pair
from explainers.models.registry import ModelError


class PairRequest(NamedTuple):
    """A pair of prompts, and the seed of the random words."""

    model: str
    pair: Pair
    seed: int


PatchingJob = Job[PairRequest, str, Patching]
"""It reports in words how many layers have been run."""


def make_patching_job(request: PairRequest) -> PatchingJob:
    """Every head exchanged, and as often again with random words."""
    return Job(request, _patch, readable_errors=(ModelError,))


def _patch(job: PatchingJob) -> Patching:
    loaded = load_model(job.subject.model)
    decoder = find_decoder(loaded)
    job.total = decoder.num_layers * (1 + DRAWS)

    def report(_: int) -> None:
        job.report(N_("{done} of {all} layers", done=len(job.reports) + 1, all=job.total))

    return patch_pair(loaded, decoder, job.subject.pair, job.subject.seed, report)
