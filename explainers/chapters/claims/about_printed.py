"""Claims that print numbers and the seed they came from."""

import torch
from torch import Tensor

from explainers.attention import masks
from explainers.attention.scaled_dot_product import attention
from explainers.chapters.claims.finding import FAILS, HOLDS, LOST, Finding, found
from explainers.toys.layers import draw_layer

TUTORIAL_ROW = 0.186, 0.062, 0.155, 0.138, 0.183, 0.276
CAUSAL_ROW = 0.4123, 0.5877
WORDS = "two", "plus", "three"
PLUS_ROW = 0.45, 0.10, 0.45
SEEDS = 100
"""How many untrained heads are tried."""


def row_of_seed_42(seed: int) -> Finding:
    """Six vectors of four numbers for Q, K and V, drawn one after the other as the claim says."""
    seeded = torch.Generator().manual_seed(seed)
    query, key, value = (torch.randn(1, 1, 6, 4, generator=seeded) for _ in range(3))
    row = attention(query, key, value, masks.build(masks.full, 6, 6)).weights[0, 0, 0]
    return found(_same(row, TUTORIAL_ROW), row=_written(row), claimed=_written(TUTORIAL_ROW))


def row_of_a_causal_head(made_by: str) -> Finding:
    """d_model 8 and 4 tokens from seed 0; the claim leaves open in what order."""
    seeded = torch.Generator().manual_seed(0)
    drawn = [torch.randn(*sizes, generator=seeded) for sizes in CONSTRUCTIONS[made_by]]
    query, key, value = drawn if len(drawn) == 3 else [drawn[0] @ w for w in drawn[1:]]
    weights = attention(query, key, value, masks.build(masks.causal, 4, 4)).weights
    row = weights[1, :2]
    above = int((weights.triu(1) != 0).sum())
    verdict = _same(row, CAUSAL_ROW)
    return found(verdict, row=_written(row, 4), claimed=_written(CAUSAL_ROW, 4), above=above)


CONSTRUCTIONS = {
    "Q, K, V": [(4, 8)] * 3,
    "x, W_Q, W_K, W_V": [(4, 8)] + [(8, 8)] * 3,
}


def plus_looks_both_ways(head_dim: int) -> Finding:
    """The row of "plus" in many untrained heads, and in how many it is the claimed one."""
    rows = []
    for seed in range(SEEDS):
        x, head, mask = draw_layer(WORDS, 8, 1, head_dim, "full", seed).single()
        rows.append(attention(x @ head.w_query, x @ head.w_key, x @ head.w_value, mask).weights[1])
    apart = (torch.stack(rows).cpu() - torch.tensor(PLUS_ROW)).abs().amax(dim=-1)
    nearest = _written(rows[int(apart.argmin())])
    hits = int((apart < 0.005).sum())
    verdict = HOLDS if hits == SEEDS else LOST
    return found(verdict, hits=hits, seeds=SEEDS, nearest=nearest)


def width_of_gpt_4(d_model: int) -> Finding:
    """Three square matrices of this width; and whether the models' data know GPT-4's width."""
    from explainers.memory.published_models import list_model_ids

    numbers = 3 * d_model**2
    known = [name for name in list_model_ids() if name.startswith("gpt-4")]
    rounds = round(numbers / 1e6, -1) == 450
    verdict = FAILS if not rounds else HOLDS if known else LOST
    return found(verdict, numbers=numbers, models=len(list_model_ids()))


def _same(row: Tensor, claimed: tuple[float, ...]) -> str:
    apart = (row - torch.tensor(claimed)).abs().max().item()
    half_a_digit = 0.5 * 10.0 ** -max(len(f"{number}") - 2 for number in claimed)
    return HOLDS if apart <= half_a_digit else LOST


def _written(row: Tensor | tuple[float, ...], places: int = 3) -> str:
    return " ".join(f"{float(number):.{places}f}" for number in row)
