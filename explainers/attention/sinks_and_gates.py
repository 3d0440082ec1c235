"""Heads that may do nothing: sinks (OpenAI 2025, "gpt-oss", 2.3), a gate (Qiu et al. 2025, eq. 5).

>>> softmax_with_sinks(torch.zeros(1, 1, 1), torch.zeros(1))  # half of it goes nowhere
tensor([[[0.5000]]])
>>> apply_gate(torch.tensor([8.0]), torch.tensor([0.0]), torch.tensor([[1.0]]))  # half open
tensor([4.])
"""

import math

import torch
from torch import Tensor

from explainers.attention.scaled_dot_product import Attention


def softmax_with_sinks(masked: Tensor, sink: Tensor) -> Tensor:
    """Softmax over a row of scores and one more, the sink's; the weight of that one is dropped.

    masked (..., heads, q_len, kv_len), −∞ where a mask forbids; sink (heads,). A row sums to less
    than 1: what is missing looks at nothing.
    """
    nothing = sink[:, None, None].expand_as(masked[..., :1])  # (..., q_len, 1)
    shares = torch.cat([masked, nothing], dim=-1).softmax(dim=-1)
    weights = shares[..., :-1]  # (..., q_len, kv_len)
    return weights


def attention_with_sinks(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor, sink: Tensor
) -> Attention:
    """Attention in which each head may also look at nothing, with a learned score.

    query (..., heads, q_len, head_dim), sink (heads,). Weights of a row sum to less than 1: the
    rest fell into the sink, which has no value to mix. A sink of −∞ is plain attention.
    """
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])  # (..., q_len, kv_len)
    masked = scores.masked_fill(~mask, -torch.inf)  # (..., q_len, kv_len)
    weights = softmax_with_sinks(masked, sink)  # (..., q_len, kv_len)
    output = weights @ value  # (..., q_len, value_dim)
    return Attention(scores, weights, output)


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
