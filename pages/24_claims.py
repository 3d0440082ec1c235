"""Sentences that people write about attention, computed again in front of the reader."""

import streamlit as st

from explainers.chapters.claims import claim_table
from explainers.ui import page
from explainers.ui.figure.hero import follows, show_hero
from explainers.ui.lecture.screens import is_lecture
from explainers.ui.page import show_one_sentence
from explainers.ui.page_parts.go_deeper import refuse_card
from explainers.ui.prediction import is_study_mode, offer_all_answers
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
        claim_table.ask_class(text, claim)
        return
    with follows("finding"), st.container(key="claim finding"):
        if judgements[claim.id] or not is_study_mode():
            claim_table.show_finding(text, claim)
            offer_all_answers(claim.id)
        else:
            text("waiting")


text("question")
show_wall()
refuse_card()
show_one_sentence(text)
