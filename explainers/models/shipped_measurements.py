"""What is known of models beforehand: scores of heads, of SmolLM2 also replaced heads and texts.

It came with the app, or was kept on this machine. A file also says how each head reads one short
text, and of which weights all this was measured.

>>> find_first_repeated(["The", " CEO", " and", " the", " CEO"])
4
"""

import contextlib
import functools
import hashlib
import os
from pathlib import Path
from typing import NamedTuple

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from explainers import kept
from explainers.job_queue import Job
from explainers.messages import N_
from explainers.models import head_scores, probes
from explainers.models.head_scores import HeadScores, measure_heads
from explainers.models.layer_by_layer import DirectEffects, Writing
from explainers.models.load import load_model
from explainers.models.model_files import list_weight_files
from explainers.models.registry import WHEEL_MODELS, ModelError, locate_store, resolve_folder
from explainers.models.replaced_heads import Pair, Patching
from explainers.models.written_tokens import Sampling, ToldStep

LEVELS = 255
"""A weight of the example is kept as a whole number up to this."""
EXAMPLE_PART = "example"
_SAMPLE = 1 << 20


class Example(NamedTuple):
    """A short text in tokens, and the weights (layers, heads, tokens, tokens) of all heads on it.

    ids (tokens,); `first_repeated` is the first word that has been there before.
    """

    tokens: list[str]
    ids: Tensor
    weights: Tensor
    first_repeated: int


class ShippedScores(NamedTuple):
    """What came with the app."""

    scores: HeadScores
    example: Example


def find_known_scores(model: str) -> HeadScores | None:
    """The scores of a model: as measured on this machine, else as they came with the app."""
    shipped = None if (measured := read_scores(model)) else read_shipped_scores(model)
    return measured or (shipped.scores if shipped else None)


def read_shipped_scores(model: str) -> ShippedScores | None:
    """What came with the app, unless the model on this machine has other weights."""
    if model not in {one.id for one in WHEEL_MODELS}:
        return None
    name = name_scores(model)
    return _read_scores(name) if holds_for(model, name) else None


def name_scores(model: str) -> str:
    """What the scores of a model are kept under."""
    return f"scores/{model.split('/')[-1]}"


def holds_for(model: str, name: str) -> bool:
    """Was this measured of the model, and has it no other weights on this machine?"""
    try:
        measured = kept.read(name)
    except FileNotFoundError:  # a model that is new in the registry
        return False
    return measured.origin == model and not has_other_weights(model, measured.fingerprint)


def has_other_weights(model: str, fingerprint: str) -> bool:
    """Does the model on this machine, if there is one, have other weights than were measured?"""
    try:
        folder = resolve_folder(model)
        is_here = folder.is_dir() and bool(list_weight_files(folder))
        return is_here and compute_fingerprint(folder) != fingerprint
    except (OSError, ModelError):
        return False  # no weights here that could be others


def compute_fingerprint(folder: Path) -> str:
    """Tells weights apart: the sizes of the files, and the first and last megabyte of each."""
    files = sorted(list_weight_files(folder))
    return _hash_files(
        tuple((file, file.stat().st_size, file.stat().st_mtime_ns) for file in files)
    )


@functools.lru_cache(maxsize=8)
def _hash_files(files: tuple[tuple[Path, int, int], ...]) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for file, size, _time in files:
        digest.update(f"{size}".encode())
        with file.open("rb") as opened:
            digest.update(opened.read(_SAMPLE))
            opened.seek(max(0, size - _SAMPLE))
            digest.update(opened.read())
    return digest.hexdigest()


@functools.lru_cache(maxsize=4)
def _read_scores(name: str) -> ShippedScores:
    measured = kept.read(name)
    tensors, tokens = measured.read_tensors(), measured.numbers["tokens"]
    ids, levels = (tensors.pop(f"{EXAMPLE_PART}: {what}") for what in ("ids", "weights"))
    example = Example(tokens, ids, levels.float() / LEVELS, find_first_repeated(tokens))
    return ShippedScores(HeadScores(tensors), example)


def find_first_repeated(tokens: list[str]) -> int:
    """The place of the first word that stood there before; 0 if none did."""
    words = [token.strip() for token in tokens]
    repeated = (n for n, word in enumerate(words) if word.isalnum() and word in words[:n])
    return next(repeated, 0)


RUNS = 3
"""How often `measure_heads` runs the model."""
_CODE = (head_scores, probes)

HeadScoresJob = Job[str, str, HeadScores]
"""Of a model's name; it reports in words how many layers have been read."""


def make_head_scores_job(model: str) -> HeadScoresJob:
    """The scores of one model."""
    return Job(model, find_scores)


def find_scores(job: HeadScoresJob) -> HeadScores:
    """Measure all heads and save it, or read what was measured for another visitor meanwhile."""
    if known := read_scores(job.subject):
        return known
    loaded = load_model(job.subject)
    job.total = RUNS * loaded.model.config.num_hidden_layers

    def report(_: int) -> None:
        job.report(N_("{done} of {all} layers", done=len(job.reports) + 1, all=job.total))

    scores = measure_heads(loaded, report)
    save_scores(job.subject, scores)
    return scores


def read_scores(model: str) -> HeadScores | None:
    """The scores of a model as they were measured before, by this code on these weights."""
    try:
        return HeadScores(load_file(locate_scores(model)))
    except (OSError, SafetensorError, ModelError):
        return None


def save_scores(model: str, scores: HeadScores) -> None:
    """For the next start; whole or not at all. A disk that is full costs only the time again."""
    file = locate_scores(model)
    unfinished = file.with_suffix(f".{os.getpid()}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        tensors = {name: tensor.contiguous() for name, tensor in scores.tensors.items()}
        save_file(tensors, unfinished)
        unfinished.replace(file)
    except (OSError, SafetensorError):
        with contextlib.suppress(OSError):
            unfinished.unlink(missing_ok=True)


def locate_scores(model: str) -> Path:
    """A name that is another one for other weights, other probes, or other code."""
    folder = resolve_folder(model)
    digest = hashlib.blake2b(torch.__version__.encode(), digest_size=12)
    code = [Path(str(module.__file__)) for module in _CODE]
    for file in [*code, probes.PASSAGES_FILE, probes.GRAMMAR_FILE]:
        digest.update(file.read_bytes())
    for file in list_weight_files(folder):
        status = file.stat()
        digest.update(f"{file}{status.st_size}{status.st_mtime_ns}".encode())
    return locate_store() / "scores" / f"{folder.name}.{digest.hexdigest()}.safetensors"


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

    def unpack(name: str, first: list[str], second: list[str]) -> Patching:
        tensors = measured.read_tensors(f"{name}: ")
        clean, other, embedding = tensors["leads"].tolist()
        direct = DirectEffects(tensors["heads"], tensors["mlps"], embedding, clean)
        effects = tensors["effects"], tensors["null"]
        return Patching((first, second), (clean, other), *effects, direct)

    pairs = {name: unpack(name, *tokens) for name, tokens in measured.numbers["pairs"].items()}
    tensors = measured.read_tensors()
    return ShippedAblations(
        Ablations(*(tensors[name].float() for name in Ablations._fields)), pairs
    )


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
    parts = {name: tensors[name].float() for name in Writing._fields}
    writing = Writing(**parts | {"ids": tensors["ids"].long()})
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
