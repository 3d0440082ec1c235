"""Claims about long sequences and about two sequences: what grows, and how fast."""

import torch

from explainers.attention import masks
from explainers.attention.reach import cells
from explainers.attention.scaled_dot_product import attention
from explainers.attention.tiled import tiled_attention
from explainers.chapters.claims.finding import CONDITION, FAILS, HOLDS, Finding, found, judged
from explainers.toys.examples import make_generator

HEAD_DIM = 8
BLOCK = 16
ROUNDING = 1e-5


def cells_of_a_head(tokens: int) -> Finding:
    """The weights of one head in one layer, at 4,096 tokens and at what is called 128k."""
    short, long = 4_096**2, tokens**2
    holds = (round(short / 1e6, 1), round(long / 1e9, 1)) == (16.8, 16.4)
    return judged(holds, holds, short=short, long=long, tokens=tokens)


def time_and_space(tokens: int) -> Finding:
    """What doubles and what grows fourfold when a text gets twice as long; sizes of real tensors.

    Both ways compute the same output; in tiles never more than one tile of scores exists.
    """
    once, twice = _held(tokens), _held(2 * tokens)
    plain, tiled = twice[0] / once[0], twice[1] / once[1]
    seeded = make_generator("claims", "tiles", tokens)
    query, key, value = (torch.randn(tokens, HEAD_DIM, generator=seeded) for _ in range(3))
    whole = attention(query, key, value, masks.build(masks.causal, tokens, tokens)).output
    tiles = tiled_attention(query, key, value, masks.causal, BLOCK, BLOCK)
    apart = (tiles - whole).abs().max().item()
    verdict = FAILS if not 3 < plain <= 4 else CONDITION if tiled <= 2 else HOLDS
    return found(verdict, plain=plain, tiled=tiled, apart=apart)


def _held(tokens: int) -> tuple[int, int]:
    """Numbers that exist at once beside Q, K and V: plain, and in tiles."""
    x = torch.zeros(tokens, HEAD_DIM)
    whole = attention(x, x, x, masks.build(masks.full, tokens, tokens))
    plain = whole.weights.numel() + whole.output.numel()
    return plain, BLOCK**2 + whole.output.numel()


def two_sequences(queries: int, keys: int) -> Finding:
    """Cells of cross-attention, and of attention over both texts one behind the other."""
    both = queries + keys
    cross = cells(masks.build(masks.full, queries, max(queries, keys))[:, :keys])
    joined = cells(masks.build(masks.full, both, both))
    holds = (cross, joined) == (queries * keys, both**2)
    return judged(holds, holds, cross=cross, joined=joined, times=joined / cross)
