"""How a model chooses its next token: temperature, the k best, the nucleus, and one draw.

Each takes logits (..., vocabulary) and returns logits; what may not be drawn has −∞.
"""

import torch
from torch import Tensor


def heat(logits: Tensor, temperature: float) -> Tensor:
    """Below 1 the best token gains, above 1 all become alike."""
    if temperature <= 0:
        raise ValueError(f"a temperature of {temperature:g} is not above 0")
    return logits / temperature


def keep_top_k(logits: Tensor, count: int) -> Tensor:
    """Only the `count` best tokens may be drawn, and those that tie with the last of them."""
    if count < 1:
        raise ValueError(f"of the best {count} tokens none can be drawn")
    least = logits.topk(min(count, logits.shape[-1]), dim=-1).values[..., -1:]
    return logits.masked_fill(logits < least, -torch.inf)


def keep_top_p(logits: Tensor, share: float) -> Tensor:
    """Only the fewest tokens that have the `share` together (nucleus; Holtzman et al. 2020, 3.1).

    From the least probable token on, whatever adds up to no more than the rest is left out.
    """
    if not 0 < share <= 1:
        raise ValueError(f"a share of {share:g} is not above 0 and at most 1")
    if share == 1:
        return logits  # a sum may be rounded to 1 before its last tokens
    ordered, order = logits.sort(dim=-1)
    is_out = ordered.softmax(dim=-1).cumsum(dim=-1) <= 1 - share
    is_out[..., -1] = False  # the best token always stays
    return logits.masked_fill(torch.empty_like(is_out).scatter_(-1, order, is_out), -torch.inf)


def draw(logits: Tensor, generator: torch.Generator) -> Tensor:
    """One token (...,), as often as its probability says: the first whose sum passes the draw.

    The generator makes one number for each token, whatever the vocabulary.
    """
    sums = logits.softmax(dim=-1).double().cumsum(dim=-1)
    luck = torch.rand(sums.shape[:-1], generator=generator, dtype=torch.float64)
    place = torch.searchsorted(sums, luck[..., None] * sums[..., -1:], right=True)
    return place[..., 0].clamp(max=logits.shape[-1] - 1)
