"""Train the indexer of the shown layer: a job that reports what it has learned, again and again."""

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from explainers.attention.indexer import IndexInputs
from explainers.job_queue import Job
from explainers.models.registry import ModelError
from explainers.models.shipped_indexers import MODEL, Passage
from explainers.translations import _

if TYPE_CHECKING:
    from explainers.models.load import RealModel

LOOKS = *range(9), 10, 12, 15, 20, 25, 30, 40, 60, 90, 120
"""The steps after which what is learned is looked at: most is learned in the first ones."""


class Snapshot(NamedTuple):
    """After so many steps: how far the indexer is from the heads, and what it compares."""

    step: int
    divergence: float
    inputs: IndexInputs


IndexerJob = Job[str, Snapshot, None]
"""Of the text that is shown; it reports what the indexer of its layer has learned."""


def make_indexer_job(name: str, passage: Passage) -> IndexerJob:
    """Reads the training texts up to the passage's layer, and trains the indexer of that layer."""
    from explainers.models.indexer_training import STEPS

    looks = len(LOOKS) + 1  # and after the last step
    return Job(name, partial(_train, STEPS, passage), looks, readable_errors=(ModelError,))


def _train(steps: int, passage: Passage, job: IndexerJob) -> None:
    from explainers.models.load import load_model

    train_with(load_model(MODEL), steps, passage, job)


def train_with(loaded: "RealModel", steps: int, passage: Passage, job: IndexerJob) -> None:
    """The same with a model that is in memory."""
    import torch

    from explainers.models.chosen_keys import project_text
    from explainers.models.indexer_training import (
        IndexerSize,
        list_training_texts,
        read_layers,
        train_indexer,
    )

    layer, device = passage.layer, loaded.model.device
    readings = []
    for text in list_training_texts(loaded.tokenizer):
        readings.append(read_layers(loaded.model, text.to(device), layer)[layer])
        job.check()
    ids = torch.tensor([list(passage.ids)], device=device)
    shown = read_layers(loaded.model, ids, layer)[layer]
    for state in train_indexer(readings, IndexerSize(), passage.seed, steps):
        if state.step in (*LOOKS, steps):
            inputs = project_text(shown.x, state.indexer)
            job.report(Snapshot(state.step, state.divergence, inputs))
        else:
            job.check()


def describe_steps(job: IndexerJob) -> str:
    """How far it is: reading the texts comes first."""
    if not job.reports:
        return _("the model reads the training texts")
    last = job.reports[-1]
    told = {"step": last.step, "divergence": last.divergence}
    return _("step {step}, {divergence:.2f} nats from the heads", **told)
