"""How SmolLM2 goes on with a text, and what a smaller cache costs it; kept with the app.

`python -m explainers.models.shipped_writing` writes the texts and measures the losses again
(minutes); with `--check` it writes one text and measures some losses, and compares.
"""

import functools
import json
import sys
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from explainers.models.cache_losses import (
    FULL,
    KEYS,
    RING,
    TOKEN,
    find_rope_base,
    list_savings,
    measure_savings,
    measure_spread,
    name_rounding,
    read_prose,
)
from explainers.models.changes import count_heads
from explainers.models.registry import WHEEL_MODELS
from explainers.models.shipped_scores import (
    FOLDER,
    has_other_weights,
    is_shipped,
    read_tensors,
    write_tensors,
)
from explainers.models.told_steps import ToldStep, tell_step
from explainers.models.written_tokens import Sampling, write_tokens

if TYPE_CHECKING:
    from explainers.models.load import RealModel

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
CHECKED = FULL, RING, name_rounding(KEYS, TOKEN, 2)
SPREAD_TEXTS = 2
"""Texts over which the channels are compared."""
SAME = 2e-3
"""Nats, and shares: what two machines may differ by."""


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
    shipped, fingerprint = _read_file()
    return None if has_other_weights(model, fingerprint) else shipped


@functools.cache
def _read_file() -> tuple[ShippedWriting, str]:
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


def write_text(loaded: "RealModel", name: str) -> WrittenText:
    """One of the texts, written now."""
    ids = loaded.tokenizer(PROMPT, return_tensors="pt")["input_ids"].to(loaded.model.device)
    generator = torch.Generator().manual_seed(SEED)
    steps = write_tokens(loaded.model, ids, NUM_WRITTEN, SAMPLINGS[name], generator)
    prompt = [str(loaded.tokenizer.decode([one])) for one in ids[0].tolist()]
    told = [tell_step(step, loaded.tokenizer) for step in steps]
    return WrittenText(prompt, SAMPLINGS[name], SEED, told)


def find_cache_shape(loaded: "RealModel") -> list[int]:
    """Layers, KV heads, numbers of a key, bytes of a number: with 2, a token's bytes."""
    counts = count_heads(loaded)
    layers, kv_heads = len(counts.num_kv_heads), counts.num_kv_heads[0]
    return [layers, kv_heads, counts.head_dim, loaded.model.dtype.itemsize]


def write_shipped_writing() -> None:
    """Let SmolLM2 write and read, and keep what is shown of it."""
    from explainers.models.load import load_model

    loaded = load_model(MODEL)
    texts = {name: write_text(loaded, name) for name in SAMPLINGS}
    savings = list_savings(find_rope_base(loaded))
    prose = read_prose(loaded)
    spread = measure_spread(loaded, prose[:SPREAD_TEXTS])
    losses = measure_savings(loaded, prose, savings, lambda name: print(name, flush=True))
    described = {
        "savings": json.dumps(list(savings)),
        "prompt": json.dumps(texts[GREEDY].prompt),
        "shape": json.dumps(find_cache_shape(loaded)),
        "texts": json.dumps({name: one.steps for name, one in texts.items()}),
    }
    write_tensors(FILE, MODEL, {"losses": losses, "spread": spread}, described)
    print(f"{FILE.name}: {FILE.stat().st_size / 1000:.0f} kB")


def find_difference(kept: ShippedWriting, text: WrittenText, name: str) -> float:
    """The largest between the probabilities of a text as it is kept, and written now."""
    pairs = zip(kept.texts[name].steps, text.steps, strict=True)
    return max(
        abs(one.probability - now.probability) if one.token == now.token else 1.0
        for one, now in pairs
    )


def measure_again(loaded: "RealModel", num_texts: int) -> dict[str, Tensor]:
    """Some of the losses (texts,), of the first texts."""
    savings = list_savings(find_rope_base(loaded))
    some = {name: savings[name] for name in CHECKED}
    found = measure_savings(loaded, read_prose(loaded)[:num_texts], some)
    return dict(zip(some, found, strict=True))


def check() -> int:
    """Write and measure a part again; 1 if it differs from what is kept."""
    from explainers.models.load import load_model

    kept, _ = _read_file()
    loaded = load_model(MODEL)
    apart = find_difference(kept, write_text(loaded, GREEDY), GREEDY)
    again = measure_again(loaded, 2)
    losses = max(float((kept.losses[name][:2] - row).abs().max()) for name, row in again.items())
    spread = measure_spread(loaded, read_prose(loaded)[:SPREAD_TEXTS])
    channels = float((spread / kept.spread - 1).abs().max())
    print(f"probabilities {apart:.5f} apart at most, losses {losses:.5f} nats, {channels:.5f}")
    return int(max(apart, losses, channels) > SAME)


if __name__ == "__main__":
    if "--check" in sys.argv[1:]:
        sys.exit(check())
    write_shipped_writing()
