"""An output that can be turned down: a gate behind attention (Qiu et al. 2025, equation 5).

>>> apply_gate(torch.tensor([8.0]), torch.tensor([0.0]), torch.tensor([[1.0]]))  # half open
tensor([4.])
"""

import torch
from torch import Tensor


def open_gate(x: Tensor, w_gate: Tensor) -> Tensor:
    """How far each number of the output may pass, between 0 and 1; the word itself decides.

    x (..., q_len, d_model), w_gate (d_model, value_dim).
    """
    gate = torch.sigmoid(x @ w_gate)  # (..., q_len, value_dim)
    return gate


def apply_gate(output: Tensor, x: Tensor, w_gate: Tensor) -> Tensor:
    """What attention found, times the gate of the word that asked."""
    passed = output * open_gate(x, w_gate)  # (..., q_len, value_dim)
    return passed
