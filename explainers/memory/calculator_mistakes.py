"""What other calculators say, and why: each usual mistake made on purpose, and computed."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

from explainers.memory.cache_bytes import kv_cache_bytes
from explainers.memory.layer_groups import WITH_HEADS, WITH_WINDOW, LayerGroup, ModelShape
from explainers.memory.number_formats import Format
from explainers.messages import N_

ROUND, POWER = 128_000, 131_072
Change = Callable[[ModelShape, LayerGroup], LayerGroup]
"""What a mistake makes of one group of layers."""


@dataclass(frozen=True)
class Other:
    """A number that one may read elsewhere, how much of the right one it is, and its reason."""

    name: str
    size: int
    ratio: Fraction
    why: str


def other_answers(
    shape: ModelShape,
    tokens: int,
    batch: int = 1,
    dtype: str | Format = "bfloat16",
    source_tokens: int | None = None,
    beams: int = 1,
) -> tuple[Other, ...]:
    """The mistakes that change this model's number, each number once, the largest first."""
    given = partial(kv_cache_bytes, batch=batch, dtype=dtype, source_tokens=source_tokens)
    right = given(shape, tokens, beams=beams)
    found: list[Other] = []
    for name, wrong, length, why in mistakes(shape, tokens):
        number = given(wrong, length, beams=beams)
        if number not in (right, *(other.size for other in found)):
            found.append(Other(name, number, Fraction(number, right), why))
    return tuple(sorted(found, key=lambda other: -other.size))


def mistakes(shape: ModelShape, tokens: int) -> Iterator[tuple[str, ModelShape, int, str]]:
    """(name, the shape that one would have to have, the length, the reason)."""
    for name, change, why in CHANGES:
        groups = tuple(change(shape, group) for group in shape.known_groups())
        yield name, replace(shape, groups=groups), tokens, why
    if any(group.kind == "cross" for group in shape.known_groups()):
        own = tuple(group for group in shape.known_groups() if group.kind != "cross")
        why = N_(
            "The decoder also keeps keys and values of the encoder's text, however little it says."
        )
        yield N_("cross-attention left out"), replace(shape, groups=own), tokens, why
    if tokens in (ROUND, POWER):
        other = POWER if tokens == ROUND else ROUND
        why = N_("“128K” is 128,000 tokens to some and 131,072 to others.")
        yield N_("{count:,} tokens", count=other), shape, other, why


def query_heads(shape: ModelShape, group: LayerGroup) -> LayerGroup:
    """As many KV heads as query heads."""
    if group.kind not in WITH_HEADS:
        return group
    return replace(group, num_kv_heads=shape.num_heads)


def no_windows(shape: ModelShape, group: LayerGroup) -> LayerGroup:
    """Every layer keeps the whole text."""
    return replace(group, kind="full", window=None) if group.kind in WITH_WINDOW else group


def divided_width(shape: ModelShape, group: LayerGroup) -> LayerGroup:
    """head_dim as d_model divided by the heads, rounded up as one calculator does."""
    if group.kind not in WITH_HEADS:
        return group
    return replace(group, head_dim=-(-shape.d_model // shape.num_heads))


def divided_width_no_windows(shape: ModelShape, group: LayerGroup) -> LayerGroup:
    """Both at once, as in a table that many have copied."""
    return divided_width(shape, no_windows(shape, group))


def latent_of(width: Callable[[ModelShape, LayerGroup], int]) -> Change:
    """A latent layer of another width in all; how its two parts divide it does not matter then."""

    def change(shape: ModelShape, group: LayerGroup) -> LayerGroup:
        if group.kind != "latent" or width(shape, group) < 2:
            return group
        return replace(group, latent_dim=width(shape, group) - 1, rope_dim=1)

    return change


CHANGES: list[tuple[str, Change, str]] = [
    (
        N_("query heads for KV heads"),
        query_heads,
        N_("Only KV heads are cached; several query heads share each of them."),
    ),
    (N_("windows ignored"), no_windows, N_("A local layer keeps no more than its window.")),
    (
        N_("head_dim = d_model ÷ heads"),
        divided_width,
        N_("In this model head_dim is a number of its own, not a quotient."),
    ),
    (
        N_("head_dim = d_model ÷ heads, windows ignored"),
        divided_width_no_windows,
        N_("Two mistakes at once."),
    ),
    (
        N_("latent without its rotary part"),
        latent_of(lambda shape, group: group.latent_dim),
        N_("The rotary key is cached beside the latent."),
    ),
    (
        N_("latent stored twice, no rotary part"),
        latent_of(lambda shape, group: 2 * group.latent_dim),
        N_("Keys and values are made of the same latent: there is no factor 2."),
    ),
    (
        N_("latent written out into heads"),
        latent_of(
            lambda shape, group: (
                shape.num_heads * (shape.nope_dim + group.rope_dim + shape.value_dim)
                if shape.nope_dim
                else 0
            )
        ),
        N_(
            "Software that caches every head's keys and values saves nothing "
            "(transformers 4.57 did)."
        ),
    ),
]
