"""To take away from page 16: one claim with the reader's choices."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from explainers.chapters.claims.claim_table import Claim, Finding
from explainers.chapters.common.claim_parameters import find_published_entries
from explainers.takeaway.recipe import Recipe
from explainers.ui.takeaway_files import take

TRAINED = {"peaks_on_subject_and_object", "one_head_one_relation", "attention_explains"}
"""These read weights and held-out sentences of ours, which no file of this size holds."""
LISTED = {"width_of_gpt_4"}
"""This looks through all published models."""


def run_check(check: Callable[..., Finding], choices: Mapping[str, Any]) -> dict[str, str]:
    """The verdict, and the numbers it rests on."""
    finding = check(**choices)
    return {"verdict": finding.verdict, **finding.numbers}


def offer_claim(
    one: Claim, choices: dict[str, Any], finding: Finding, title: str, sentence: str
) -> None:
    """What comes out for the choices on screen."""
    if one.id in TRAINED | LISTED:
        take("claim")
        return
    inputs = {"check": one.check, "choices": choices}
    shown = {"verdict": finding.verdict, **finding.numbers}
    given = partial(find_published_entries, one.check, choices.values())
    take("claim", Recipe(title, run_check, inputs, shown, given=given, remark=f"> {sentence}"))
