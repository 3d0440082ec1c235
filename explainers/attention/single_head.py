"""One head of attention, from token vectors to output (Vaswani et al. 2017, section 3.2).

>>> projection_parameters(d_model=8, head_dim=4, value_dim=2)
80
"""

from dataclasses import dataclass
from typing import NamedTuple

from torch import Tensor

from explainers.attention.scaled_dot_product import Attention, attention


@dataclass(frozen=True)
class SingleHead:
    """All that one head learns: three matrices. value_dim (d_v) may differ from head_dim (d_k)."""

    w_query: Tensor
    """(d_model, head_dim)"""
    w_key: Tensor
    """(d_model, head_dim)"""
    w_value: Tensor
    """(d_model, value_dim)"""

    def __post_init__(self) -> None:
        if self.w_query.shape != self.w_key.shape:
            sizes = f"{tuple(self.w_query.shape)} and {tuple(self.w_key.shape)}"
            raise ValueError(f"W_Q and W_K must have the same shape to be compared, not {sizes}")
        if self.w_value.shape[0] != self.w_query.shape[0]:
            sizes = f"{self.w_value.shape[0]} and {self.w_query.shape[0]}"
            raise ValueError(f"W_V and W_Q must read vectors of the same d_model, not {sizes}")


class Projections(NamedTuple):
    """The three views of one sequence."""

    query: Tensor
    key: Tensor
    value: Tensor


def project(x: Tensor, head: SingleHead) -> Projections:
    """What each token looks for, what it offers to be found by, and what it hands over."""
    query = x @ head.w_query  # (..., q_len, head_dim)
    key = x @ head.w_key  # (..., q_len, head_dim)
    value = x @ head.w_value  # (..., q_len, value_dim)
    return Projections(query, key, value)


def single_head(x: Tensor, head: SingleHead, mask: Tensor) -> Attention:
    """Project the tokens `x` (..., q_len, d_model) and let them attend to each other."""
    query, key, value = project(x, head)
    return attention(query, key, value, mask)


def projection_parameters(d_model: int, head_dim: int, value_dim: int) -> int:
    """How many numbers W_Q, W_K and W_V hold; 3·d_model·d_k when d_v equals d_k."""
    return 2 * d_model * head_dim + d_model * value_dim
