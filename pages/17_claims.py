"""Sentences that people write about attention, computed again in front of the reader."""

from explainers.chapters.claims.claim_table import list_parts
from explainers.chapters.claims.one_claim import choose_claim, show_claim
from explainers.ui import page
from explainers.ui.controls import controls
from explainers.ui.lecture.screens import screen
from explainers.ui.text.language import fragment

text = page.open_prose(__file__)


@fragment
def one_by_one() -> None:
    """Choose a sentence, judge it, see the verdict."""
    with screen("choose", "claim"):
        text("choose")
        claim = choose_claim(text, controls.claim_topic(list_parts()))
    show_claim(text, claim)


text("question")
one_by_one()
text("notice")
