"""Texts read with a KV cache, token by token or in chunks (Agrawal et al. 2023, 4.2), or without.

>>> list_chunks(tokens=7, size=3)
[(0, 3), (3, 6), (6, 7)]
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from explainers.attention import masks
from explainers.attention.cache.kv_cache import Cache, Read, look_up, project_at
from explainers.attention.layer import MultiHead
from explainers.attention.multi_head import merge_heads

Reader = Callable[[Tensor, MultiHead, Cache], Read]


class Step(NamedTuple):
    """What came out of the last layer, and what each layer did and keeps."""

    output: Tensor
    reads: list[Read]


class Recomputed(NamedTuple):
    """The same numbers without any cache: outputs, and the keys and values of each layer."""

    output: Tensor
    caches: list[Cache]


def through(x: Tensor, layers: Sequence[MultiHead], caches: Sequence[Cache], read: Reader) -> Step:
    """New tokens through all layers; what attention finds is added to what was there."""
    reads = []
    for layer, cache in zip(layers, caches, strict=True):
        reads.append(read(x, layer, cache))
        x = x + reads[-1].output  # (..., q_len, d_model)
    return Step(x, reads)


def decode(
    x: Tensor, layers: Sequence[MultiHead], caches: Sequence[Cache], read: Reader
) -> list[Step]:
    """One token after the other: a step computes one row in each layer and reads the cache."""
    steps = []
    for token in torch.split(x, 1, dim=-2):
        steps.append(through(token, layers, caches, read))
        caches = [done.cache for done in steps[-1].reads]
    return steps


def recompute(x: Tensor, layers: Sequence[MultiHead]) -> Recomputed:
    """No cache: every row of every layer is computed from the text, layer after layer.

    The products are as small as with a cache, a row at a time, so that not even rounding differs.
    """
    rows, caches = list(torch.split(x, 1, dim=-2)), []
    for layer in layers:
        views = [project_at(row, layer, place) for place, row in enumerate(rows)]
        key = torch.cat([view.key for view in views], dim=-2)  # (..., kv_heads, q_len, head_dim)
        value = torch.cat([view.value for view in views], dim=-2)
        for place, view in enumerate(views):
            seen = place + 1
            past = Cache(key[..., :seen, :], value[..., :seen, :], seen)
            found = look_up(view.query, past, layer, masks.build(masks.causal, 1, seen))
            rows[place] = rows[place] + merge_heads(found.output) @ layer.w_output
        caches.append(Cache(key, value, len(rows)))
    output = torch.cat(rows, dim=-2)  # (..., q_len, d_model)
    return Recomputed(output, caches)


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
