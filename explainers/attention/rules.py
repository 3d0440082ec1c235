"""What a mask is: a rule on two positions, and a row of the table in which all masks stand.

>>> import torch
>>> same = Rule(lambda query_pos, key_pos: query_pos == key_pos)
>>> same(torch.arange(2)[:, None], torch.arange(2))
tensor([[ True, False],
        [False,  True]])
"""

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class Rule:
    """A question about a query position and a key position, answered True for "may attend".

    Positions are integer tensors that broadcast; rules combine: `causal & padding(lengths)`.
    """

    allows: Callable[[Tensor, Tensor], Tensor]

    def __call__(self, query_pos: Tensor, key_pos: Tensor) -> Tensor:
        return self.allows(query_pos, key_pos)

    def __and__(self, other: "Rule") -> "Rule":
        return Rule(lambda query_pos, key_pos: self(query_pos, key_pos) & other(query_pos, key_pos))


@dataclass(frozen=True)
class Mask:
    """A row of the table: a rule, or what makes one of a number, which `parameter` labels."""

    name: str
    rule: Rule | Callable[[int], Rule]
    parameter: str = ""
    usual: int = 0
    least: int = 0

    def label(self) -> str:
        """The name with the usual number, as links and trained weights have it: "window of 3"."""
        return f"{self.name} of {self.usual}" if self.parameter else self.name

    def of(self, number: int) -> Rule:
        """The rule, with this number where it takes one."""
        return self.rule if isinstance(self.rule, Rule) else self.rule(number)
