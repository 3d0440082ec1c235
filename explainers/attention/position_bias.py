"""Biases for distance: ALiBi (Press et al. 2022, section 3).

>>> alibi_slopes(4)
tensor([0.2500, 0.0625, 0.0156, 0.0039])
>>> alibi_bias(torch.tensor([0.5]), q_len=1, kv_len=3)
tensor([[[-1.0000, -0.5000, -0.0000]]])
"""

import math

import torch
from torch import Tensor

from explainers.attention.scaled_dot_product import Attention


def alibi_slopes(num_heads: int) -> Tensor:
    """How fast each head stops to look far: 2^(−8/heads), its square, its cube, … 2^(−8).

    Where the heads are no power of two, the authors' code takes the slopes of the power below
    and then every other one of the power above.
    """
    if num_heads < 1:
        raise ValueError(f"{num_heads} heads have no slopes")
    power = 2 ** (num_heads.bit_length() - 1)
    below = [8 / power * (head + 1) for head in range(power)]
    between = [8 / power * (head + 0.5) for head in range(num_heads - power)]
    slopes = 2.0 ** -torch.tensor(below + between)  # (heads,)
    return slopes


def alibi_bias(slopes: Tensor, q_len: int, kv_len: int) -> Tensor:
    """What is added to each score: minus the head's slope times the distance of the two tokens.

    The queries are the last `q_len` positions. The paper's mask is causal; a key ahead of its
    query, if it may be seen at all, counts here by its distance too.
    """
    query_pos = torch.arange(kv_len - q_len, kv_len, device=slopes.device)[:, None]  # (q_len, 1)
    key_pos = torch.arange(kv_len, device=slopes.device)[None, :]  # (1, kv_len)
    distance = (query_pos - key_pos).abs()  # (q_len, kv_len)
    bias = -slopes[:, None, None] * distance  # (heads, q_len, kv_len)
    return bias


def biased_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor, bias: Tensor
) -> Attention:
    """Scaled dot-product attention with `bias` (..., q_len, kv_len) added to its scores.

    The paper adds no position to x and does not scale the bias by √d_k.
    """
    products = query @ key.transpose(-2, -1)  # (..., q_len, kv_len)
    scores = products / math.sqrt(query.shape[-1]) + bias  # (..., q_len, kv_len)
    masked = scores.masked_fill(~mask, -torch.inf)  # (..., q_len, kv_len)
    weights = masked.softmax(dim=-1)  # (..., q_len, kv_len)
    output = weights @ value  # (..., q_len, value_dim)
    return Attention(scores, weights, output)
