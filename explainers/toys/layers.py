"""A sentence as a layer of heads reads it: one record, with random weights or trained ones."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from torch import Tensor

from explainers.attention import masks
from explainers.attention.layer import MultiHead
from explainers.attention.single_head import SingleHead
from explainers.toys.examples import place_words, random_head, random_heads
from explainers.toys.learned import Learned

Tokens = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Layer:
    """Words as vectors, the heads that read them, and who may look at whom."""

    tokens: Tokens
    x: Tensor
    """(tokens, d_model)"""
    heads: MultiHead
    mask: Tensor
    rule: str
    """The mask's name in the table."""
    seed: int
    other_values: Tensor | None = None
    """W_V of a single head whose values are not as long as its keys."""
    learned: Learned | None = None
    """All that training learned, if the heads were trained."""
    unknown: Tokens = ()
    """Words that training never saw."""

    def head(self, number: int = 0) -> SingleHead:
        """One of the heads by itself."""
        heads, head_dim = self.heads, self.heads.head_dim
        own, shared = (
            slice(n * head_dim, (n + 1) * head_dim) for n in (number, number // heads.group_size)
        )
        w_value = heads.w_value[:, shared] if self.other_values is None else self.other_values
        return SingleHead(heads.w_query[:, own], heads.w_key[:, shared], w_value)

    def single(self) -> tuple[Tensor, SingleHead, Tensor]:
        """The words, the first head and the mask, as functions of one head take them."""
        return self.x, self.head(), self.mask

    def reading(self, tokens: Tokens) -> "Layer":
        """The same heads, reading other words."""
        if self.learned:
            x, unknown = self.learned.read_words(tokens)
        else:
            x, unknown = place_words(tokens, self.x.shape[-1], self.seed), ()
        mask = build_mask(self.rule, x)
        return replace(self, tokens=tokens, x=x, mask=mask, unknown=unknown)

    def as_call(self) -> tuple[Callable[..., "Layer"], dict[str, Any]]:
        """What makes this layer again: from its seed, or if it was trained, from its numbers."""
        if self.learned:
            names = "tokens", "x", "heads", "mask", "rule", "seed"
            return Layer, {name: getattr(self, name) for name in names}
        heads = self.heads
        sizes = {"num_heads": heads.num_heads, "head_dim": heads.head_dim, "rule": self.rule}
        given = {"tokens": self.tokens, "d_model": self.x.shape[-1], **sizes, "seed": self.seed}
        if self.other_values is not None:
            given["value_dim"] = self.other_values.shape[-1]
        return draw_layer, given


def build_mask(rule: str, x: Tensor) -> Tensor:
    """Who may look at whom in a sentence (tokens, d_model), by the mask's name in the table."""
    return masks.build(masks.RULES[rule], len(x), len(x)).to(x.device)


def draw_layer(
    tokens: Tokens,
    d_model: int,
    num_heads: int,
    head_dim: int,
    rule: str,
    seed: int,
    value_dim: int | None = None,
) -> Layer:
    """A sentence with its positions, and untrained heads; a single one may have another d_v."""
    x = place_words(tokens, d_model, seed)
    heads = random_heads(d_model, num_heads, num_heads, head_dim, seed)
    values = None
    if value_dim not in (None, head_dim):
        values = random_head(d_model, head_dim, value_dim or head_dim, seed).w_value
    return Layer(tokens, x, heads, build_mask(rule, x), rule, seed, values)
