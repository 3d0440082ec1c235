"""Measures what each head of SmolLM2 is worth, and writes it.

`python -m workshop.models.measure_ablations` takes 25 minutes of one core; with `--check` it
measures two heads and compares.
"""

import sys
from collections.abc import Callable

import torch
from torch import Tensor

from explainers import kept
from explainers.models.layer_by_layer import Decoder, find_decoder, read_stream
from explainers.models.load import RealModel, load_model
from explainers.models.probes import make_natural_probe
from explainers.models.replaced_heads import (
    KINDS,
    Baseline,
    Patching,
    compute_text_losses,
    measure_head,
    patch_pair,
)
from explainers.models.shipped_measurements import (
    ABLATIONS,
    MODEL,
    PAIRS,
    SAMPLE,
    Ablations,
    Place,
    read_ablations,
)
from workshop.keep import keep_of_model

NATS = "nats"
TOLERANCE = {NATS: 2e-3}
"""What two machines may differ by."""


def _pack_pair(name: str, one: Patching) -> dict[str, Tensor]:
    packed = {
        "effects": one.effects,
        "null": one.null,
        "heads": one.direct.heads,
        "mlps": one.direct.mlps,
        "leads": torch.tensor([*one.leads, one.direct.embedding]),
    }
    return {f"{name}: {what}": tensor.float() for what, tensor in packed.items()}


def read_baseline(decoder: Decoder, ids: Tensor) -> Baseline:
    """Read texts, ids (texts, tokens) of one length; the first token is in no mean."""
    stream = read_stream(decoder, ids)
    means = [outputs[:, 1:].mean(dim=(0, 1)) for outputs in stream.heads]
    with torch.no_grad():
        return Baseline(stream, means, compute_text_losses(decoder, stream.end, ids))


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


def find_difference(
    stored: Ablations, measured: Tensor, places: tuple[Place, ...] = SAMPLE
) -> float:
    """The largest between what is kept and what was measured now, in nats."""
    layers, heads = zip(*places, strict=True)
    return float((stored.rises[:, list(layers), list(heads)] - measured).abs().max())


def write_shipped_ablations() -> None:
    """Measure SmolLM2 and keep it."""
    loaded = load_model(MODEL)
    decoder = find_decoder(loaded)
    pairs = {name: patch_pair(loaded, decoder, pair) for name, pair in PAIRS.items()}
    found = measure_all(
        decoder, make_natural_probe(loaded).ids, lambda place: print(*place, flush=True)
    )
    tensors = found._asdict()
    for name, one in pairs.items():
        tensors |= _pack_pair(name, one)
    numbers = {"pairs": {name: one.tokens for name, one in pairs.items()}}
    command = "python -m workshop.models.measure_ablations"
    keep_of_model(ABLATIONS, MODEL, command, TOLERANCE, numbers, tensors)


def check() -> int:
    """Measure the sample again; 1 if it differs from what is kept."""
    measured = measure_sample(load_model(MODEL))
    difference = find_difference(read_ablations().ablations, measured)
    print(f"{len(SAMPLE)} heads measured again: {difference:.5f} nats apart at most")
    return int(difference > kept.read(ABLATIONS).tolerance[NATS])


if __name__ == "__main__":
    if "--check" in sys.argv[1:]:
        sys.exit(check())
    write_shipped_ablations()
