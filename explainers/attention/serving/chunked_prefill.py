"""A long prompt read in chunks, so that others need not wait (Agrawal et al. 2023, 4.2).

>>> list_chunks(tokens=7, size=3)
[(0, 3), (3, 6), (6, 7)]
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from explainers.attention.cache.decoding import Reader, through
from explainers.attention.cache.kv_cache import Cache
from explainers.attention.layer import MultiHead


def read_in_chunks(
    x: Tensor, layers: Sequence[MultiHead], caches: Sequence[Cache], read: Reader, size: int
) -> Tensor:
    """A prompt `x` (..., q_len, d_model), `size` tokens in each pass; the cache holds the rest."""
    outputs = []
    for chunk in torch.split(x, size, dim=-2):
        step = through(chunk, layers, caches, read)
        caches = [done.cache for done in step.reads]
        outputs.append(step.output)
    output = torch.cat(outputs, dim=-2)  # (..., q_len, d_model)
    return output


def list_chunks(tokens: int, size: int) -> list[tuple[int, int]]:
    """From which token to which each pass reads."""
    return [(start, min(start + size, tokens)) for start in range(0, tokens, size)]


def most_weights(tokens: int, size: int) -> int:
    """The most weights of one head that exist at a time: queries of a chunk by all keys so far."""
    return max((end - start) * end for start, end in list_chunks(tokens, size))
