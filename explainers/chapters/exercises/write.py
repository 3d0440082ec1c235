"""Functions of this app with a hole where their body was, and what is wrong with a new body."""

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
from explainers.attention.linear import write_delta
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


def _draw(seed: int, *axes: int) -> Tensor:
    return torch.randn(*axes, generator=make_generator("write", seed, *axes))


def _draw_for_attention(seed: int) -> tuple[Any, ...]:
    q_len, kv_len, head_dim, value_dim = 3 + seed, 6 + 2 * seed, 5 + seed, 2 + seed
    views = _draw(seed, 2, q_len, head_dim), _draw(seed, 2, kv_len, head_dim)
    mask = masks.build(masks.causal, q_len, kv_len)
    return *views, _draw(seed, 2, kv_len, value_dim), mask


def _draw_for_softmax(seed: int) -> tuple[Any, ...]:
    scores = _draw(seed, 2, 3 + seed, 4 + seed) * 10**seed  # so large that e to them overflows
    scores[..., 0, 1:] = -torch.inf
    return (scores,)


def _draw_for_read_block(seed: int) -> tuple[Any, ...]:
    scores, value = _draw(seed, 3, 8), _draw(seed, 8, 4 + seed)
    before = read_block(begin(scores, value), scores[:, : 3 + seed], value[: 3 + seed])
    return before, 4 * scores[:, 3 + seed :], value[3 + seed :]


def _draw_for_append(seed: int) -> tuple[Any, ...]:
    key, value = _draw(seed, 2, 4, 5), _draw(seed + 1, 2, 4, 5)
    rows = _draw(seed + 2, 2, 1 + seed, 5), _draw(seed + 3, 2, 1 + seed, 5)
    return Cache(key, value, seen=9 + seed), *rows


def _draw_for_write_delta(seed: int) -> tuple[Any, ...]:
    key_dim, value_dim = 3 + seed, 4 + 2 * seed
    state, key = _draw(seed, 2, value_dim, key_dim), _draw(seed, 2, key_dim)
    gates = _draw(seed + 1, 2, 2).sigmoid()
    return state, key, _draw(seed, 2, value_dim), gates[0], gates[1]


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
        lines = [*source.splitlines()[:docstring], *self._list_sizes(), f"    {HOLE}"]
        return "\n".join(lines)

    def _list_sizes(self) -> Iterator[str]:
        """Sizes of one call, and what the reader cannot know of what comes out."""
        arguments = self.arguments(1)
        given = zip(inspect.signature(self.function).parameters, arguments, strict=True)
        result = self.function(*arguments)
        yield "    # For example:"
        yield from (f"    #   {name}: {describe_shape(one)}" for name, one in given)
        yield f"    #   the result: {describe_shape(result)}"
        yield from (f"    # {note}" for note in self.notes)


HOLES = {
    "attention": Hole(attention, _draw_for_attention, ("`scores` are those before the mask.",)),
    "softmax": Hole(softmax, _draw_for_softmax),
    "split_heads": Hole(split_heads, lambda seed: (_draw(seed, 5, 3, 4 * (seed + 1)), 4)),
    "merge_heads": Hole(merge_heads, lambda seed: (_draw(seed, 2, 3 + seed, 5, 6),)),
    "share": Hole(share, lambda seed: (_draw(seed, 3, 5, 4), 2 + seed)),
    "rotate": Hole(
        rotate, lambda seed: (_draw(seed, 2, 5, 6), angles(torch.arange(5) + seed, 6, 10_000.0))
    ),
    "append": Hole(append, _draw_for_append, ("`seen` counts all tokens that were ever read.",)),
    "read_block": Hole(
        read_block,
        _draw_for_read_block,
        (
            "`largest` is each row's largest score so far, `total` the sum of e^(score − largest),",
            "`mixed` the same sum with each term times its value, and `correction` the factor by",
            "which this block multiplied what was there before. So `mixed / total` is the output.",
        ),
    ),
    "write_delta": Hole(write_delta, _draw_for_write_delta),
}


def make_template(name: str) -> str:
    """A file with all holes in it."""
    holes = [hole.template for hole in HOLES.values()]
    return "\n\n\n".join([HEADER.format(name=name).strip(), *holes]) + "\n"


def describe_shape(one: Any) -> str:
    """The shape of a tensor, the fields of what has some, or the number itself."""
    if isinstance(one, Tensor):
        return str(tuple(one.shape))
    if not isinstance(one, tuple):
        return str(one)
    fields = zip(one._fields, one, strict=True)  # type: ignore[attr-defined]
    described = ", ".join(f"{name} {describe_shape(part)}" for name, part in fields)
    return f"{type(one).__name__}({described})"


SEEDS = range(5)
MOST_LINES = 3


def find_fault(hole: Hole, written: Callable[..., Any]) -> str:
    """Nothing if it gives what ours gives, on numbers of many sizes."""
    names = inspect.signature(hole.function).parameters
    for seed in SEEDS:
        arguments = hole.arguments(seed)
        given = zip(names, arguments, strict=True)
        tried = "with " + ", ".join(f"{name} {describe_shape(one)}" for name, one in given)
        try:
            result = written(*arguments)
        except NotImplementedError:
            return "not written yet"
        except Exception as wrong:  # whatever a learner's code raises is for the learner to read
            return f"{tried} it raises {type(wrong).__name__}: {_keep_first_lines(wrong)}"
        if fault := _find_difference(result, hole.function(*arguments)):
            return f"{tried}: {fault}"
    return ""


def _find_difference(result: Any, right: Any) -> str:
    """Part by part, so that the first wrong one has a name."""
    if type(result) is not type(right):
        return f"it gives {_name_kind(result)}, not {_name_kind(right)}"
    if isinstance(right, tuple):
        parts = zip(right._fields, result, right, strict=True)  # type: ignore[attr-defined]
        faults = ((name, _find_difference(one, other)) for name, one, other in parts)
        return next((f"`{name}`: {fault}" for name, fault in faults if fault), "")
    try:
        torch.testing.assert_close(result, right, atol=1e-5, rtol=1e-4)
    except AssertionError as wrong:
        return _keep_first_lines(wrong)
    return ""


def _name_kind(one: Any) -> str:
    return "nothing" if one is None else f"the type {type(one).__name__}"


def _keep_first_lines(wrong: Exception) -> str:
    lines = [line for line in str(wrong).splitlines() if line.strip()]
    return " ".join(lines[:MOST_LINES])
