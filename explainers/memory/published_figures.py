"""Cache sizes that others published, computed again, and why some of them disagree."""

import functools
import json
from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor, prod
from typing import Any

from explainers.folders import ASSETS
from explainers.memory import sizes
from explainers.memory.cache_bytes import NumberFormat
from explainers.memory.engines import count_engine_bytes, count_paged_bytes
from explainers.memory.model_shapes import KINDS_WITH_WINDOW, LayerGroup, ModelShape, find_shape
from explainers.memory.serving import split_shape
from explainers.messages import N_

REASONS = {
    "binary-unit": N_("It prints KB, MB or GB and means KiB, MiB or GiB."),
    "checkpoint-for-sixteen": N_(
        "It counts the 16 KV heads of a checkpoint cut for 16 GPUs, where each of the 8 is stored "
        "twice."
    ),
    "width-divided": N_(
        "It divides d_model by the heads for head_dim, and gives every layer the whole text."
    ),
    "wrong-width": N_("It uses half of the model's head_dim."),
    "slip": N_("A slip of arithmetic: its own inputs give another number."),
    "cut-off": N_("Its decimals are cut off instead of rounded."),
    "no-reading": N_(
        "No reading of the model gives this number, with or without its windows, groups or latents."
    ),
    "bound": N_("It is stated as an upper bound, and holds as one."),
    "not-reproducible": N_(
        "Six times what the formula gives, in every row; the report gives no reason."
    ),
    "two-precisions": N_(
        "It compares a cache of 6 bits with one of 16 bits; at equal precision less is saved."
    ),
    "latent-twice": N_(
        "It counts the latent once for keys and once for values, and leaves out the rotary part."
    ),
    "bits-as-bytes": N_(
        "It takes 8 bits for 8 bytes, counts query heads for KV heads, and prints MB for MiB."
    ),
    "end-to-end": N_("It is measured with the weights in memory; the cache alone shrinks more."),
    "rounded-inputs": N_("It follows from numbers that were rounded before."),
    "about": N_("It is stated as a rough number, within 5 % of the exact one."),
}


def evaluate_recipe(recipe: Any) -> Fraction:
    """The exact value of a recipe: a number in quotes, a cache, or an operation on recipes."""
    if isinstance(recipe, str):
        return Fraction(recipe)
    ((name, inputs),) = recipe.items()
    if name == "cache":
        return Fraction(count_recipe_bytes(**inputs))
    terms = [evaluate_recipe(term) for term in inputs]
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
    raise ValueError(N_("a recipe cannot {name}", name=name))


def count_recipe_bytes(
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
    """Bytes of the cache that a recipe describes.

    It may be one kind of layers `only`, one of several `ranks`, in pages of `block` tokens, or
    what an `engine` allocates. The parameters are the names in the recipes.
    """
    shape = find_shape(model) if model else make_shape(groups or [], num_heads)
    chosen_groups = tuple(
        group
        if windows or group.kind not in KINDS_WITH_WINDOW
        else replace(group, kind="full", window=None)
        for group in shape.require_groups()
        if not only or group.kind == only
    )
    shape = split_shape(replace(shape, groups=chosen_groups), ranks)
    number_format = NumberFormat("", **dtype) if isinstance(dtype, dict) else dtype
    if engine:
        return count_engine_bytes(shape, tokens, engine, batch, number_format, source_tokens)
    return count_paged_bytes(
        shape, tokens, batch, number_format, block=block, source_tokens=source_tokens
    )


def make_shape(groups: list[dict[str, Any]], num_heads: int | None) -> ModelShape:
    """A shape for a figure about no published model, by default with as many heads as KV heads."""
    layers = tuple(LayerGroup(**group) for group in groups)
    return ModelShape("", layers, num_heads or layers[0].num_kv_heads or 1, 1)


FIGURE_FILE = ASSETS / "figures.json"
UNIT_VALUES_BESIDE_BYTES = {
    "KB": 1000,
    "KB(1000 el)": 1000,
    "elements": 1,
    "tokens": 1,
    "x": 1,
    "percent": 1,
    "ms": 1,
}
UNIT_VALUES = sizes.UNIT_BYTES | UNIT_VALUES_BESIDE_BYTES
"""The value of one of each unit; elements, tokens and ratios count as 1."""


@dataclass(frozen=True)
class PublishedFigure:
    """A number that somebody published, the recipe that computes it, and why they may differ."""

    id: str
    about: str
    origin: str
    model: str
    config: str
    published: int | float
    unit: str
    unit_meant: str
    exactness: str
    formula: str
    computed: int | float
    agrees: bool
    testable: bool
    verdict: str
    source: str
    recipe: Any
    tokens: int | str | None = None
    batch: int | None = None
    dtype: str = ""
    reason: str = ""
    comment: str = ""
    mistake: Any = None
    mistake_unit: str = ""

    @property
    def computed_value(self) -> Fraction:
        """What our calculators compute, in the unit that the figure means."""
        return evaluate_recipe(self.recipe) / UNIT_VALUES[self.unit_meant]

    @property
    def mistaken_value(self) -> Fraction | None:
        """What our calculators compute with the same mistake; None where no mistake is known."""
        return (
            None
            if self.mistake is None
            else evaluate_recipe(self.mistake) / UNIT_VALUES[self.mistake_unit]
        )


@functools.cache
def read_figures() -> dict[str, PublishedFigure]:
    """All published figures by id, from the file."""
    entries = json.loads(FIGURE_FILE.read_text(encoding="utf-8"))["figures"]
    return {entry["id"]: PublishedFigure(**entry) for entry in entries}
