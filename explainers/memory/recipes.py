"""How a published figure comes about, as data: numbers, caches, and what is done with them."""

from dataclasses import replace
from fractions import Fraction
from math import floor, prod
from typing import Any

from explainers.memory.engines import engine_bytes
from explainers.memory.formats import Format
from explainers.memory.groups import WITH_WINDOW, LayerGroup, ModelShape
from explainers.memory.paging import paged_bytes
from explainers.memory.parallel import rank_shape
from explainers.memory.shapes import model_shape
from explainers.phrase import phrase


def evaluate(recipe: Any) -> Fraction:
    """A recipe's exact value: a number in quotes, a cache, or an operation on recipes."""
    if isinstance(recipe, str):
        return Fraction(recipe)
    ((name, given),) = recipe.items()
    if name == "cache":
        return Fraction(cache(**given))
    terms = [evaluate(term) for term in given]
    match name:
        case "add":
            return sum(terms, Fraction(0))
        case "subtract":
            return terms[0] - terms[1]
        case "multiply":
            return prod(terms, start=Fraction(1))
        case "divide":
            return terms[0] / terms[1]
        case "floor":
            return Fraction(floor(terms[0]))
    raise ValueError(phrase("a recipe cannot {name}", name=name))


def cache(
    tokens: int,
    dtype: str | dict[str, Any],
    model: str = "",
    groups: list[dict[str, Any]] | None = None,
    num_heads: int | None = None,
    batch: int = 1,
    only: str = "",
    windows: bool = True,
    ranks: int = 1,
    block: int = 1,
    engine: str = "",
    source_tokens: int | None = None,
) -> int:
    """The bytes of a cache, of some of its layers, on one rank, in pages, or in an engine."""
    shape = model_shape(model) if model else made_up(groups or [], num_heads)
    kept = tuple(
        group
        if windows or group.kind not in WITH_WINDOW
        else replace(group, kind="full", window=None)
        for group in shape.known_groups()
        if not only or group.kind == only
    )
    shape = rank_shape(replace(shape, groups=kept), ranks)
    format_ = Format("", **dtype) if isinstance(dtype, dict) else dtype
    if engine:
        return engine_bytes(shape, tokens, engine, batch, format_, source_tokens)
    return paged_bytes(shape, tokens, batch, format_, block=block, source_tokens=source_tokens)


def made_up(groups: list[dict[str, Any]], num_heads: int | None) -> ModelShape:
    """A shape that only a figure needs; every head has keys and values unless it says otherwise."""
    layers = tuple(LayerGroup(**group) for group in groups)
    return ModelShape("", layers, num_heads or layers[0].num_kv_heads or 1, 1)
