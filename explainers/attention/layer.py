"""What a layer of heads learns (Vaswani et al. 2017, section 3.2.2; Ainslie et al. 2023).

>>> check_sharing(num_heads=10, num_kv_heads=4)
Traceback (most recent call last):
ValueError: 10 query heads cannot share 4 KV heads
"""

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class MultiHead:
    """Four matrices, each holding its heads side by side; KV heads may be fewer than heads."""

    w_query: Tensor
    """(d_model, num_heads · head_dim)"""
    w_key: Tensor
    """(d_model, num_kv_heads · head_dim)"""
    w_value: Tensor
    """(d_model, num_kv_heads · head_dim)"""
    w_output: Tensor
    """(num_heads · head_dim, d_model)"""
    head_dim: int

    def __post_init__(self) -> None:
        d_model, width = self.w_query.shape
        kv_width = self.w_key.shape[-1]
        check_heads(width, self.head_dim, "query")
        check_heads(kv_width, self.head_dim, "KV")
        check_sharing(self.num_heads, self.num_kv_heads)
        given = [tuple(w.shape) for w in (self.w_key, self.w_value, self.w_output)]
        fitting = [(d_model, kv_width), (d_model, kv_width), (width, d_model)]
        if given != fitting:
            raise ValueError(f"W_K, W_V and W_O must be {fitting} beside this W_Q, not {given}")

    @property
    def num_heads(self) -> int:
        return self.w_query.shape[-1] // self.head_dim

    @property
    def num_kv_heads(self) -> int:
        return self.w_key.shape[-1] // self.head_dim

    @property
    def group_size(self) -> int:
        """How many query heads share one KV head; 1 in plain multi-head attention."""
        return self.num_heads // self.num_kv_heads


def check_heads(width: int, head_dim: int, kind: str) -> None:
    """Refuse a width that cannot be cut into whole heads."""
    if head_dim < 1 or width < 1 or width % head_dim:
        raise ValueError(f"{width} columns cannot be cut into {kind} heads of d_k {head_dim}")


def check_sharing(num_heads: int, num_kv_heads: int) -> None:
    """Refuse heads that cannot be put into groups of equal size."""
    if num_kv_heads < 1 or num_heads < 1 or num_heads % num_kv_heads:
        raise ValueError(f"{num_heads} query heads cannot share {num_kv_heads} KV heads")
