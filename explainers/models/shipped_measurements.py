"""What was measured of SmolLM2 and is kept: replaced heads, what they write, texts, roles."""

import functools
import json
from typing import Any, NamedTuple

from torch import Tensor

from explainers.messages import N_
from explainers.models.layer_by_layer import DirectEffects, Writing
from explainers.models.registry import WHEEL_MODELS
from explainers.models.replaced_heads import KINDS, Estimate, Pair, Patching, summarise
from explainers.models.shipped_scores import FOLDER, read_of_same_weights, read_tensors
from explainers.models.written_tokens import Sampling, ToldStep

MODEL = WHEEL_MODELS[0].id
ABLATIONS_FILE = FOLDER / f"{MODEL.split('/')[-1]}.ablations.safetensors"
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


def read_shipped_ablations(model: str) -> ShippedAblations | None:
    """What came with the app, unless the model on this machine has other weights."""
    if model != MODEL:
        return None
    return read_of_same_weights(model, ABLATIONS_FILE, read_ablations_file)


def read_kept() -> ShippedAblations:
    """The same, whatever model is on this machine."""
    return read_ablations_file()[0]


@functools.cache
def read_ablations_file() -> tuple[ShippedAblations, str]:
    tensors, described = read_tensors(ABLATIONS_FILE)
    ablations = Ablations(*(tensors[name].float() for name in Ablations._fields))
    kept = json.loads(described["pairs"])
    pairs = {name: _unpack_pair(name, tensors, kept[name]) for name in kept}
    return ShippedAblations(ablations, pairs), described["fingerprint"]


def _unpack_pair(
    name: str, tensors: dict[str, Tensor], kept: dict[str, list[list[str]]]
) -> Patching:
    effects, null, heads, mlps, leads = (
        tensors[f"{name}: {what}"] for what in ("effects", "null", "heads", "mlps", "leads")
    )
    clean, other, embedding = leads.tolist()
    tokens = kept["tokens"]
    direct = DirectEffects(heads, mlps, embedding, clean)
    return Patching((tokens[0], tokens[1]), (clean, other), effects, null, direct)


WRITINGS_FILE = FOLDER / f"{MODEL.split('/')[-1]}.writings.safetensors"
PAIR = PAIRS["capital"]


class Writings(NamedTuple):
    """A Writing of all layers (layers, …), and what its tokens are called."""

    writing: Writing
    labels: dict[int, str]


def read_shipped_writings() -> Writings | None:
    """What came with the app, unless the model on this machine has other weights."""
    return read_of_same_weights(MODEL, WRITINGS_FILE, read_writings_file)


@functools.cache
def read_writings_file() -> tuple[Writings, str]:
    tensors, described = read_tensors(WRITINGS_FILE)
    labels = {int(one): label for one, label in json.loads(described["labels"]).items()}
    writing = Writing(
        *(
            tensors[name].long() if name == "ids" else tensors[name].float()
            for name in Writing._fields
        )
    )
    return Writings(writing, labels), described["fingerprint"]


TEXTS_FILE = FOLDER / f"{MODEL.split('/')[-1]}.writing.safetensors"
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


def read_shipped_writing(model: str) -> ShippedWriting | None:
    """What came with the app, unless the model on this machine has other weights."""
    if model != MODEL:
        return None
    return read_of_same_weights(model, TEXTS_FILE, read_texts_file)


@functools.cache
def read_texts_file() -> tuple[ShippedWriting, str]:
    tensors, described = read_tensors(TEXTS_FILE)
    names: list[str] = json.loads(described["savings"])
    kept: dict[str, list[list[object]]] = json.loads(described["texts"])
    prompt: list[str] = json.loads(described["prompt"])
    texts = {
        name: WrittenText(prompt, SAMPLINGS[name], SEED, [ToldStep(*one) for one in steps])  # type: ignore[arg-type]
        for name, steps in kept.items()
    }
    losses = dict(zip(names, tensors["losses"], strict=True))
    return ShippedWriting(
        texts, losses, json.loads(described["shape"]), tensors["spread"]
    ), described["fingerprint"]


ROLES_FILE = FOLDER / "why_by_role.json"
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
    return read_of_same_weights(MODEL, ROLES_FILE, read_roles_file)


@functools.cache
def read_roles_file() -> tuple[list[RoleResult], str]:
    kept: dict[str, Any] = json.loads(ROLES_FILE.read_text(encoding="utf-8"))
    return [RoleResult(*one) for one in kept["results"]], kept["fingerprint"]
