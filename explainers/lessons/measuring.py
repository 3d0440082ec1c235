"""Measurements in a thread of their own: never two at a time, to be watched and cancelled."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from explainers.turns import Work

Found = TypeVar("Found")


@dataclass(eq=False)
class Measuring(Work, Generic[Found]):
    """So many `steps`, each of which `measure` yields; and what can be seen of them meanwhile.

    None is no step: nothing is found there, but one may stop.
    """

    steps: int
    measure: Callable[[], Iterable[Found | None]]
    found: list[Found] = field(default_factory=list)

    @property
    def share(self) -> float:
        return len(self.found) / self.steps

    @property
    def is_complete(self) -> bool:
        return len(self.found) == self.steps

    def _work(self) -> None:
        for one in self.measure():
            if one is not None:
                self.found.append(one)
            if self.is_stopped:
                return
