"""One claim: its check, what comes of it for the sizes on screen, and what is taken away."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import streamlit as st

from explainers.chapters.claims.claim_table import VERDICTS, Claim, Finding
from explainers.chapters.common.claim_parameters import (
    capitalise,
    choose_size,
    find_published_entries,
)
from explainers.takeaway.recipe import Recipe
from explainers.ui.takeaway_files import take
from explainers.ui.untrusted_text import make_title

TRAINED = {
    *("peaks_on_subject_and_object", "one_head_one_relation", "attention_explains"),
    *("first_token_gets_most", "layers_get_sharper"),
}
"""These read weights, scores and held-out sentences of ours, which no file of this size holds."""
LISTED = {"width_of_gpt_4"}
"""This looks through all published models."""
ICONS = dict(zip(VERDICTS, ("check_circle", "rule", "cancel", "help"), strict=True))


def run_check(check: Callable[..., Finding], choices: Mapping[str, Any]) -> dict[str, str]:
    """The verdict, and the numbers it rests on."""
    finding = check(**choices)
    return {"verdict": finding.verdict, **finding.numbers}


def offer_claim(one: Claim, choices: Mapping[str, Any], finding: Finding, sentence: str) -> None:
    """What comes out for the choices on screen."""
    if one.id in TRAINED | LISTED:
        take("claim")
        return
    inputs = {"check": one.check, "choices": choices}
    shown = {"verdict": finding.verdict, **finding.numbers}
    given = partial(find_published_entries, one.check, choices.values())
    title = capitalise(make_title(one.id))
    take("claim", Recipe(title, run_check, inputs, shown, given=given, remark=f"> {sentence}"))


def choose_sizes(claim: Claim) -> dict[str, Any]:
    """The reader's values of all that the claim speaks of."""
    return {one.name: choose_size(claim.id, one) for one in claim.parameters}


@st.cache_data(max_entries=512, show_spinner=False, hash_funcs={Claim: lambda claim: claim.id})
def compute_finding(claim: Claim, choices: Mapping[str, Any]) -> Finding:
    """What comes out for these choices."""
    return claim.check(**choices)
