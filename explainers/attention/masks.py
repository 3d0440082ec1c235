"""Who may look at whom: a mask is a rule on two positions (Vaswani et al. 2017, section 3.2.3).

>>> build(causal, q_len=1, kv_len=3)  # the last of three tokens sees all of them
tensor([[True, True, True]])
>>> build(sliding_window(2), q_len=2, kv_len=3).int()
tensor([[1, 1, 0],
        [0, 1, 1]], dtype=torch.int32)
"""

import torch
from torch import Tensor

from explainers.attention.rules import Mask, Rule


@Rule
def full(query_pos: Tensor, key_pos: Tensor) -> Tensor:
    """Every token sees every token."""
    # Always true, and of the shape that the two positions have together.
    return (query_pos >= 0) & (key_pos >= 0)


@Rule
def causal(query_pos: Tensor, key_pos: Tensor) -> Tensor:
    """A token sees itself and the past."""
    return key_pos <= query_pos


def sliding_window(width: int) -> Rule:
    """A token sees itself and the `width - 1` tokens before it (Jiang et al. 2023, section 2)."""
    return causal & Rule(lambda query_pos, key_pos: key_pos > query_pos - width)


def prefix(length: int) -> Rule:
    """The first `length` tokens are seen by all, the rest is causal (Raffel et al. 2020, 3.2.1)."""
    return Rule(lambda query_pos, key_pos: (key_pos < length) | causal(query_pos, key_pos))


def chunks(width: int) -> Rule:
    """A token sees itself and the past of its own chunk of `width` tokens (Meta 2025, Llama 4)."""
    return causal & Rule(lambda query_pos, key_pos: key_pos // width == query_pos // width)


def padding(lengths: Tensor) -> Rule:
    """Nobody sees the filling behind a sequence's end; `lengths` (batch,) are the true ones."""
    real = lengths[:, None, None, None]  # (batch, 1, 1, 1)
    return Rule(lambda query_pos, key_pos: (query_pos >= 0) & (key_pos < real))


def drawn(cells: Tensor) -> Rule:
    """A mask by hand: `cells` (positions, positions) says of every pair whether it may attend."""
    return Rule(lambda query_pos, key_pos: cells[query_pos, key_pos])


def build(rule: Rule, q_len: int, kv_len: int) -> Tensor:
    """Ask the rule about every pair; the queries are the last `q_len` of `kv_len` positions."""
    if not 1 <= q_len <= kv_len:
        raise ValueError(f"{q_len} queries cannot be the last of {kv_len} positions")
    query_pos = torch.arange(kv_len - q_len, kv_len)[:, None]  # (q_len, 1)
    key_pos = torch.arange(kv_len)[None, :]  # (1, kv_len)
    allowed = rule(query_pos, key_pos)  # (..., q_len, kv_len)
    empty = (~allowed.any(dim=-1)).nonzero()
    if len(empty):
        row = f"row {empty[0, -1]} (of {q_len} queries)"
        raise ValueError(f"the mask leaves {row} nothing to look at")
    return allowed


MASKS = (
    Mask("full", full),
    Mask("causal", causal),
    Mask("window", sliding_window, "Width of the window", 3, 1),
    Mask("prefix", prefix, "Length of the prefix", 3, 0),
    Mask("chunk", chunks, "Width of the chunks", 3, 1),
)
RULES = {mask.label(): mask.of(mask.usual) for mask in MASKS}
