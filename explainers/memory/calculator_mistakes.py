"""Wrong cache sizes that other calculators print: each usual mistake, made on purpose."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

from explainers.memory.cache_bytes import NumberFormat, count_cache_bytes
from explainers.memory.model_shapes import (
    KINDS_WITH_HEADS,
    KINDS_WITH_WINDOW,
    LayerGroup,
    ModelShape,
)
from explainers.messages import N_

DECIMAL_128K, BINARY_128K = 128_000, 131_072
GroupChange = Callable[[ModelShape, LayerGroup], LayerGroup]
"""How a mistake changes one group of layers."""


@dataclass(frozen=True)
class WrongAnswer:
    """A wrong size that one may read elsewhere, its ratio to the right one, and its reason."""

    name: str
    size: int
    ratio: Fraction
    reason: str


def list_wrong_answers(
    shape: ModelShape,
    tokens: int,
    batch: int = 1,
    dtype: str | NumberFormat = "bfloat16",
    source_tokens: int | None = None,
    beams: int = 1,
) -> tuple[WrongAnswer, ...]:
    """The mistakes that change this model's size, each size once, the largest first."""
    count_bytes = partial(count_cache_bytes, batch=batch, dtype=dtype, source_tokens=source_tokens)
    right_size = count_bytes(shape, tokens, beams=beams)
    answers: list[WrongAnswer] = []
    for name, wrong_shape, length, reason in make_mistakes(shape, tokens):
        size = count_bytes(wrong_shape, length, beams=beams)
        if size not in (right_size, *(answer.size for answer in answers)):
            answers.append(WrongAnswer(name, size, Fraction(size, right_size), reason))
    return tuple(sorted(answers, key=lambda answer: -answer.size))


def make_mistakes(shape: ModelShape, tokens: int) -> Iterator[tuple[str, ModelShape, int, str]]:
    """Each mistake as (name, the wrong shape, the wrong number of tokens, why it is wrong)."""
    for name, change, reason in MISTAKES:
        groups = tuple(change(shape, group) for group in shape.require_groups())
        yield name, replace(shape, groups=groups), tokens, reason
    if any(group.kind == "cross" for group in shape.require_groups()):
        decoder_groups = tuple(group for group in shape.require_groups() if group.kind != "cross")
        reason = N_(
            "The decoder also keeps keys and values of the encoder's text, however little it says."
        )
        yield N_("cross-attention left out"), replace(shape, groups=decoder_groups), tokens, reason
    if tokens in (DECIMAL_128K, BINARY_128K):
        other_length = BINARY_128K if tokens == DECIMAL_128K else DECIMAL_128K
        reason = N_("“128K” is 128,000 tokens to some and 131,072 to others.")
        yield N_("{count:,} tokens", count=other_length), shape, other_length, reason


def cache_query_heads(shape: ModelShape, group: LayerGroup) -> LayerGroup:
    """The mistake of caching keys and values for every query head."""
    if group.kind not in KINDS_WITH_HEADS:
        return group
    return replace(group, num_kv_heads=shape.num_heads)


def ignore_windows(shape: ModelShape, group: LayerGroup) -> LayerGroup:
    """The mistake of letting layers with a window keep the whole text."""
    return replace(group, kind="full", window=None) if group.kind in KINDS_WITH_WINDOW else group


def divide_width(shape: ModelShape, group: LayerGroup) -> LayerGroup:
    """The mistake of dividing d_model by the heads for head_dim, rounded up."""
    if group.kind not in KINDS_WITH_HEADS:
        return group
    return replace(group, head_dim=-(-shape.d_model // shape.num_heads))


def divide_width_and_ignore_windows(shape: ModelShape, group: LayerGroup) -> LayerGroup:
    """Both mistakes at once, as in a table that many have copied."""
    return divide_width(shape, ignore_windows(shape, group))


def change_latent_width(width: Callable[[ModelShape, LayerGroup], int]) -> GroupChange:
    """A mistake about the width of a latent, its rotary part included.

    Only the sum of both parts is counted, so one element is called rotary.
    """

    def change(shape: ModelShape, group: LayerGroup) -> LayerGroup:
        if group.kind != "latent" or width(shape, group) < 2:
            return group
        return replace(group, latent_dim=width(shape, group) - 1, rope_dim=1)

    return change


MISTAKES: list[tuple[str, GroupChange, str]] = [
    (
        N_("query heads for KV heads"),
        cache_query_heads,
        N_("Only KV heads are cached; several query heads share each of them."),
    ),
    (N_("windows ignored"), ignore_windows, N_("A local layer keeps no more than its window.")),
    (
        N_("head_dim = d_model ÷ heads"),
        divide_width,
        N_("In this model head_dim is a number of its own, not a quotient."),
    ),
    (
        N_("head_dim = d_model ÷ heads, windows ignored"),
        divide_width_and_ignore_windows,
        N_("Two mistakes at once."),
    ),
    (
        N_("latent without its rotary part"),
        change_latent_width(lambda shape, group: group.latent_dim),
        N_("The rotary key is cached beside the latent."),
    ),
    (
        N_("latent stored twice, no rotary part"),
        change_latent_width(lambda shape, group: 2 * group.latent_dim),
        N_("Keys and values are made of the same latent: there is no factor 2."),
    ),
    (
        N_("latent written out into heads"),
        change_latent_width(
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
