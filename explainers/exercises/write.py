"""Write it: functions of this app with a hole where their body was, and what checks them."""

import ast
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from explainers.attention import masks
from explainers.attention.cache import Cache, append
from explainers.attention.grouped_query import share
from explainers.attention.multi_head import merge_heads, split_heads
from explainers.attention.online_softmax import begin, read_block
from explainers.attention.rotary import angles, rotate
from explainers.attention.scaled_dot_product import attention
from explainers.attention.steps import softmax
from explainers.examples import generator

HEADER = '''"""Write the bodies; then: python -m explainers.exercises check {name}"""

import math

import torch
from torch import Tensor

from explainers.attention.cache import Cache
from explainers.attention.online_softmax import Running
from explainers.attention.scaled_dot_product import Attention
'''
HOLE = 'raise NotImplementedError("your turn")'
SEEDS = range(5)


def _drawn(seed: int, *axes: int) -> Tensor:
    return torch.randn(*axes, generator=generator("write", seed, *axes))


def _for_attention(seed: int) -> tuple[Any, ...]:
    q_len, kv_len, head_dim, value_dim = 3 + seed, 4 + 2 * seed, 5 + seed, 2 + seed
    views = _drawn(seed, 2, q_len, head_dim), _drawn(seed, 2, kv_len, head_dim)
    mask = masks.build(masks.causal, q_len, kv_len)
    return *views, _drawn(seed, 2, kv_len, value_dim), mask


def _for_softmax(seed: int) -> tuple[Any, ...]:
    scores = _drawn(seed, 2, 3 + seed, 4 + seed) * 10**seed  # so large that e to them overflows
    scores[..., 0, 1:] = -torch.inf
    return (scores,)


def _for_read_block(seed: int) -> tuple[Any, ...]:
    scores, value = _drawn(seed, 3, 8), _drawn(seed, 8, 2 + seed)
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

    @property
    def template(self) -> str:
        """Its first lines, with a hole."""
        source = inspect.getsource(self.function)
        (node,) = (one for one in ast.parse(source).body if isinstance(one, ast.FunctionDef))
        docstring = node.body[0].end_lineno
        return "\n".join([*source.splitlines()[:docstring], f"    {HOLE}"])


HOLES = {
    "attention": Hole(attention, _for_attention),
    "softmax": Hole(softmax, _for_softmax),
    "split_heads": Hole(split_heads, lambda seed: (_drawn(seed, 2, 3, 4 * (seed + 1)), 4)),
    "merge_heads": Hole(merge_heads, lambda seed: (_drawn(seed, 2, 3 + seed, 5, 4),)),
    "share": Hole(share, lambda seed: (_drawn(seed, 3, 5, 4), 2 + seed)),
    "rotate": Hole(
        rotate, lambda seed: (_drawn(seed, 2, 5, 6), angles(torch.arange(5) + seed, 6, 10_000.0))
    ),
    "append": Hole(append, _for_append),
    "read_block": Hole(read_block, _for_read_block),
}


def template(name: str) -> str:
    """A file with all holes in it."""
    holes = [hole.template for hole in HOLES.values()]
    return "\n\n\n".join([HEADER.format(name=name).strip(), *holes]) + "\n"


def judge(hole: Hole, written: Callable[..., Any]) -> str:
    """What is wrong with a learner's function; nothing if it gives what ours gives."""
    for seed in SEEDS:
        arguments = hole.arguments(seed)
        sizes = ", ".join(_described(one) for one in arguments)
        right = hole.function(*arguments)
        try:
            torch.testing.assert_close(written(*arguments), right, atol=1e-5, rtol=1e-4)
        except NotImplementedError:
            return "not written yet"
        except Exception as wrong:  # whatever a learner's code raises is for the learner to read
            lines = [line for line in str(wrong).splitlines() if line.strip()]
            return f"{type(wrong).__name__} for {sizes}: {' '.join(lines[:3])}"
    return ""


def _described(argument: Any) -> str:
    if isinstance(argument, Tensor):
        return f"a tensor {tuple(argument.shape)}"
    return type(argument).__name__ if isinstance(argument, tuple) else str(argument)
