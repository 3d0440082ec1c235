"""Sentences that people write about attention, computed again in front of the reader."""

import streamlit as st

from explainers.claims.rows import parts
from explainers.lessons.claims import choose_claim, show_claim
from explainers.ui import claim_controls, common
from explainers.ui.lecturing import screen

text = common.page_text(__file__)


@st.fragment
def one_by_one() -> None:
    """Choose a sentence, judge it, see the verdict."""
    with screen("choose", "claim"):
        text("choose")
        claim = choose_claim(text, claim_controls.about(parts()))
    show_claim(text, claim)


text("question")
one_by_one()
text("notice")
