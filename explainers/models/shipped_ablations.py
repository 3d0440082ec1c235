"""What each head of SmolLM2 is worth, kept with the app: losses without it, and a pair patched."""

import functools
import json
from typing import NamedTuple

from torch import Tensor

from explainers.models.direct_effect import DirectEffects
from explainers.models.head_ablation import KINDS, Estimate, summarise
from explainers.models.patching import Pair, Patching
from explainers.models.registry import WHEEL_MODELS
from explainers.models.shipped_scores import FOLDER, has_other_weights, is_shipped, read_tensors

MODEL = WHEEL_MODELS[0].id
FILE = FOLDER / f"{MODEL.split('/')[-1]}.ablations.safetensors"
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
    if model != MODEL or not is_shipped(model, FILE):
        return None
    shipped, fingerprint = read_file()
    return None if has_other_weights(model, fingerprint) else shipped


def read_kept() -> ShippedAblations:
    """The same, whatever model is on this machine."""
    return read_file()[0]


@functools.cache
def read_file() -> tuple[ShippedAblations, str]:
    tensors, described = read_tensors(FILE)
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
