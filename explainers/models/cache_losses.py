"""What a smaller cache costs a real model: rows thrown away, or kept in few bits, on eight texts.

Every token is read as it stands in the text (teacher forcing); only what the cache holds differs.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import torch
from torch import Tensor

from explainers.attention.group_rounding import round_in_channels, round_in_tokens
from explainers.attention.rotary import angles, rotate_halves
from explainers.folders import ASSETS
from explainers.messages import N_
from explainers.models.attention_hook import AttentionCall, Change, run_model
from explainers.models.changes import Window, compute_losses
from explainers.models.registry import ModelError

if TYPE_CHECKING:
    from explainers.models.load import RealModel

LENGTH, SCORED, NUM_TEXTS = 256, 128, 8
"""Tokens of a text, of which the last are predicted for the loss; and how many texts."""
FILES = "passages.txt", "reading.txt"
GROUP = 32
"""Numbers that share a step, as KIVI (Liu et al. 2024) has it."""
FEWEST_SINKS, ROWS, FEWER_ROWS = 4, 64, 32
BITS = 8, 4, 2
SCALE_BITS = 32
"""A group's step and its lowest number, in 16 bits each."""


@dataclass(frozen=True, kw_only=True)
class RoundedRows(Change):
    """Keys or values kept in few bits: groups within a token, or within a channel.

    With `longest`, the base of RoPE, keys are rounded as they were before they were turned.
    """

    part: Literal["key", "value"]
    bits: int
    is_in_channels: bool
    longest: float | None = None

    def change_inputs(self, call: AttentionCall) -> AttentionCall:
        round_rows = round_in_channels if self.is_in_channels else round_in_tokens
        if self.part == "value":
            return replace(call, value=round_rows(call.value, self.bits, GROUP))
        if self.longest is None:
            return replace(call, key=round_rows(call.key, self.bits, GROUP))
        places = torch.arange(call.key.shape[-2], device=call.key.device)
        angle = angles(places, call.key.shape[-1], self.longest)
        before = round_rows(rotate_halves(call.key, -angle), self.bits, GROUP)
        return replace(call, key=rotate_halves(before, angle))


FULL, RING, SINKS = "full", "ring", "ring and sinks"
SHORT_RING, SHORT_SINKS = "short ring", "short ring and sinks"
KEYS, VALUES = "keys", "values"
TOKEN, CHANNEL, BEFORE = "token", "channel", "channel before RoPE"


def name_rounding(part: str, way: str, bits: int) -> str:
    """As the file of losses has it."""
    return f"{part} {way} {bits}"


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


def measure_text(loaded: "RealModel", ids: Tensor, changes: Sequence[Change]) -> float:
    """The mean loss of the last tokens of one text, ids (1, tokens), in nats per token."""
    output, _ = run_model(
        loaded.model,
        changes=changes,
        record=lambda _: None,
        input_ids=ids,
        use_cache=False,
        logits_to_keep=SCORED + 1,
    )
    scored = ids[:, -SCORED - 1 :]
    return float(compute_losses(output.logits.float().log_softmax(dim=-1), scored).mean())


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


def count_bits(bits: int) -> float:
    """What a number takes that is kept in so many bits, its share of the group's step included."""
    return bits + SCALE_BITS / GROUP
