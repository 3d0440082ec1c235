"""A pair of the reader's: two prompts, two answers, every head exchanged in the background."""

import streamlit as st

from explainers.chapters.common.background_job import offer_job, show_problem, watch_job
from explainers.chapters.does_it_matter.hero import OWN, Shown, make_hero
from explainers.messages import N_
from explainers.models.matter_jobs import PairRequest, make_patching_job
from explainers.models.patching import Pair, Patching
from explainers.models.shipped_ablations import MODEL
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.controls.name_controls import TextLine
from explainers.ui.figure.hero import Hero
from explainers.ui.page import Prose

first_prompt = TextLine(
    "prompt_a",
    N_("First prompt"),
    "When Mary and John went to the store, John gave a drink to",
    200,
)
second_prompt = TextLine(
    "prompt_b",
    N_("Second prompt"),
    "When Mary and John went to the store, Mary gave a drink to",
    200,
)
first_answer = TextLine("answer_a", N_("Its next word"), "Mary", 30)
second_answer = TextLine("answer_b", N_("Its next word"), "John", 30)
controls.register(first_prompt, second_prompt, first_answer, second_answer)
JOB = "matter: pair"


def choose_pair() -> Pair:
    """Four fields."""
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    with left:
        prompts = first_prompt(), second_prompt()
    with right:
        answers = first_answer(), second_answer()
    return Pair(*prompts, *answers)


def measure_pair(pair: Pair, seed: int) -> Patching | None:
    """A button, and how far the measurement is; at last its result, or why there is none."""
    job = make_patching_job(PairRequest(MODEL, pair, seed))
    shown = offer_job(JOB, _("Exchange every head"), job, icon=":material/swap_horiz:")
    if not shown or shown.subject != job.subject:
        return None
    if shown.state == "failed":
        show_problem(shown)
    elif shown.result is not None:
        return shown.result
    else:
        watch_job(JOB, shown, _("Exchanging"))
    return None


def make_picture(text: Prose, shown: Shown, pair: Pair, found: Patching, origin: str) -> Hero:
    """The page's first picture, of the reader's pair."""
    answers = pair.answer, pair.other_answer
    own = Shown(found, shown.ablations, answers, origin)
    return make_hero(text, own, OWN)[0]
