"""All heads by all scores, and the heads that fulfil some conditions such as "induction > 0.4"."""

import operator
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

import torch
from torch import Tensor

from explainers.messages import N_
from explainers.models.head_ablation import KINDS
from explainers.models.head_roles import ROLES
from explainers.models.head_scores import PATTERNS, HeadScores
from explainers.models.registry import ModelError
from explainers.models.shipped_ablations import Ablations

SCORES = (
    *PATTERNS,
    *("one offset", "sink", "entropy", "entropy without the first token", "distance"),
)
PROBES_BRIEFLY = {"repeated": N_("random"), "natural": N_("prose")}
"""What a column calls the text on which its score was measured."""
ESTIMATE, RISE, ERROR = N_("estimate {kind}"), N_("loss {kind}"), N_("± {kind}")
MOST_CONDITIONS, MOST_CHARACTERS = 8, 200
SIGNS: dict[str, Callable[[Tensor, float], Tensor]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
_CONDITION = re.compile(r"\s*([^<>=]+?)\s*(>=|<=|>|<)\s*([+-]?[0-9]{0,6}(?:[.,][0-9]{1,6})?)\s*")
_AND = re.compile(r"\s+and\s+|;|&")


class Condition(NamedTuple):
    """A column, "<" or ">" or one of them with "=", and a number."""

    column: str
    sign: str
    number: float


def make_columns(scores: HeadScores, ablations: Ablations | None) -> dict[str, Tensor]:
    """Each score on each text (layers, heads), and what the loss rises by without the head:
    to first order, measured, and the standard error.

    A score that no head of this model can have is left out.
    """
    columns = {}
    for score in SCORES:
        for probe, briefly in PROBES_BRIEFLY.items():
            found = scores.select(probe, score)
            if not found.isnan().all():
                columns[f"{score}, {briefly}"] = found
    for row, kind in enumerate(KINDS) if ablations else ():
        rises = ablations.rises[row] if ablations else torch.empty(0)
        estimates = ablations.estimates[row] if ablations else rises
        columns[ESTIMATE.format(kind=kind)] = estimates.mean(dim=-1)
        columns[RISE.format(kind=kind)] = rises.mean(dim=-1)
        columns[ERROR.format(kind=kind)] = rises.std(dim=-1) / rises.shape[-1] ** 0.5
    return columns


def read_conditions(written: str, columns: Mapping[str, Tensor]) -> list[Condition]:
    """Such as "induction > 0.4 and loss mean > 0.01"; ModelError says what cannot be read.

    A score without its text means the text on which its name is earned.
    """
    if len(written) > MOST_CHARACTERS:
        raise ModelError(N_("At most {most} characters.", most=MOST_CHARACTERS))
    parts = [part for part in _AND.split(written) if part.strip()]
    if len(parts) > MOST_CONDITIONS:
        raise ModelError(N_("At most {most} conditions.", most=MOST_CONDITIONS))
    return [_read_condition(part, columns) for part in parts]


def _read_condition(part: str, columns: Mapping[str, Tensor]) -> Condition:
    found = _CONDITION.fullmatch(part)
    number = found[3].replace(",", ".") if found else ""
    if not found or not any(map(str.isdigit, number)):
        raise ModelError(
            N_("“{part}” is no condition: write a score, < or >, and a number.", part=part.strip())
        )
    column = find_column(found[1], columns)
    if not column:
        raise ModelError(N_("There is no score “{name}”. Use the name of a column.", name=found[1]))
    return Condition(column, found[2], float(number))


def find_column(name: str, columns: Mapping[str, Tensor]) -> str:
    """The column of this name, whole or without its text; none if there is no such."""
    wanted = " ".join(name.casefold().split())
    on = {role.score_name: PROBES_BRIEFLY[role.probe] for role in ROLES}
    usual = [f"{wanted}, {on[wanted]}"] if wanted in on else []
    usual += [wanted, *(f"{wanted}, {briefly}" for briefly in PROBES_BRIEFLY.values())]
    return next((one for one in usual if one in columns), "")


def select_heads(columns: Mapping[str, Tensor], conditions: list[Condition]) -> Tensor:
    """True for each head (layers, heads) that fulfils all of them; what has no score does not."""
    first = next(iter(columns.values()))
    chosen = torch.ones_like(first, dtype=torch.bool)
    for column, sign, number in conditions:
        chosen &= SIGNS[sign](columns[column], number)
    return chosen
