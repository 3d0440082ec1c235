"""The hero of the claims: a wall of cards, each with a sentence and a stamp that is face down."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from explainers.chapters.claims.claim_table import VERDICTS, Claim, list_parts, read_claims
from explainers.chapters.common.claim_parameters import capitalise
from explainers.messages import N_
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.figure.chart import tabulate
from explainers.ui.figure.hero import Hero, HeroChoice, read_choice
from explainers.ui.page import Prose
from explainers.ui.prediction import SKIP, Guess, count_skip, is_study_mode
from explainers.ui.session import GUESS
from explainers.ui.untrusted_text import make_title

TALLIES = "hero_caption", "hero_start", "hero_tally", "hero_open"
ON_CARDS = "card_ask", "card_means", "card_right", "card_wrong"
MEANINGS = dict(
    zip(VERDICTS, ("means_holds", "means_condition", "means_fails", "means_lost"), strict=True)
)
"""Verdict → the section that says what it means."""


@dataclass(frozen=True)
class Judgement(Guess):
    """What a reader says of one claim, clicked on its card."""

    def put(self, value: str) -> None:
        """Take over a click; who only looks twice in a row is offered all answers."""
        count_skip(self.key, value == SKIP)
        super().put(value)


def choose_claim() -> Claim:
    """The card that is open; a link to a claim also opens its topic."""
    by_title = {make_title(claim.id): claim for claim in read_claims().values()}
    part = read_choice(controls.claim_topic, list_parts())
    first = next(title for title, claim in by_title.items() if claim.part == part)
    claim = by_title[read_choice(controls.claim, list(by_title), first)]
    if claim.part != part:
        st.session_state[controls.claim_topic.key] = claim.part
        controls.claim_topic.keep(claim.part)
        controls.claim_topic.write(claim.part)
    return claim


def read_judgements() -> dict[str, str | None]:
    """Claim → what the reader said of it; nothing where the stamp is still face down."""
    return {name: _make_judgement(name)(VERDICTS) for name in read_claims()}


def make_hero(text: Prose, chosen: Claim, judgements: Mapping[str, str | None]) -> Hero:
    """All cards, with the verdicts of the table: what is open is computed below the picture."""
    claims = read_claims()
    answers = None, *VERDICTS, SKIP
    cards = [
        {
            "id": make_title(name),
            "about": claim.part,
            "guess": _make_judgement(name).key,
            "text": text.fill(f"claim_{name}"),
            "verdict": VERDICTS.index(claim.verdict),
        }
        for name, claim in claims.items()
    ]
    verdicts = {
        verdict: {"label": capitalise(verdict), "means": text.fill(meaning)}
        for verdict, meaning in MEANINGS.items()
    }
    numbers = {
        "cards": cards,
        "verdicts": verdicts,
        "skip": {"key": SKIP, "label": _("Show me")},
        "topics": {part: text.fill(f"part_{part}") for part in list_parts()},
        "is_open": not is_study_mode(),
    }
    titles = [make_title(name) for name in claims]
    choices = [
        HeroChoice(controls.claim_topic, list_parts(), chosen.part),
        HeroChoice(controls.claim, titles, make_title(chosen.id)),
        *(HeroChoice(_make_judgement(name), answers, judgements[name]) for name in claims),
    ]
    origin = _("verdicts computed with this app's code")
    alt = _("Cards with sentences about attention. Each shows its verdict once it was judged.")
    return Hero(
        "claims_wall",
        alt,
        numbers,
        choices,
        (*TALLIES, *ON_CARDS),
        origin=origin,
        table=lambda: make_table(cards, judgements, is_open=not is_study_mode()),
    )


def make_table(
    cards: Sequence[Mapping[str, Any]], judgements: Mapping[str, str | None], is_open: bool
) -> Any:
    """What is seen on the wall, card by card; verdicts only of those whose stamp has turned."""
    said = list(judgements.values())
    seen = zip([VERDICTS[card["verdict"]] for card in cards], said, strict=True)
    columns = {
        _("Claim"): [card["text"] for card in cards],
        _("Your judgement"): [_(one) if one else "" for one in said],
        _("Verdict"): [_(verdict) if one or is_open else "" for verdict, one in seen],
    }
    return tabulate(columns)


def _make_judgement(claim: str) -> Judgement:
    return Judgement(GUESS + claim, N_("Your prediction"), None)
