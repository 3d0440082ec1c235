"""Indexers: few keys are read, which ones is learned from texts, and what it costs is kept."""

import functools
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import kl_div

from explainers import kept
from explainers.attention.indexer import Indexer, IndexInputs, index_scores, project_index
from explainers.attention.rotary import angles
from explainers.folders import ASSETS
from explainers.models.attention_hook import RecordedAttention, run_model
from explainers.models.registry import WHEEL_MODELS
from explainers.models.shipped_measurements import holds_for

LONGEST = 10_000.0
"""As DeepSeek-V3.2 turns the first half of each index key."""


@contextmanager
def watch_inputs(model: Any) -> Iterator[Mapping[int, Tensor]]:
    """By layer: what its attention reads (tokens, d_model) in this thread's run."""
    read: dict[int, Tensor] = {}
    own = threading.get_ident()

    def note(index: int, _module: nn.Module, args: Any, given: Mapping[str, Any]) -> None:
        # Visitors share a model: the hook of one also runs in the thread of another.
        if threading.get_ident() == own:
            x = given["hidden_states"] if "hidden_states" in given else args[0]
            read[index] = x[0].float()

    handles = [
        layer.self_attn.register_forward_pre_hook(partial(note, index), with_kwargs=True)
        for index, layer in enumerate(model.model.layers)
    ]
    try:
        yield read
    finally:
        for handle in handles:
            handle.remove()


def project_text(x: Tensor, indexer: Indexer) -> IndexInputs:
    """What an indexer compares in a text (length, d_model), half of each key turned."""
    index_dim = indexer.w_key.shape[-1]
    positions = torch.arange(len(x), device=x.device)
    return project_index(x, indexer, angles(positions, index_dim // 2, LONGEST))


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


MODEL = WHEEL_MODELS[0].id
CHOOSING = "scores/choosing"
PROSE, TWICE = "prose", "twice"
ORACLE, INDEXER, FIRST, WINDOW = POLICIES = "oracle", "indexer", "first", "window"
NUM_FIRST = 4
"""First tokens of a text that the third policy keeps besides a window."""
KEPT = 8, 16, 32, 48, 64, 128, 256
USUAL, FEW, SHORT = 64, 16, 48
"""Keys kept in tables and questions: of the prose, very few of it, of the text read twice."""
OWN = 16, 32, 64
"""Numbers of keys for which each head also chooses its own."""


class Passage(NamedTuple):
    """A text in one layer: its heads' mean weights (length, length), what its indexer compares."""

    tokens: list[str]
    ids: list[int]
    layer: int
    query: int
    """The token whose keys are shown at first, from 0."""
    seed: int
    """What the training of the layer's indexer began from."""
    weights: Tensor
    inputs: IndexInputs
    losses: Mapping[str, Sequence[float]]
    """By policy, for each number of `KEPT`."""
    full_loss: float

    def score_keys(self, inputs: IndexInputs | None = None) -> Tensor:
        """How much every key is worth reading, for every query (length, length)."""
        return index_scores(*(inputs or self.inputs))


class Shipped(NamedTuple):
    """All that is kept."""

    passages: dict[str, Passage]
    numbers: dict[str, Any]


def read_shipped_indexers(model: str) -> Shipped | None:
    """What came with the app, if it was measured with this model and these weights."""
    return read_indexers() if holds_for(model, CHOOSING) else None


@functools.cache
def read_indexers() -> Shipped:
    """What came with the app, whatever model is on this machine."""
    measured = kept.read(CHOOSING)
    numbers, tensors = measured.numbers, measured.read_tensors()
    passages = {name: _read_passage(told, name, tensors) for name, told in numbers["texts"].items()}
    return Shipped(passages, numbers)


def _read_passage(told: Mapping[str, Any], name: str, tensors: Mapping[str, Tensor]) -> Passage:
    length = len(told["tokens"])
    weights = torch.zeros(length, length)
    rows, columns = torch.tril_indices(length, length)
    weights[rows, columns] = tensors[f"{name}: weights"].float()
    inputs = IndexInputs(*(tensors[f"{name}: {part}"] for part in IndexInputs._fields))
    names = "tokens", "ids", "layer", "query", "seed", "losses"
    said = {name: told[name] for name in names}
    return Passage(**said, weights=weights, inputs=inputs, full_loss=told["full"])
