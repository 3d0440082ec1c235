"""Switching heads off for a visitor who watches: measured if need be, then read three times."""

from dataclasses import dataclass, field

from explainers.models.load import load
from explainers.models.scoring import Scoring, UnwantedError
from explainers.models.silenced import READ, Head, Silenced, others, silenced, with_role

ROLE = "induction"
CASES = 3
"""With all heads, without those that have the role, and without as many others."""


@dataclass(eq=False)
class Silencing(Scoring):
    """Heads measured if they are not yet; then both probes read three times."""

    seed: int = 0
    read: int = 0
    heads: tuple[Head, ...] | None = None
    found: list[Silenced] = field(default_factory=list)

    @property
    def is_complete(self) -> bool:
        return self.heads == () or len(self.found) == CASES

    @property
    def share(self) -> float:
        """Half for the measuring, half for the reading."""
        return (super().share + self.read / (READ * CASES)) / 2

    def said(self) -> str:
        """What is under way."""
        if not self.scores:
            return f"measuring all heads, once: layer {self.done} of {self.steps or '?'}"
        return f"text {self.read} of {READ * CASES}"

    def _work(self) -> None:
        super()._work()
        if not self.scores:
            return
        self.heads = with_role(self.scores, ROLE)
        if not self.heads:
            return
        loaded, (_, num_heads) = load(self.named), self.scores.shape
        try:
            for heads in ((), self.heads, others(self.heads, num_heads, self.seed)):
                self.found.append(silenced(loaded, heads, self._heard))
        except UnwantedError:
            return

    def _heard(self, _: int) -> None:
        self.read += 1
        if self.is_stopped:
            raise UnwantedError
