"""Training indexers: each learns, from a few texts, which keys the heads of its layer read."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import kl_div

from explainers.attention.indexer import Indexer, index_scores
from explainers.folders import ASSETS
from explainers.models.attention_hook import RecordedAttention, run_model
from explainers.models.chosen_keys import project_text, watch_inputs

READING_FILE = ASSETS / "text" / "reading.txt"
"""Three texts, written for this; the last says the same passage two times."""
MOST_TOKENS = 512
ROWS, RATE, STEPS = 64, 1e-2, 150
FIRST_ROW = 4
"""A query with fewer keys has nothing to choose."""


class IndexerSize(NamedTuple):
    """How many short heads, and how long their keys are."""

    index_heads: int = 2
    index_dim: int = 16

    def count(self, d_model: int) -> int:
        """Its numbers: what is trained in each layer."""
        heads, dim = self
        return d_model * (heads * dim + dim + heads) + 2 * dim


class Reading(NamedTuple):
    """What a layer reads of a text (length, d_model); its heads' mean weights (length, length)."""

    x: Tensor
    weights: Tensor


class TrainingState(NamedTuple):
    """After so many steps: the indexer, and how far it is from the heads' mean (KL, in nats)."""

    step: int
    divergence: float
    indexer: Indexer


class EnoughReadError(Exception):
    """All layers that are wanted have been read."""


def list_training_texts(tokenizer: Any) -> list[Tensor]:
    """The texts as token ids (1, tokens)."""
    texts = READING_FILE.read_text(encoding="utf-8").strip().split("\n\n\n\n")
    return [tokenizer(text, return_tensors="pt").input_ids[:, :MOST_TOKENS] for text in texts]


def read_layers(model: Any, ids: Tensor, last: int | None = None) -> list[Reading]:
    """What each layer up to the `last` one reads of a text, and how its heads weigh it."""
    weights: list[Tensor] = []

    def record(one: RecordedAttention) -> None:
        weights.append(one.weights[0].float().mean(dim=0))
        if one.layer_index == last:
            raise EnoughReadError

    with watch_inputs(model) as inputs:
        with suppress(EnoughReadError):
            run_model(model, record=record, input_ids=ids, use_cache=False)
        # An indexer is small, and learns beside the CPU's other work on any machine.
        return [Reading(inputs[layer].cpu(), one.cpu()) for layer, one in enumerate(weights)]


def draw_indexer(size: IndexerSize, d_model: int, generator: torch.Generator) -> Indexer:
    """An indexer that has learned nothing."""
    heads, dim = size

    def draw(columns: int) -> Tensor:
        return (2 * torch.rand(d_model, columns, generator=generator) - 1) / d_model**0.5

    return Indexer(draw(heads * dim), draw(dim), torch.ones(dim), torch.zeros(dim), draw(heads))


def compute_kl(indexer: Indexer, reading: Reading, rows: Tensor) -> Tensor:
    """How far the softmax of the index scores is from the heads' mean weights, in nats per row."""
    inputs = project_text(reading.x, indexer)
    scores = index_scores(inputs.query[..., rows, :], inputs.key, inputs.share[rows])
    later = torch.arange(len(reading.x)) > rows[:, None]
    # What no query sees has weight 0; 0 times −∞ would be no number.
    said = scores.masked_fill(later, -torch.inf).log_softmax(dim=-1).masked_fill(later, 0.0)
    return kl_div(said, reading.weights[rows], reduction="sum") / len(rows)


def train_indexer(
    readings: Sequence[Reading], size: IndexerSize, seed: int, steps: int = STEPS
) -> Iterator[TrainingState]:
    """Adam on a few rows of one text at a time; the state before the first step, and after each."""
    generator = torch.Generator().manual_seed(seed)
    indexer = draw_indexer(size, readings[0].x.shape[-1], generator)
    parts = [part.requires_grad_() for part in indexer]
    optimiser = torch.optim.Adam(parts, RATE)
    for step in range(steps + 1):
        reading = readings[step % len(readings)]
        length = len(reading.x)
        rows = torch.randint(FIRST_ROW, length, (ROWS,), generator=generator)
        with torch.enable_grad():
            divergence = compute_kl(Indexer(*parts), reading, rows)
        learned = Indexer(*(part.detach().clone() for part in parts))
        yield TrainingState(step, divergence.item(), learned)
        if step < steps:
            for group in optimiser.param_groups:
                group["lr"] = RATE * min(1.0, 0.1 + 2 * (1 - step / steps))
            optimiser.zero_grad()
            divergence.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
