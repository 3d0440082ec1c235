"""How much memory the keys and values of a text take: calculators that agree with real caches."""

from functools import partial

import streamlit as st

from explainers.chapters.cache_memory import cards, choose_cache, compared_models, gpu_fit
from explainers.chapters.cache_memory.hero import make_hero
from explainers.chapters.exercises.predict_cache import bytes_of_a_token, gigabytes_of_a_model
from explainers.models.registry import READ_FOLDERS_VARIABLE
from explainers.translations import _
from explainers.ui import page
from explainers.ui.controls import controls
from explainers.ui.figure.hero import follows, show_hero
from explainers.ui.lecture.screens import screen
from explainers.ui.page import show_one_sentence
from explainers.ui.page_parts.check_yourself import check_yourself
from explainers.ui.page_parts.go_deeper import go_deeper
from explainers.ui.source import show_source
from explainers.ui.text.language import fragment

text = page.Prose(__file__)


CARDS = {
    "layers": cards.show_layers,
    "serving": gpu_fit.show_serving,
    "gpus": cards.show_gpus,
    "flags": cards.show_flags,
}


def draw_card(name: str) -> None:
    """A card about the chosen model, as far as there is one."""
    plan = gpu_fit.read_plan()
    if plan.choice:
        CARDS[name](text, plan.choice, plan.deployment)
    else:
        text("no_model")


@fragment
def show_planner() -> None:
    """The choices, the picture and the arithmetic of its cache."""
    name, gpu, more = gpu_fit.choose_first()
    if name == controls.CONFIG:
        text("paste", most=f"{choose_cache.MAX_PASTED:,}", switch=READ_FOLDERS_VARIABLE)
    shape = choose_cache.read_shape_or_warn(name)
    choice, hardware = gpu_fit.choose_rest(more, shape, gpu)
    deployment = gpu_fit.make_plan(choice, hardware).deployment
    if choice and deployment:
        show_hero(text, make_hero(text, choice, hardware, deployment), "memory")
    if choice:
        text("how", stored=text.fill(f"how_{cards.name_stored(choice.shape)}"))
        with follows("working"):
            with screen("rest", "working"):
                st.code("\n".join(map(_, choice.explain().lines)), language=None, wrap_lines=True)
            text("result", **cards.measure_cache(choice))
        with st.expander(_("Where the numbers of this model come from")):
            cards.show_sources(text, choice.shape)


text("question")
with gpu_fit.whole_page():
    show_planner()
    if gpu_fit.read_plan().choice:
        show_source(*cards.CODE)
    with follows("comparison"):
        compared_models.compare_models(text)
    go_deeper(text, {name: partial(draw_card, name) for name in CARDS})
show_one_sentence(text)
check_yourself(text, {"token": bytes_of_a_token, "model": gigabytes_of_a_model})
