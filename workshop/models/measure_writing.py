"""Lets SmolLM2 write, measures what a smaller cache costs it, and keeps both.

`python -m workshop.models.measure_writing` takes minutes; with `--check` it writes one text and
measures some losses, and compares.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from explainers import kept
from explainers.folders import ASSETS
from explainers.messages import N_
from explainers.models.attention_hook import Change, run_model
from explainers.models.changes import (
    BEFORE,
    BITS,
    CHANNEL,
    FEWER_ROWS,
    FEWEST_SINKS,
    FULL,
    KEYS,
    LENGTH,
    NUM_TEXTS,
    RING,
    ROWS,
    SHORT_RING,
    SHORT_SINKS,
    SINKS,
    TOKEN,
    VALUES,
    RoundedRows,
    Window,
    count_heads,
    measure_text,
    name_rounding,
)
from explainers.models.registry import ModelError
from explainers.models.shipped_measurements import (
    GREEDY,
    MODEL,
    NUM_WRITTEN,
    PROMPT,
    SAMPLINGS,
    SEED,
    TEXTS,
    ShippedWriting,
    WrittenText,
    read_texts,
)
from explainers.models.written_tokens import tell_step, write_tokens
from workshop.keep import keep_of_model

if TYPE_CHECKING:
    from explainers.models.load import RealModel

CHECKED = FULL, RING, name_rounding(KEYS, TOKEN, 2)
FILES = "passages.txt", "reading.txt"
SPREAD_TEXTS = 2
"""Texts over which the channels are compared."""
NATS = "nats, and shares"
TOLERANCE = {NATS: 2e-3}
"""What two machines may differ by."""


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
    numbers = {
        "prompt": texts[GREEDY].prompt,
        "shape": find_cache_shape(loaded),
        "savings": list(savings),
        "texts": {name: one.steps for name, one in texts.items()},
    }
    command, tensors = "python -m workshop.models.measure_writing", {"losses": losses}
    keep_of_model(TEXTS, MODEL, command, TOLERANCE, numbers, tensors | {"spread": spread})


def find_difference(stored: ShippedWriting, text: WrittenText, name: str) -> float:
    """The largest between the probabilities of a text as it is kept, and written now."""
    pairs = zip(stored.texts[name].steps, text.steps, strict=True)
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

    stored = read_texts()
    loaded = load_model(MODEL)
    apart = find_difference(stored, write_text(loaded, GREEDY), GREEDY)
    again = measure_again(loaded, 2)
    losses = max(float((stored.losses[name][:2] - row).abs().max()) for name, row in again.items())
    spread = measure_spread(loaded, read_prose(loaded)[:SPREAD_TEXTS])
    channels = float((spread / stored.spread - 1).abs().max())
    print(f"probabilities {apart:.5f} apart at most, losses {losses:.5f} nats, {channels:.5f}")
    return int(max(apart, losses, channels) > kept.read(TEXTS).tolerance[NATS])


def list_savings(longest: float) -> dict[str, tuple[Change, ...]]:
    """By name: what is changed in the model; `longest` is the base of its RoPE."""
    savings: dict[str, tuple[Change, ...]] = {
        FULL: (),
        RING: (Window(width=ROWS),),
        SINKS: (Window(width=ROWS - FEWEST_SINKS, sinks=FEWEST_SINKS),),
        SHORT_RING: (Window(width=FEWER_ROWS),),
        SHORT_SINKS: (Window(width=FEWER_ROWS - FEWEST_SINKS, sinks=FEWEST_SINKS),),
    }
    for bits in BITS:
        for way in (TOKEN, CHANNEL, BEFORE):
            base = longest if way == BEFORE else None
            rounded = RoundedRows(part="key", bits=bits, is_in_channels=way != TOKEN, longest=base)
            savings[name_rounding(KEYS, way, bits)] = (rounded,)
        for way in (TOKEN, CHANNEL):
            rounded = RoundedRows(part="value", bits=bits, is_in_channels=way == CHANNEL)
            savings[name_rounding(VALUES, way, bits)] = (rounded,)
    return savings


def find_rope_base(loaded: "RealModel") -> float:
    """How slowly the slowest pair turns; ModelError unless all of a key is turned, and only so."""
    config = loaded.model.config.get_text_config()
    found = getattr(config, "rope_parameters", None) or {}
    is_plain = found.get("rope_type") == "default" and found.get("partial_rotary_factor", 1) == 1
    if not is_plain:
        raise ModelError(N_("{model} turns its keys in a way of its own.", model=loaded.name))
    return float(found["rope_theta"])


def read_prose(loaded: "RealModel") -> Tensor:
    """Prose written for this app, cut into pieces: ids (texts, tokens)."""
    pieces: list[list[int]] = []
    for name in FILES:
        text = (ASSETS / "text" / name).read_text(encoding="utf-8")
        ids = loaded.tokenizer(text, verbose=False)["input_ids"]
        pieces += [ids[at : at + LENGTH] for at in range(0, len(ids) - LENGTH + 1, LENGTH)]
    if len(pieces) < NUM_TEXTS:
        raise ModelError(
            N_(
                "{model} finds too few tokens in the texts: {count} pieces.",
                model=loaded.name,
                count=len(pieces),
            )
        )
    return torch.tensor(pieces[:NUM_TEXTS], device=loaded.model.device)


def measure_savings(
    loaded: "RealModel",
    ids: Tensor,
    savings: Mapping[str, Sequence[Change]],
    report: Callable[[str], None] = lambda _: None,
) -> Tensor:
    """Losses (savings, texts) of ids (texts, tokens), in nats per token."""
    rows = []
    for name, changes in savings.items():
        rows.append([measure_text(loaded, one[None], changes) for one in ids])
        report(name)
    return torch.tensor(rows)


def measure_spread(loaded: "RealModel", ids: Tensor) -> Tensor:
    """How many times as large as its median channel a head's largest one is (2,): keys, values.

    By the mean size over ids (texts, tokens); the mean over all layers and KV heads.
    """
    _, layers = run_model(
        loaded.model,
        record=lambda call: torch.stack([_compare_channels(one) for one in (call.key, call.value)]),
        input_ids=ids,
        use_cache=False,
        logits_to_keep=1,
    )
    return torch.stack(layers).mean(dim=0)


def _compare_channels(rows: Tensor) -> Tensor:
    """rows (texts, kv_heads, tokens, head_dim)"""
    size = rows.abs().mean(dim=-2)
    return (size.amax(dim=-1) / size.median(dim=-1).values).mean()


if __name__ == "__main__":
    if "--check" in sys.argv[1:]:
        sys.exit(check())
    write_shipped_writing()
