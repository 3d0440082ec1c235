"""Stretched positions for texts longer than the trained ones (Chen et al. 2023; Peng et al. 2023):
RoPE's pairs turn more slowly, all of them alike or the slow ones only.

>>> interpolate(torch.tensor([1.0, 0.1]), factor=2.0)
tensor([0.5000, 0.0500])
"""

import math

import torch
from torch import Tensor

FAST_TURNS, SLOW_TURNS = 32, 1
"""YaRN: pairs that turn more often than the first in a trained text stay as they are, and pairs
that turn less often than the second are slowed down fully."""


def interpolate(speed: Tensor, factor: float) -> Tensor:
    """Position interpolation (Chen et al. 2023, equation 4): every pair is `factor` times slower.

    speed (pairs,) in radians per position, as `angles` has them at position 1.
    """
    slower = speed / factor  # (pairs,)
    return slower


def raise_base(head_dim: int, longest: float, factor: float) -> Tensor:
    """NTK-aware (Peng et al. 2023, definition 1): a larger base, so that only the last pair is
    `factor` times slower, and the first one is as fast as before."""
    base = longest * factor ** (head_dim / (head_dim - 2))
    column = torch.arange(0, head_dim, 2)  # (pairs,)
    speed = 1 / base ** (column / head_dim)  # (pairs,)
    return speed


def find_slowed_share(head_dim: int, longest: float, trained: int) -> Tensor:
    """How much of the slowing down each pair gets, from 0 for fast pairs to 1 for slow ones
    (Peng et al. 2023, definition 2; a straight line over the pairs, as published models have it).
    """

    def find_pair(turns: float) -> float:
        places_per_radian = trained / (turns * math.tau)
        return head_dim * math.log(places_per_radian) / (2 * math.log(longest))

    first = max(math.floor(find_pair(FAST_TURNS)), 0)
    last = min(math.ceil(find_pair(SLOW_TURNS)), head_dim - 1)
    share = (torch.arange(head_dim // 2) - first) / max(last - first, 0.001)  # (pairs,)
    return share.clamp(0, 1)


def interpolate_slow_pairs(speed: Tensor, factor: float, share: Tensor) -> Tensor:
    """YaRN's speeds (Peng et al. 2023, definition 2): each pair as it was, interpolated, or
    something between, by its share (pairs,)."""
    mixed = (1 - share) * speed + share * interpolate(speed, factor)  # (pairs,)
    return mixed


def sharpen(factor: float) -> float:
    """What YaRN multiplies every score q · k with (Peng et al. 2023, definition 3): a longer text
    has more words among which softmax divides."""
    root = 0.1 * math.log(factor) + 1  # published code multiplies queries and keys with it
    return root**2
