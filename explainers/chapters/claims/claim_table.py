"""The claims as data: assets/claims.json says which function checks each, and with what choices."""

import functools
import importlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from explainers.chapters.claims.finding import VERDICTS, Finding
from explainers.folders import ASSETS

FILE = ASSETS / "claims.json"


@dataclass(frozen=True)
class Parameter:
    """What a reader can change about a claim, and the value that the sentence itself speaks of."""

    name: str
    label: str
    values: tuple[Any, ...]
    default: Any

    def __post_init__(self) -> None:
        if self.default not in self.values:
            raise ValueError(f"{self.name}: {self.default} is none of {self.values}")


@dataclass(frozen=True)
class Claim:
    """A sentence that people write; its text is kept with the texts of the page.

    `verdict` is what came out when the row was written: a test compares it, the page computes it.
    """

    id: str
    part: str
    page: str
    verdict: str
    parameters: tuple[Parameter, ...]

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            raise ValueError(f"{self.id}: {self.verdict!r} is none of {', '.join(VERDICTS)}")

    @property
    def check(self) -> Callable[..., Finding]:
        """The function that computes it."""
        checks = importlib.import_module(
            f"explainers.chapters.claims.about_{self.part}"
        )  # torch comes with it
        function: Callable[..., Finding] = getattr(checks, self.id)
        return function

    @property
    def as_written(self) -> dict[str, Any]:
        """The choices of the sentence itself."""
        return {parameter.name: parameter.default for parameter in self.parameters}


@functools.cache
def claims() -> dict[str, Claim]:
    """id: claim, in the order of the pages' list."""
    rows = json.loads(FILE.read_text(encoding="utf-8"))
    return {claim.id: claim for claim in map(_claim, rows)}


def parts() -> tuple[str, ...]:
    """The parts that the claims fall into."""
    return tuple(dict.fromkeys(claim.part for claim in claims().values()))


def _claim(row: dict[str, Any]) -> Claim:
    part, name = row["check"].split(".")
    parameters = tuple(
        Parameter(p["name"], p["label"], tuple(p["values"]), p["default"])
        for p in row["parameters"]
    )
    return Claim(name, part, row["page"], row["verdict"], parameters)
