"""Heads split over several GPUs: a KV head that many need is stored by each of them."""

from dataclasses import replace
from fractions import Fraction

from explainers.memory.cache import kv_cache_bytes
from explainers.memory.checks import whole
from explainers.memory.groups import WITH_HEADS, LayerGroup, ModelShape
from explainers.phrase import phrase


def rank_shape(shape: ModelShape, ranks: int) -> ModelShape:
    """The part of a model that one of `ranks` GPUs holds: its heads, and every latent in full.

    Recurrent states stay whole: how an engine splits them is not known, so this is the most.
    """
    whole("ranks", ranks)
    if shape.num_heads % ranks:
        raise ValueError(
            phrase(
                "{heads} query heads cannot be split over {ranks} ranks",
                heads=shape.num_heads,
                ranks=ranks,
            )
        )
    groups = tuple(rank_group(group, ranks) for group in shape.known_groups())
    return replace(shape, groups=groups, num_heads=shape.num_heads // ranks)


def rank_group(group: LayerGroup, ranks: int) -> LayerGroup:
    """One group of layers on one rank; a latent has no heads to split, so it stays."""
    if group.kind not in WITH_HEADS:
        return group
    heads = group.num_kv_heads
    if heads % ranks and ranks % heads:
        raise ValueError(
            phrase(
                "{heads} KV heads can neither be split over {ranks} ranks nor repeated",
                heads=heads,
                ranks=ranks,
            )
        )
    return replace(group, num_kv_heads=max(1, heads // ranks))


def replication(
    shape: ModelShape, ranks: int, tokens: int, source_tokens: int | None = None
) -> Fraction:
    """How many times a cache is stored in all: 1 while there is a KV head for every rank."""
    split = rank_shape(shape, ranks)
    alone = kv_cache_bytes(shape, tokens, source_tokens=source_tokens)
    together = ranks * kv_cache_bytes(split, tokens, source_tokens=source_tokens)
    return Fraction(together, alone) if alone else Fraction(1)
