"""Write it: functions of this app with a hole where their body was."""

import ast
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from explainers.attention import masks
from explainers.attention.cache.kv_cache import Cache, append
from explainers.attention.grouped_query import share
from explainers.attention.multi_head import merge_heads, split_heads
from explainers.attention.online_softmax import begin, read_block
from explainers.attention.rotary import angles, rotate
from explainers.attention.scaled_dot_product import attention
from explainers.attention.steps import softmax
from explainers.toys.examples import make_generator

HEADER = '''"""Write the bodies; then: python -m explainers.chapters.exercises check {name}"""

import math

import torch
from torch import Tensor

from explainers.attention.cache.kv_cache import Cache
from explainers.attention.online_softmax import Running
from explainers.attention.scaled_dot_product import Attention
'''
HOLE = 'raise NotImplementedError("your turn")'


def _drawn(seed: int, *axes: int) -> Tensor:
    return torch.randn(*axes, generator=make_generator("write", seed, *axes))


def _for_attention(seed: int) -> tuple[Any, ...]:
    q_len, kv_len, head_dim, value_dim = 3 + seed, 6 + 2 * seed, 5 + seed, 2 + seed
    views = _drawn(seed, 2, q_len, head_dim), _drawn(seed, 2, kv_len, head_dim)
    mask = masks.build(masks.causal, q_len, kv_len)
    return *views, _drawn(seed, 2, kv_len, value_dim), mask


def _for_softmax(seed: int) -> tuple[Any, ...]:
    scores = _drawn(seed, 2, 3 + seed, 4 + seed) * 10**seed  # so large that e to them overflows
    scores[..., 0, 1:] = -torch.inf
    return (scores,)


def _for_read_block(seed: int) -> tuple[Any, ...]:
    scores, value = _drawn(seed, 3, 8), _drawn(seed, 8, 4 + seed)
    before = read_block(begin(scores, value), scores[:, : 3 + seed], value[: 3 + seed])
    return before, 4 * scores[:, 3 + seed :], value[3 + seed :]


def _for_append(seed: int) -> tuple[Any, ...]:
    key, value = _drawn(seed, 2, 4, 5), _drawn(seed + 1, 2, 4, 5)
    rows = _drawn(seed + 2, 2, 1 + seed, 5), _drawn(seed + 3, 2, 1 + seed, 5)
    return Cache(key, value, seen=9 + seed), *rows


@dataclass(frozen=True)
class Hole:
    """A function to be written, and the arguments that it is tried with."""

    function: Callable[..., Any]
    arguments: Callable[[int], tuple[Any, ...]]
    notes: tuple[str, ...] = ()

    @property
    def template(self) -> str:
        """Its first lines, with a hole."""
        source = inspect.getsource(self.function)
        (node,) = (one for one in ast.parse(source).body if isinstance(one, ast.FunctionDef))
        docstring = node.body[0].end_lineno
        lines = [*source.splitlines()[:docstring], *self._comments(), f"    {HOLE}"]
        return "\n".join(lines)

    def _comments(self) -> Iterator[str]:
        """Sizes of one call, and what the reader cannot know of what comes out."""
        arguments = self.arguments(1)
        given = zip(inspect.signature(self.function).parameters, arguments, strict=True)
        result = self.function(*arguments)
        yield "    # For example:"
        yield from (f"    #   {name}: {sizes(one)}" for name, one in given)
        yield f"    #   the result: {sizes(result)}"
        yield from (f"    # {note}" for note in self.notes)


HOLES = {
    "attention": Hole(attention, _for_attention, ("`scores` are those before the mask.",)),
    "softmax": Hole(softmax, _for_softmax),
    "split_heads": Hole(split_heads, lambda seed: (_drawn(seed, 5, 3, 4 * (seed + 1)), 4)),
    "merge_heads": Hole(merge_heads, lambda seed: (_drawn(seed, 2, 3 + seed, 5, 6),)),
    "share": Hole(share, lambda seed: (_drawn(seed, 3, 5, 4), 2 + seed)),
    "rotate": Hole(
        rotate, lambda seed: (_drawn(seed, 2, 5, 6), angles(torch.arange(5) + seed, 6, 10_000.0))
    ),
    "append": Hole(append, _for_append, ("`seen` counts all tokens that were ever read.",)),
    "read_block": Hole(
        read_block,
        _for_read_block,
        (
            "`largest` is each row's largest score so far, `total` the sum of e^(score − largest),",
            "`mixed` the same sum with each term times its value, and `correction` the factor by",
            "which this block multiplied what was there before. So `mixed / total` is the output.",
        ),
    ),
}


def template(name: str) -> str:
    """A file with all holes in it."""
    holes = [hole.template for hole in HOLES.values()]
    return "\n\n\n".join([HEADER.format(name=name).strip(), *holes]) + "\n"


def sizes(one: Any) -> str:
    """The shape of a tensor, the fields of what has some, or the number itself."""
    if isinstance(one, Tensor):
        return str(tuple(one.shape))
    if not isinstance(one, tuple):
        return str(one)
    fields = zip(one._fields, one, strict=True)  # type: ignore[attr-defined]
    return f"{type(one).__name__}({', '.join(f'{name} {sizes(part)}' for name, part in fields)})"
