"""The claims: a table of what each says and its check, and the wall of cards that shows them."""

import functools
import importlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from explainers.chapters.common.claim_parameters import (
    Setting,
    capitalise,
    choose_sizes,
    describe_sizes,
    find_published_entries,
)
from explainers.folders import ASSETS
from explainers.messages import N_
from explainers.takeaway.recipe import Recipe
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.figure.chart import tabulate
from explainers.ui.figure.hero import Hero, HeroChoice
from explainers.ui.lecture.screens import screen
from explainers.ui.page import Prose
from explainers.ui.prediction import SKIP, Guess, count_skip, is_study_mode
from explainers.ui.session import GUESS
from explainers.ui.source import show_source
from explainers.ui.takeaway_files import take
from explainers.ui.untrusted_text import make_title

HOLDS = N_("holds")
CONDITION = N_("holds with a condition")
FAILS = N_("does not hold")
LOST = N_("not reproducible")
VERDICTS = HOLDS, CONDITION, FAILS, LOST


@dataclass(frozen=True)
class Finding:
    """A verdict, and the numbers it rests on, as the remark under the claim prints them."""

    verdict: str
    numbers: dict[str, str]


def judge_claim(here: bool, everywhere: bool = True, /, **numbers: object) -> Finding:
    """True here and everywhere it was tried: holds; only here: with a condition; else it fails."""
    return make_finding((HOLDS if everywhere else CONDITION) if here else FAILS, **numbers)


def judge_among(chosen: object, holds: Mapping[Any, bool], **numbers: object) -> Finding:
    """The same of whatever was tried, of which one is chosen."""
    return judge_claim(holds[chosen], all(holds.values()), **numbers)


def make_finding(verdict: str, **numbers: object) -> Finding:
    """Any verdict; whole numbers are printed with their thousands apart."""
    return Finding(verdict, {name: format_number(number) for name, number in numbers.items()})


def format_number(number: object) -> str:
    """18000 as 18,000, and 0.12345 as 0.123; words stay as they are."""
    if not isinstance(number, int | float):
        return str(number)
    if isinstance(number, int):
        return f"{number:,}"
    return "0" if number == 0 else f"{number:.2e}" if abs(number) < 5e-4 else f"{number:,.3f}"


FILE = ASSETS / "claims.json"


@dataclass(frozen=True)
class Claim:
    """A sentence that people write; its text is kept with the texts of the page.

    `verdict` is what came out when the row was written: a test compares it, the page computes it.
    """

    id: str
    part: str
    module: str
    page: str
    verdict: str
    parameters: tuple[Setting, ...]

    @property
    def check(self) -> Callable[..., Finding]:
        """The function that computes it."""
        module = f"explainers.chapters.claims.about_{self.module}"
        function: Callable[..., Finding] = getattr(importlib.import_module(module), self.id)
        return function

    @property
    def as_written(self) -> dict[str, Any]:
        """The choices of the sentence itself."""
        return {parameter.name: parameter.default for parameter in self.parameters}


@functools.cache
def read_claims() -> dict[str, Claim]:
    """id: claim, in the order of the pages' list."""
    claims = {}
    for row in json.loads(FILE.read_text(encoding="utf-8")):
        module, name = row["check"].split(".")
        parameters = tuple(
            Setting(**one | {"values": tuple(one["values"])}) for one in row["parameters"]
        )
        claims[name] = Claim(name, row["part"], module, row["page"], row["verdict"], parameters)
    return claims


def list_parts() -> tuple[str, ...]:
    """The parts that the claims fall into."""
    return tuple(dict.fromkeys(claim.part for claim in read_claims().values()))


NEED_FILES = {
    *("width_of_gpt_4", "same_output_as_gpt_2"),
    *("peaks_on_subject_and_object", "one_head_one_relation", "attention_explains"),
    *("first_token_gets_most", "layers_get_sharper"),
    "zeros_tell_what_a_head_is_worth",
    *("sink_replaces_first", "idle_heads_spread", "cap_empties_first", "interpolation_is_free"),
    *("few_keys_lose_nothing", "heads_need_their_own_keys"),
}
"""One looks through all published models, one builds a model of transformers; the others read
weights, scores and held-out sentences of ours, which no file of this size holds."""
MOST_IN_LECTURE = 5
"""Claims that a class is asked about, one after the other."""
ICONS = dict(zip(VERDICTS, ("check_circle", "rule", "cancel", "help"), strict=True))


def run_check(check: Callable[..., Finding], choices: Mapping[str, Any]) -> dict[str, str]:
    """The verdict, and the numbers it rests on."""
    finding = check(**choices)
    return {"verdict": finding.verdict, **finding.numbers}


@st.cache_data(max_entries=512, show_spinner=False, hash_funcs={Claim: lambda claim: claim.id})
def compute_finding(claim: Claim, choices: Mapping[str, Any]) -> Finding:
    """What comes out for these choices."""
    return claim.check(**choices)


def show_verdict(text: Prose, claim: Claim, finding: Finding) -> None:
    """What was computed, and the numbers that say so."""
    st.markdown(f":material/{ICONS[finding.verdict]}: **{capitalise(finding.verdict)}**")
    text(f"found_{claim.id}", **{name: _(number) for name, number in finding.numbers.items()})


def ask_class(text: Prose, first: Claim) -> None:
    """The claim, and those after it, each for a show of hands; then what it comes to."""
    claims = list(read_claims().values())
    place = claims.index(first)
    for claim in [*claims[place:], *claims[:place]][:MOST_IN_LECTURE]:
        sentence = text.fill(f"claim_{claim.id}")
        with screen("ask", f"claim {claim.id}"):
            st.markdown(f"## {sentence}")
            st.markdown("\n".join(f"1. {capitalise(verdict)}" for verdict in VERDICTS))
        with screen("answer", f"claim {claim.id}"):
            st.markdown(f"### {sentence}")
            show_verdict(text, claim, compute_finding(claim, claim.as_written))
        show_source(claim.check)


def show_finding(text: Prose, claim: Claim) -> None:
    """The verdict with its numbers, what can be changed, the code, and the page on it."""
    with st.spinner(_("Computing it again"), show_time=False):
        own = compute_finding(claim, claim.as_written)
    result = st.container()
    text("sizes")
    choices = choose_sizes(claim.id, claim.parameters)
    finding = compute_finding(claim, choices)
    with result:
        show_verdict(text, claim, finding)
        if choices != claim.as_written:
            written = describe_sizes(claim.parameters, claim.as_written)
            text("changed", own=written, verdict=_(own.verdict))
    if claim.id in NEED_FILES:
        take("claim")
    else:
        inputs = {"check": claim.check, "choices": choices}
        shown = {"verdict": finding.verdict, **finding.numbers}
        given = partial(find_published_entries, claim.check, choices.values())
        title, remark = capitalise(make_title(claim.id)), f"> {text.fill(f'claim_{claim.id}')}"
        take("claim", Recipe(title, run_check, inputs, shown, given=given, remark=remark))
    show_source(claim.check)
    icon, label = ":material/menu_book:", _("Read the page about it")
    st.page_link(f"pages/{claim.page}.py", label=label, icon=icon)


SENTENCES = (
    *("hero_caption", "hero_start", "hero_tally", "hero_open"),
    *("card_ask", "card_means", "card_right", "card_wrong"),
)
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
    part = controls.claim_topic.resolve_among(list_parts())
    first = next(title for title, claim in by_title.items() if claim.part == part)
    claim = by_title[controls.claim.resolve_among(list(by_title), first)]
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
        SENTENCES,
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
