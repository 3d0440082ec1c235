"""How SmolLM2 goes on with a text, and what a smaller cache costs it; kept with the app."""

import functools
import json
from typing import TYPE_CHECKING, NamedTuple

from torch import Tensor

from explainers.models.registry import WHEEL_MODELS
from explainers.models.shipped_scores import FOLDER, has_other_weights, is_shipped, read_tensors
from explainers.models.told_steps import ToldStep
from explainers.models.written_tokens import Sampling

if TYPE_CHECKING:
    pass

MODEL = WHEEL_MODELS[0].id
FILE = FOLDER / f"{MODEL.split('/')[-1]}.writing.safetensors"
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
    if model != MODEL or not is_shipped(model, FILE):
        return None
    shipped, fingerprint = read_file()
    return None if has_other_weights(model, fingerprint) else shipped


@functools.cache
def read_file() -> tuple[ShippedWriting, str]:
    tensors, described = read_tensors(FILE)
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
