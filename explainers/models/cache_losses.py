"""What a smaller cache costs a real model: rows thrown away, or kept in few bits, on eight texts.

Every token is read as it stands in the text (teacher forcing); only what the cache holds differs.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import torch
from torch import Tensor

from explainers.attention.group_rounding import round_in_channels, round_in_tokens
from explainers.attention.rotary import angles, rotate_halves
from explainers.models.attention_hook import AttentionCall, Change, run_model
from explainers.models.changes import compute_losses

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


def count_bits(bits: int) -> float:
    """What a number takes that is kept in so many bits, its share of the group's step included."""
    return bits + SCALE_BITS / GROUP
