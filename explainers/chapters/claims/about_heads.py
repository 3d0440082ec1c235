"""Claims about many heads, and about heads that share keys and values."""

import torch

from explainers.attention import masks
from explainers.attention.grouped_query import share, share_wrongly
from explainers.attention.multi_head import merge_heads, parameters, split_heads
from explainers.attention.scaled_dot_product import attention
from explainers.chapters.claims.finding import CONDITION, FAILS, Finding, found, judged
from explainers.messages import N_
from explainers.toys.examples import make_generator, random_heads

D_MODEL = 512
TOKENS = 7
ROUNDING = 1e-5


def four_squares(num_heads: int, biases: str) -> Finding:
    """The numbers of a real layer of this width, counted in its tensors."""
    layer = random_heads(D_MODEL, num_heads, num_heads, D_MODEL // num_heads, seed=0)
    matrices = layer.w_query, layer.w_key, layer.w_value, layer.w_output
    numbers = sum(matrix.numel() for matrix in matrices)
    numbers += sum(matrix.shape[-1] for matrix in matrices) if biases == "with biases" else 0
    holds = numbers == 4 * 512**2
    return judged(holds, holds, numbers=numbers, square=4 * D_MODEL**2)


def heads_cost_one_head(head_dim: int) -> Finding:
    """Eight heads of this d_k against one head as wide as the model."""
    heads, one = parameters(D_MODEL, 8, 8, head_dim), parameters(D_MODEL, 1, 1, D_MODEL)
    holds = heads == one
    return judged(holds, False, heads=heads, one=one, times=heads / one)


def splitting_copies_nothing(num_heads: int) -> Finding:
    """Where the numbers lie in memory before and after splitting, and after merging."""
    x = torch.zeros(TOKENS, D_MODEL)
    heads = split_heads(x, D_MODEL // num_heads)
    per_head = heads.contiguous()  # as attention gives it: a tensor of its own, head by head
    splits = heads.data_ptr() != x.data_ptr()
    merges = merge_heads(per_head).data_ptr() != per_head.data_ptr()
    copied = {False: N_("no number"), True: N_("{count:,} numbers", count=x.numel())}
    return judged(not splits, not splits, split=copied[splits], merged=copied[merges])


def sharing_adds_nothing(num_kv_heads: int) -> Finding:
    """The numbers of a layer of eight query heads, with as many KV heads and with fewer."""
    own, shared = (parameters(D_MODEL, 8, kv_heads, 64) for kv_heads in (8, num_kv_heads))
    return judged(shared <= own, shared <= own, own=own, shared=shared, saved=own - shared)


def interleave_is_right(num_kv_heads: int) -> Finding:
    """Both ways against heads that each are given their KV head by number."""
    seeded = make_generator("claims", "shared", num_kv_heads)
    size = 8 // num_kv_heads
    query = torch.randn(8, TOKENS, 4, generator=seeded)
    key, value = (torch.randn(num_kv_heads, TOKENS, 4, generator=seeded) for _ in range(2))
    mask = masks.build(masks.causal, TOKENS, TOKENS)
    right = torch.stack(
        [attention(query[n], key[n // size], value[n // size], mask).output for n in range(8)]
    )
    off = [
        (attention(query, way(key, size), way(value, size), mask).output - right).abs().max().item()
        for way in (share, share_wrongly)
    ]
    return judged(off[0] < ROUNDING, off[0] < ROUNDING, interleave=off[0], repeat=off[1])


def shape_is_kept(num_heads: int, value_dim: int) -> Finding:
    """The widths before W_O and after it, for a model of width 64 and heads of d_k 16."""
    seeded = make_generator("claims", "shape")
    x = torch.randn(TOKENS, 64, generator=seeded)
    per_head = x @ torch.randn(num_heads, 64, value_dim, generator=seeded)
    before = merge_heads(per_head).shape[-1]
    after = (merge_heads(per_head) @ torch.randn(before, 64, generator=seeded)).shape[-1]
    verdict = FAILS if after != 64 else CONDITION
    return found(verdict, before=before, after=after, d_model=64)
