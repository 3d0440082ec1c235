"""Computes what each head of SmolLM2 writes after the running prompt, and keeps it.

`python -m workshop.models.compute_writings` takes seconds; with `--check` it compares.
"""

import sys

import torch
from torch import Tensor

from explainers import kept
from explainers.models.layer_by_layer import Writing, compute_writing, find_decoder
from explainers.models.load import RealModel, load_model
from explainers.models.replaced_heads import read_pair
from explainers.models.shipped_measurements import MODEL, PAIR, WRITINGS, read_writings
from explainers.models.token_text import label_ids
from workshop.keep import keep_of_model

LOGITS, TOKENS = "logits", "share of other tokens"
TOLERANCE = {LOGITS: 1e-2, TOKENS: 1e-2}
"""What two machines may differ by, and what half precision rounds away."""


def compute_writings(loaded: RealModel) -> Writing:
    """Of all heads, after the first prompt of the running pair."""
    decoder = find_decoder(loaded)
    read = read_pair(loaded, decoder, PAIR)
    layers = [
        compute_writing(decoder, read.stream, layer, read.answers)
        for layer in range(decoder.num_layers)
    ]
    return Writing(*(torch.stack(parts) for parts in zip(*layers, strict=True)))


def write_shipped_writings() -> None:
    """Compute them and keep them."""
    loaded = load_model(MODEL)
    found = compute_writings(loaded)
    short = found._replace(ids=found.ids.to(torch.int32), logits=found.logits.half())
    ids = sorted({*found.ids.flatten().tolist()})
    labels = dict(zip(ids, label_ids(loaded.tokenizer, ids), strict=True))
    command, numbers = "python -m workshop.models.compute_writings", {"labels": labels}
    keep_of_model(WRITINGS, MODEL, command, TOLERANCE, numbers, short._asdict())


def find_difference(stored: Writing, computed: Writing) -> float:
    """The largest between two of all heads, in weights, leads and logits.

    Which of two equal tokens comes first is nothing that two machines need to agree on.
    """
    names = "weights", "leads", "logits"
    pairs: list[tuple[Tensor, Tensor]] = [(getattr(stored, n), getattr(computed, n)) for n in names]
    return max(float((one - other).abs().max()) for one, other in pairs)


def check() -> int:
    """Compute all of it again; 1 if it differs from what is kept."""
    stored, tolerance = read_writings().writing, kept.read(WRITINGS).tolerance
    computed = compute_writings(load_model(MODEL))
    difference = find_difference(stored, computed)
    same = float((stored.ids == computed.ids).float().mean())
    heads = computed.weights.shape[:2].numel()
    print(f"{heads} heads: {difference:.5f} logits apart at most; {same:.4f} of the tokens alike")
    return int(difference > tolerance[LOGITS] or 1 - same > tolerance[TOKENS])


if __name__ == "__main__":
    if "--check" in sys.argv[1:]:
        sys.exit(check())
    write_shipped_writings()
