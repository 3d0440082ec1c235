"""What each head of SmolLM2 is worth, kept with the app: losses without it, and a pair patched.

`python -m explainers.models.shipped_ablations` measures again (25 minutes of one core) and writes
`assets/scores`; with `--check` it measures two heads and compares.
"""

import functools
import json
import sys
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from explainers.models.direct_effect import DirectEffects
from explainers.models.head_ablation import KINDS, Estimate, measure_head, read_baseline, summarise
from explainers.models.layer_by_layer import Decoder, find_decoder
from explainers.models.load import RealModel, load_model
from explainers.models.patching import Pair, Patching, patch_pair
from explainers.models.probes import make_natural_probe
from explainers.models.registry import WHEEL_MODELS
from explainers.models.shipped_scores import (
    FOLDER,
    has_other_weights,
    is_shipped,
    read_tensors,
    write_tensors,
)

MODEL = WHEEL_MODELS[0].id
FILE = FOLDER / f"{MODEL.split('/')[-1]}.ablations.safetensors"
PAIRS = {"capital": Pair("The capital of France is", "The capital of Japan is", "Paris", "Tokyo")}
"""What is shown before a model is loaded."""
SAMPLE = (1, 5), (18, 6)
"""The heads that `--check` and the tests measure again: zero misleads; induction costs nothing."""
SAME = 2e-3
"""Nats: what two machines may differ by."""

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
    shipped, fingerprint = _read_file()
    return None if has_other_weights(model, fingerprint) else shipped


def read_kept() -> ShippedAblations:
    """The same, whatever model is on this machine."""
    return _read_file()[0]


@functools.cache
def _read_file() -> tuple[ShippedAblations, str]:
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


def _pack_pair(name: str, one: Patching) -> dict[str, Tensor]:
    packed = {
        "effects": one.effects,
        "null": one.null,
        "heads": one.direct.heads,
        "mlps": one.direct.mlps,
        "leads": torch.tensor([*one.leads, one.direct.embedding]),
    }
    return {f"{name}: {what}": tensor.float().contiguous() for what, tensor in packed.items()}


def measure_all(
    decoder: Decoder, ids: Tensor, report: Callable[[Place], None] = lambda _: None
) -> Ablations:
    """Every head, on texts ids (texts, tokens)."""
    baseline = read_baseline(decoder, ids)
    rises = torch.empty(len(KINDS), decoder.num_layers, decoder.num_heads, len(ids))
    for layer in range(decoder.num_layers):
        for head in range(decoder.num_heads):
            for row, kind in enumerate(KINDS):
                rises[row, layer, head] = measure_head(decoder, baseline, (layer, head), kind)
            report((layer, head))
    return Ablations(rises, baseline.losses)


def measure_sample(loaded: RealModel, places: tuple[Place, ...] = SAMPLE) -> Tensor:
    """A few heads as they were measured (kinds, heads, texts)."""
    decoder = find_decoder(loaded)
    baseline = read_baseline(decoder, make_natural_probe(loaded).ids)
    return torch.stack(
        [
            torch.stack([measure_head(decoder, baseline, place, kind) for place in places])
            for kind in KINDS
        ]
    )


def find_difference(kept: Ablations, measured: Tensor, places: tuple[Place, ...] = SAMPLE) -> float:
    """The largest between what is kept and what was measured now, in nats."""
    layers, heads = zip(*places, strict=True)
    return float((kept.rises[:, list(layers), list(heads)] - measured).abs().max())


def write_shipped_ablations() -> None:
    """Measure SmolLM2 and write its file."""
    loaded = load_model(MODEL)
    decoder = find_decoder(loaded)
    pairs = {name: patch_pair(loaded, decoder, pair) for name, pair in PAIRS.items()}
    found = measure_all(
        decoder, make_natural_probe(loaded).ids, lambda place: print(*place, flush=True)
    )
    tensors = {name: tensor.contiguous() for name, tensor in found._asdict().items()}
    for name, one in pairs.items():
        tensors |= _pack_pair(name, one)
    told = {name: {"tokens": one.tokens} for name, one in pairs.items()}
    write_tensors(FILE, MODEL, tensors, {"pairs": json.dumps(told)})
    print(f"{FILE.name}: {FILE.stat().st_size / 1000:.0f} kB")


def check() -> int:
    """Measure the sample again; 1 if it differs from what is kept."""
    kept, _ = _read_file()
    difference = find_difference(kept.ablations, measure_sample(load_model(MODEL)))
    print(f"{len(SAMPLE)} heads measured again: {difference:.5f} nats apart at most")
    return int(difference > SAME)


if __name__ == "__main__":
    if "--check" in sys.argv[1:]:
        sys.exit(check())
    write_shipped_ablations()
