"""Models that learned on texts of 32 tokens: how RoPE's pairs turn in them, also slowed down."""

import torch
from torch import Tensor

from explainers.attention.rotary import angles
from explainers.attention.stretching import (
    find_slowed_share,
    interpolate,
    interpolate_slow_pairs,
    raise_base,
)

ROTARY, PARTIAL, NOWHERE = KINDS = "rope", "partial", "none"
PLAIN, PI, NTK, YARN = WAYS = "plain", "pi", "ntk", "yarn"
TRAINED, ROTARY_BASE, HEAD_DIM = 32, 10_000.0, 32
PAIRS = HEAD_DIM // 2
TURNED_NUMBERS = {ROTARY: HEAD_DIM, PARTIAL: HEAD_DIM // 2, NOWHERE: 0}
"""How many numbers of a head RoPE turns."""


def find_speeds(kind: str, way: str, factor: float) -> Tensor:
    """Radians per position of each pair (pairs,); 0 for pairs that are not turned at all."""
    turned = TURNED_NUMBERS[kind]
    if not turned:
        return torch.zeros(PAIRS)
    plain = angles(torch.ones(1), turned, ROTARY_BASE)[0]
    share = find_slowed_share(turned, ROTARY_BASE, TRAINED)
    speed = {
        PLAIN: plain,
        PI: interpolate(plain, factor),
        NTK: raise_base(turned, ROTARY_BASE, factor),
        YARN: interpolate_slow_pairs(plain, factor, share),
    }[way]
    return torch.cat([speed, torch.zeros(PAIRS - len(speed))])
