"""What each head of SmolLM2 writes after the running prompt, kept with the app."""

import functools
import json
from typing import NamedTuple

from explainers.models.output_circuit import Writing
from explainers.models.registry import WHEEL_MODELS
from explainers.models.shipped_ablations import PAIRS
from explainers.models.shipped_scores import FOLDER, has_other_weights, is_shipped, read_tensors

MODEL = WHEEL_MODELS[0].id
FILE = FOLDER / f"{MODEL.split('/')[-1]}.writings.safetensors"
PAIR = PAIRS["capital"]


class Writings(NamedTuple):
    """A Writing of all layers (layers, …), and what its tokens are called."""

    writing: Writing
    labels: dict[int, str]


def read_shipped_writings() -> Writings | None:
    """What came with the app, unless the model on this machine has other weights."""
    if not is_shipped(MODEL, FILE):
        return None
    shipped, fingerprint = read_file()
    return None if has_other_weights(MODEL, fingerprint) else shipped


@functools.cache
def read_file() -> tuple[Writings, str]:
    tensors, described = read_tensors(FILE)
    labels = {int(one): label for one, label in json.loads(described["labels"]).items()}
    writing = Writing(
        *(
            tensors[name].long() if name == "ids" else tensors[name].float()
            for name in Writing._fields
        )
    )
    return Writings(writing, labels), described["fingerprint"]
