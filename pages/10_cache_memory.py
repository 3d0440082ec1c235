"""How much memory the keys and values of a text take: calculators that agree with real caches."""

from collections.abc import Callable

import streamlit as st

from explainers.chapters.cache_memory import cache_result, choose_cache, compared_models, gpu_fit
from explainers.chapters.cache_memory.choose_cache import CacheChoice
from explainers.chapters.cache_memory.gpu_fit import Hardware
from explainers.chapters.cache_memory.hero import make_hero
from explainers.chapters.cache_memory.published_table import choose_rows, count_figures
from explainers.chapters.cache_memory.takeaway import take_cache, take_fit
from explainers.chapters.exercises.predict_cache import bytes_of_a_token, gigabytes_of_a_model
from explainers.memory.cache_formula import IDEAL
from explainers.memory.engines import has_format
from explainers.memory.serving import Deployment, read_gpus
from explainers.models.registry import READ_FOLDERS_VARIABLE
from explainers.translations import _
from explainers.ui import page
from explainers.ui.controls import controls
from explainers.ui.figure.hero import show_hero
from explainers.ui.page import show_one_sentence
from explainers.ui.page_parts.check_yourself import check_yourself
from explainers.ui.page_parts.go_deeper import go_deeper
from explainers.ui.page_parts.veil import ask_veiled
from explainers.ui.prediction import revealed
from explainers.ui.source import show_source
from explainers.ui.takeaway_files import take
from explainers.ui.text.language import fragment
from explainers.ui.untrusted_text import verbatim

text = page.open_prose(__file__)


@fragment
def compare_models(choice: CacheChoice, hardware: Hardware) -> None:
    """The models that the reader chooses, as lines and as a table."""
    if shapes := compared_models.choose_models():
        text("compared", **compared_models.show_models(shapes, choice, hardware))
        text("noticed")
    else:
        text("compare_none")


def show_countings(choice: CacheChoice) -> None:
    """The same cache by every counting and by the usual mistakes, and where its sizes are from."""
    text("countings", rows=cache_result.list_countings(choice))
    if mistakes := cache_result.list_mistakes(choice):
        text("others", rows=mistakes)
    elif choice.explain(IDEAL).size:
        text("no_others", windows=cache_result.say_window(choice.shape))
    with st.expander(_("Where the numbers of this model come from")):
        text("origin", **cache_result.list_sources(choice.shape))


def show_layers(choice: CacheChoice) -> None:
    """Which layers hold the bytes, if they are not all alike; a question first."""
    model, caches = verbatim(choice.shape.id), cache_result.list_caches(choice)
    if len(caches) < 2:
        text("layers_alike", alike=cache_result.describe_alike_layers(caches), model=model)
        return
    text("layers", model=model, groups=cache_result.list_groups(caches))
    share, named = cache_result.answer_layers(caches, choice.tokens)
    ask_veiled(text, "layers", share, **named)
    sorting, held = cache_result.show_layers(choice.shape, caches)
    text(f"layers_in_{sorting}", **held)


def show_fit(deployment: Deployment, tokens: int, texts: int) -> None:
    """Memory, length and speed; no speed of what does not fit."""
    fit, named = gpu_fit.judge_fit(deployment, tokens, texts)
    text(f"fit_{fit}", **named)
    if deployment.shape.architecture != gpu_fit.ENCODER:
        text("longest", **gpu_fit.measure_longest(deployment, texts))
        num_served = gpu_fit.count_served(deployment, tokens, texts)
        limits = gpu_fit.limit_speed(deployment, tokens, num_served)
        text("limits" if num_served else "no_speed", **limits)
        if num_served > 1 and deployment.shape.active_parameters:
            text("mixture", **limits)
        if num_served and deployment.shape.architecture == "encoder-decoder":
            text("both_halves")
    gpu_fit.show_working(deployment, tokens, texts)


def show_serving(choice: CacheChoice) -> None:
    """What fits, how fast it could be, and what pages and splitting waste."""
    text("serving")
    if not deployment:
        return
    if deployment.shape.parameters:
        show_fit(deployment, choice.tokens, choice.texts)
    else:
        text("no_parameters")
    text("pages", **gpu_fit.count_page_waste(choice, deployment))


def show_figures() -> None:
    """Published figures beside ours: every one, or those that differ."""
    text("figures", **count_figures())
    text("published", rows=choose_rows())


def with_model(show: Callable[[CacheChoice], None]) -> Callable[[], None]:
    """A card about the chosen model, as far as there is one."""
    return lambda: show(choice) if choice else text("no_model")


text("question")
with st.container(key="hero-controls", horizontal=True, vertical_alignment="bottom"):
    name = controls.model(models := choose_cache.list_models(), controls.model.default)
    tokens = controls.tokens()
    gpu = read_gpus()[controls.gpu(list(read_gpus()), controls.gpu.default)]
    more = gpu_fit.place_menu()
if name == controls.CONFIG:
    text("paste", most=f"{choose_cache.MAX_PASTED:,}", switch=READ_FOLDERS_VARIABLE)
shape = choose_cache.read_shape_or_warn(name)
take("cache")  # until what was typed or brought can be counted
take("fit")
with more:
    texts = controls.texts()
    hardware = gpu_fit.choose_hardware(gpu)
    choice = choose_cache.choose_options(shape, tokens, texts) if shape else None
deployment = gpu_fit.deploy_or_warn(choice, hardware) if choice else None
if choice:
    if deployment:
        show_hero(text, make_hero(text, choice, deployment, models), "memory")
    take_cache(choice)
    take_fit(deployment, tokens, texts)
    if revealed(text, "compare", compared_models.TWO, **compared_models.compare_two()):
        compare_models(choice, hardware)
    text("how")
    cache_result.show_working(choice)
    if not has_format(choice.counting, choice.dtype):
        text("not_stored", engine=choice.counting, dtype=choice.dtype)
    text("result", **cache_result.measure_cache(choice))
    text("remarks", remarks=cache_result.list_remarks(choice))
    show_source(*cache_result.CODE)
go_deeper(
    text,
    {
        "countings": with_model(show_countings),
        "layers": with_model(show_layers),
        "serving": with_model(show_serving),
        "figures": show_figures,
    },
)
show_one_sentence(text)
check_yourself(text, {"token": bytes_of_a_token, "model": gigabytes_of_a_model})
