"""What a head does from its weakest to its strongest rows of prose, tenth by tenth.

A name is tested on a few texts; on the full distribution it often does something else
(Bolukbasi et al. 2021, on neurons).
"""

from typing import NamedTuple

import torch
from torch import Tensor

from explainers.models.head_scores import build_patterns, compute_mass
from explainers.models.probes import Probe

TENTHS = 10


class Tenth(NamedTuple):
    """A tenth of the rows that a score is the mean of, from the least weight to the most.

    Its mean weight on the promised keys, and its middle row: text, query, its strongest key.
    """

    mean: float
    text_index: int
    query_index: int
    key_index: int
    mass: float
    weight: float


def measure_tenths(weights: Tensor, mask: Tensor, probe: Probe, score: str) -> list[Tenth]:
    """Sort the rows of a head by their weight on a score's keys; weights (texts, tokens, tokens).

    Empty if fewer rows than tenths have such a key.
    """
    seen = mask.expand(weights.shape)
    pattern = build_patterns(probe, seen)[score]
    mass = compute_mass(weights[:, None], pattern)[:, 0]  # (texts, tokens)
    texts, queries = pattern.any(dim=-1).nonzero(as_tuple=True)
    if len(texts) < TENTHS:
        return []
    rows = mass[texts, queries]
    order = rows.argsort(stable=True)
    found = []
    for part in torch.tensor_split(order, TENTHS):
        middle = part[len(part) // 2]
        text, query = int(texts[middle]), int(queries[middle])
        weight, key = weights[text, query].max(dim=-1)
        mean = float(rows[part].mean())
        found.append(Tenth(mean, text, query, int(key), float(rows[middle]), float(weight)))
    return found
