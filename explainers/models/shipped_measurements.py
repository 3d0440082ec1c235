"""What was measured of SmolLM2 and is kept: replaced heads, what they write, texts, roles."""

import functools
from typing import NamedTuple

from torch import Tensor

from explainers import kept
from explainers.messages import N_
from explainers.models.layer_by_layer import DirectEffects, Writing
from explainers.models.registry import WHEEL_MODELS
from explainers.models.replaced_heads import KINDS, Estimate, Pair, Patching, summarise
from explainers.models.shipped_scores import holds_for, name_scores
from explainers.models.written_tokens import Sampling, ToldStep

MODEL = WHEEL_MODELS[0].id
ABLATIONS = f"{name_scores(MODEL)}.ablations"
PAIRS = {"capital": Pair("The capital of France is", "The capital of Japan is", "Paris", "Tokyo")}
"""What is shown before a model is loaded."""
SAMPLE = (1, 5), (18, 6)
"""The heads that `--check` and the tests measure again: zero misleads; induction costs nothing."""

Place = tuple[int, int]


class Ablations(NamedTuple):
    """rises (kinds, layers, heads, texts), in nats per token; losses (texts,) without a change."""

    rises: Tensor
    losses: Tensor

    def summarise(self, place: Place, kind: str) -> Estimate:
        """Over the texts, for one head."""
        return summarise(self.rises[KINDS.index(kind)][place])


class ShippedAblations(NamedTuple):
    """All that was measured beforehand."""

    ablations: Ablations
    pairs: dict[str, Patching]


def read_shipped_ablations() -> ShippedAblations | None:
    """What came with the app, unless the model on this machine has other weights."""
    return read_ablations() if holds_for(MODEL, ABLATIONS) else None


@functools.cache
def read_ablations() -> ShippedAblations:
    """The same, whatever model is on this machine."""
    measured = kept.read(ABLATIONS)
    pairs = {name: _unpack_pair(name, tokens) for name, tokens in measured.numbers["pairs"].items()}
    tensors = measured.read_tensors()
    return ShippedAblations(
        Ablations(*(tensors[name].float() for name in Ablations._fields)), pairs
    )


def _unpack_pair(name: str, tokens: list[list[str]]) -> Patching:
    tensors = kept.read(ABLATIONS).read_tensors(f"{name}: ")
    clean, other, embedding = tensors["leads"].tolist()
    first, second = tokens
    direct = DirectEffects(tensors["heads"], tensors["mlps"], embedding, clean)
    return Patching((first, second), (clean, other), tensors["effects"], tensors["null"], direct)


WRITINGS = f"{name_scores(MODEL)}.writings"
PAIR = PAIRS["capital"]


class Writings(NamedTuple):
    """A Writing of all layers (layers, …), and what its tokens are called."""

    writing: Writing
    labels: dict[int, str]


def read_shipped_writings() -> Writings | None:
    """What came with the app, unless the model on this machine has other weights."""
    return read_writings() if holds_for(MODEL, WRITINGS) else None


@functools.cache
def read_writings() -> Writings:
    """The same, whatever model is on this machine."""
    measured = kept.read(WRITINGS)
    tensors = measured.read_tensors()
    writing = Writing(
        *(
            tensors[name].long() if name == "ids" else tensors[name].float()
            for name in Writing._fields
        )
    )
    return Writings(writing, {int(id_): label for id_, label in measured.numbers["labels"].items()})


TEXTS = f"{name_scores(MODEL)}.writing"
PROMPT = "On Friday the CEO of Northwind announced record earnings. On Monday the CEO of"
NUM_WRITTEN, SEED = 16, 0
GREEDY, USUAL, HOT = "greedy", "usual", "hot"
SAMPLINGS = {
    GREEDY: Sampling(),
    USUAL: Sampling(temperature=0.8, top_p=0.95),
    HOT: Sampling(temperature=1.6),
}
"""The texts that are shown before a model is loaded: what they are called, how they were drawn."""


class WrittenText(NamedTuple):
    """A prompt in tokens, how the next ones were drawn, and each of them."""

    prompt: list[str]
    sampling: Sampling
    seed: int
    steps: list[ToldStep]


class ShippedWriting(NamedTuple):
    """The texts by name, and the losses (texts,) of every saving by name, in nats per token.

    `shape` of the cache: layers, KV heads, numbers of a key, bytes of a number; `spread` (2,) of
    the channels of keys and of values: the largest against the median.
    """

    texts: dict[str, WrittenText]
    losses: dict[str, Tensor]
    shape: list[int]
    spread: Tensor


def read_shipped_writing() -> ShippedWriting | None:
    """What came with the app, unless the model on this machine has other weights."""
    return read_texts() if holds_for(MODEL, TEXTS) else None


@functools.cache
def read_texts() -> ShippedWriting:
    """The same, whatever model is on this machine."""
    measured = kept.read(TEXTS)
    numbers, tensors = measured.numbers, measured.read_tensors()
    texts = {
        name: WrittenText(
            numbers["prompt"], SAMPLINGS[name], SEED, [ToldStep(*step) for step in steps]
        )
        for name, steps in numbers["texts"].items()
    }
    losses = dict(zip(numbers["savings"], tensors["losses"], strict=True))
    return ShippedWriting(texts, losses, numbers["shape"], tensors["spread"])


BY_ROLE = "scores/why_by_role"
ALL, ALIKE = N_("all"), N_("all, each head alike")
"""Every large weight may be drawn; or a text and a head are, and then one of its large weights."""
DIFFUSE, NO_ROLE = N_("diffuse"), N_("no role")
WAYS = (
    *("query, into the head", "query", "query, others", "query, raw"),
    *("key, into the head", "key", "key, others"),
)
"""Three sources removed from one side: the largest or others; all layers react or only this head.

The query's largest are those of its compared bars, which leave out what all keys get alike; "raw"
are those of its raw bars.
"""


class RoleResult(NamedTuple):
    """How often the weight fell, of so many cells, in each of the `WAYS`; and medians of it.

    `medians` are of the weight as it is, then without three sources in each way.
    """

    role: str
    cells: int
    falls: list[int]
    medians: list[float]

    def share(self, way: str) -> float:
        """Of the cells, how many had a smaller weight without the sources."""
        return self.falls[WAYS.index(way)] / self.cells


def read_roles() -> list[RoleResult] | None:
    """What came with the app, unless this machine's model has other weights."""
    if not holds_for(MODEL, BY_ROLE):
        return None
    return [RoleResult(*result) for result in kept.read(BY_ROLE).numbers["results"]]
