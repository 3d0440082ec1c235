"""Linear attention: a matrix that every word adds to (Katharopoulos et al. 2020, section 3.4).

>>> import torch
>>> state = write_sum(torch.zeros(1, 2), torch.tensor([0.0, 1.0]), torch.tensor([5.0]))
>>> read_state(state, torch.tensor([0.0, 1.0]))
tensor([5.])
"""

from torch import Tensor


def write_sum(state: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Add what one word brings, the outer product of its value and its key (equation 18).

    key (..., head_dim), value (..., value_dim); the state has the same size after any text.
    """
    written = value[..., :, None] * key[..., None, :]  # (..., value_dim, head_dim)
    added = state + written  # (..., value_dim, head_dim)
    return added


def read_state(state: Tensor, query: Tensor) -> Tensor:
    """What the memory answers to a query: each row's dot product with it (equation 20)."""
    answer = (state @ query[..., None])[..., 0]  # (..., value_dim)
    return answer


def linear_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
    """All words at once: attention without softmax, whose weights are the products themselves.

    Under a causal mask it gives what `write_sum` and `read_state` give word by word. The paper's
    φ(x) = elu(x) + 1 and its division by the sum of a row are left out, as newer models do.
    """
    products = query @ key.transpose(-2, -1)  # (..., q_len, kv_len)
    weights = products.masked_fill(~mask, 0.0)  # (..., q_len, kv_len)
    output = weights @ value  # (..., q_len, value_dim)
    return output
