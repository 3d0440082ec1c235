"""How far rounding alone can move a model's numbers: what differs by more has another reason."""

import math
from typing import Any

import torch

STEPS_OF_A_LAYER = 12
"""Results of a layer that are rounded one after the other: norms, matrix products, sums."""
WHOLE_SUMS = 32
"""Bits of numbers that are added up as they are; narrower ones are added up in 32 bits."""


def limit_rounding(model: Any, largest: float) -> float:
    """The most that rounding can change in numbers of up to `largest`; more is a real difference.

    The roundings of n additions go either way and come to about √n of one (Higham & Mary 2019). In
    each layer, a number is a sum of d_model products; in 16 bits these are added up in 32, and only
    the results are rounded.
    """
    config, kind = model.config.get_text_config(), torch.finfo(model.dtype)
    of_a_layer = config.hidden_size if kind.bits >= WHOLE_SUMS else STEPS_OF_A_LAYER
    return float(largest * kind.eps * math.sqrt(config.num_hidden_layers * of_a_layer))
