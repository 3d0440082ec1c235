"""Sentences that people write about attention, computed again in front of the reader."""

from typing import Any

import streamlit as st

from explainers.chapters.claims import claim_table
from explainers.chapters.claims.claim_table import Claim, Finding
from explainers.chapters.common.claim_parameters import capitalise, choose_sizes, describe_sizes
from explainers.translations import _
from explainers.ui import page
from explainers.ui.figure.hero import follows, show_hero
from explainers.ui.lecture.screens import is_lecture, screen
from explainers.ui.page import show_one_sentence
from explainers.ui.page_parts.go_deeper import refuse_card
from explainers.ui.prediction import is_study_mode, offer_all_answers
from explainers.ui.source import show_source
from explainers.ui.takeaway_files import take
from explainers.ui.text.language import fragment

text = page.Prose(__file__)


@fragment
def show_wall() -> None:
    """The cards; and of the one that is open, once it was judged, what it rests on."""
    claim, judgements = claim_table.choose_claim(), claim_table.read_judgements()
    show_hero(text, claim_table.make_hero(text, claim, judgements), "claims")
    take("claim")  # until it was judged
    if is_lecture():
        for one in claim_table.list_next(claim):
            ask_class(one)
        return
    with follows("finding"), st.container(key="claim finding"):
        if judgements[claim.id] or not is_study_mode():
            show_finding(claim)
            offer_all_answers(claim.id)
        else:
            text("waiting")


def ask_class(claim: Claim) -> None:
    """One claim for a show of hands; then what it comes to."""
    with screen("ask", f"claim {claim.id}"):
        st.markdown(f"## {text.fill(f'claim_{claim.id}')}")
        st.markdown("\n".join(f"1. {capitalise(verdict)}" for verdict in claim_table.VERDICTS))
    with screen("answer", f"claim {claim.id}"):
        st.markdown(f"### {text.fill(f'claim_{claim.id}')}")
        show_verdict(claim, claim_table.compute_finding(claim, claim.as_written))
    show_source(claim.check)


def show_finding(claim: Claim) -> None:
    """The verdict with its numbers, what can be changed, the code, and the page on it."""
    with st.spinner(_("Computing it again"), show_time=False):
        own = claim_table.compute_finding(claim, claim.as_written)
    result = st.container()
    text("sizes")
    choices = choose_sizes(claim.id, claim.parameters)
    finding = claim_table.compute_finding(claim, choices)
    with result:
        show_verdict(claim, finding)
        if choices != claim.as_written:
            written = describe_sizes(claim.parameters, claim.as_written)
            text("changed", own=written, verdict=_(own.verdict))
    claim_table.offer_claim(claim, choices, finding, text.fill(f"claim_{claim.id}"))
    show_source(claim.check)
    st.page_link(
        f"pages/{claim.page}.py", label=_("Read the page about it"), icon=":material/menu_book:"
    )


def show_verdict(claim: Claim, finding: Finding) -> None:
    """What was computed, and the numbers that say so."""
    verdict = capitalise(finding.verdict)
    st.markdown(f":material/{claim_table.ICONS[finding.verdict]}: **{verdict}**")
    numbers: dict[str, Any] = {name: _(number) for name, number in finding.numbers.items()}
    text(f"found_{claim.id}", **numbers)


text("question")
show_wall()
refuse_card()
show_one_sentence(text)
