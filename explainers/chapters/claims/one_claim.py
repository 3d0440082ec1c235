"""One claim: its question, its check, and what is taken away of it."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import streamlit as st

from explainers.chapters.claims.claim_table import VERDICTS, Claim, Finding, read_claims
from explainers.chapters.common.claim_parameters import (
    capitalise,
    choose_size,
    describe_sizes,
    find_published_entries,
)
from explainers.takeaway.recipe import Recipe
from explainers.translations import _, load_sections, pgettext
from explainers.ui.controls import controls
from explainers.ui.lecture.screens import screen
from explainers.ui.page import Prose
from explainers.ui.prediction import revealed
from explainers.ui.source import show_source
from explainers.ui.takeaway_files import take
from explainers.ui.untrusted_text import make_title

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


ICONS = dict(zip(VERDICTS, ("check_circle", "rule", "cancel", "help"), strict=True))


def choose_claim(text: Prose, part: str) -> Claim:
    """One of the part's sentences, all of them in sight."""
    text(f"part_{part}")
    offered = {
        make_title(claim.id): claim for claim in read_claims().values() if claim.part == part
    }
    texts = load_sections(text.page)
    captions = [
        pgettext(f"{text.page}/{name}", texts[name])
        for name in (f"claim_{claim.id}" for claim in offered.values())
    ]
    return offered[controls.claim(tuple(offered), captions)]


def show_claim(text: Prose, claim: Claim) -> None:
    """Judge, see what comes out, and change what the sentence speaks of."""
    with screen("ask", f"claim {claim.id}"):
        st.header(capitalise(make_title(claim.id)))
        text(f"claim_{claim.id}")
    take("claim")  # until it was judged
    with st.spinner(_("Computing it again"), show_time=False):
        own = compute_finding(claim, tuple(claim.as_written.values()))
    if not revealed(text, "verdict", VERDICTS, own.verdict, about=claim.id):
        return
    with st.container(horizontal=True):
        values = tuple(choose_size(claim.id, parameter) for parameter in claim.parameters)
    finding = compute_finding(claim, values)
    st.markdown(f"### :material/{ICONS[finding.verdict]}: {capitalise(finding.verdict)}")
    numbers = {name: _(number) for name, number in finding.numbers.items()}
    text(f"found_{claim.id}", **numbers)
    if values != tuple(claim.as_written.values()):
        sizes = describe_sizes(claim.parameters, claim.as_written)
        text("changed", own=sizes, verdict=_(own.verdict))
    choices = dict(zip((one.name for one in claim.parameters), values, strict=True))
    sentence = text.fill(f"claim_{claim.id}")
    offer_claim(claim, choices, finding, capitalise(make_title(claim.id)), sentence)
    show_source(claim.check)
    st.page_link(f"pages/{claim.page}.py", label=_("The page on this"), icon=":material/menu_book:")


@st.cache_data(max_entries=256, show_spinner=False, hash_funcs={Claim: lambda claim: claim.id})
def compute_finding(claim: Claim, values: tuple[object, ...]) -> Finding:
    """What comes out for these choices, in the order of the claim's parameters."""
    names = (parameter.name for parameter in claim.parameters)
    return claim.check(**dict(zip(names, values, strict=True)))
