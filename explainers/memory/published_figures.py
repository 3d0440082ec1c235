"""Published cache sizes, computed again from data, and the named reason where they disagree."""

import functools
import json
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from math import floor, prod
from typing import Any

from explainers.folders import ASSETS
from explainers.memory import sizes
from explainers.memory.engines import engine_bytes, paged_bytes
from explainers.memory.gpus import rank_shape
from explainers.memory.layer_groups import WITH_WINDOW, LayerGroup, ModelShape
from explainers.memory.number_formats import Format
from explainers.memory.published_models import model_shape
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
    raise ValueError(N_("a recipe cannot {name}", name=name))


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


FILE = ASSETS / "figures.json"
OTHER_UNITS = {
    "KB": 1000,
    "KB(1000 el)": 1000,
    "elements": 1,
    "tokens": 1,
    "x": 1,
    "percent": 1,
    "ms": 1,
}
UNITS = sizes.UNITS | OTHER_UNITS
"""How much one of each unit is; elements, tokens and ratios are counted by ones."""


@dataclass(frozen=True)
class Figure:
    """A number that somebody printed, and how one arrives at it, or at the right one."""

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
    def printed(self) -> Fraction:
        """The number as it was printed, digit by digit."""
        return Fraction(repr(self.published))

    @property
    def last_digit(self) -> Fraction:
        """One in the last digit that was printed."""
        exponent = Decimal(repr(self.published)).as_tuple().exponent
        return Fraction(10) ** int(exponent)

    @property
    def ours(self) -> Fraction:
        """What the calculators say, in the unit that the figure means."""
        return evaluate(self.recipe) / UNITS[self.unit_meant]

    @property
    def mistaken(self) -> Fraction | None:
        """What the calculators say when they make the same mistake, where it is known."""
        return None if self.mistake is None else evaluate(self.mistake) / UNITS[self.mistake_unit]


@functools.cache
def figures() -> dict[str, Figure]:
    """id: figure, from the file."""
    entries = json.loads(FILE.read_text(encoding="utf-8"))["figures"]
    return {entry["id"]: Figure(**entry) for entry in entries}
