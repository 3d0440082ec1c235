"""How much memory the keys and values of a text take: calculators that agree with real caches."""

from collections.abc import Callable

import streamlit as st

from explainers.chapters.cache_memory import takeaway
from explainers.chapters.cache_memory.cache_result import (
    show_answers,
    show_layers,
    show_origin,
    show_result,
    show_working,
)
from explainers.chapters.cache_memory.choose_cache import (
    MAX_PASTED,
    CacheChoice,
    choose_options,
    choose_shape,
    list_models,
)
from explainers.chapters.cache_memory.compared_models import (
    LARGE,
    SMALL,
    compare_two,
    show_chosen_models,
)
from explainers.chapters.cache_memory.gpu_fit import (
    Hardware,
    choose_hardware,
    make_deployment,
    show_fit,
    show_page_waste,
)
from explainers.chapters.cache_memory.hero import make_hero
from explainers.chapters.cache_memory.published_table import show_figures
from explainers.chapters.exercises.predict_cache import bytes_of_a_token, gigabytes_of_a_model
from explainers.memory.cache_bytes import (
    count_cache_bytes,
    count_kept_tokens,
    count_token_bytes,
    list_group_caches,
    make_group_cache,
)
from explainers.memory.model_shapes import ModelShape
from explainers.memory.serving import Deployment, read_gpus
from explainers.models.registry import READ_FOLDERS_VARIABLE
from explainers.translations import _, translate_error
from explainers.ui import page
from explainers.ui.controls import controls
from explainers.ui.figure.hero import show_hero
from explainers.ui.page_parts.check_yourself import check_yourself
from explainers.ui.page_parts.go_deeper import go_deeper
from explainers.ui.page_parts.one_sentence import show_one_sentence
from explainers.ui.prediction import revealed
from explainers.ui.source import show_source
from explainers.ui.takeaway_files import take
from explainers.ui.text.language import fragment
from explainers.ui.untrusted_text import verbatim

text = page.open_prose(__file__)


def read_shape(name: str) -> ModelShape | None:
    """The model that was chosen; nothing, and a message, while its numbers cannot be."""
    if name == controls.CONFIG:
        text("paste", most=f"{MAX_PASTED:,}", switch=READ_FOLDERS_VARIABLE)
    try:
        shape = choose_shape(name)
        message = "" if shape else _("Waiting for a config.json.")
    except ValueError as error:
        shape, message = None, translate_error(error)
    if message:
        st.warning(verbatim(message), icon=":material/edit_note:")
    return shape


def deploy(choice: CacheChoice, hardware: Hardware) -> Deployment | None:
    """The model on the GPUs; nothing, and a message, where it cannot be split over them."""
    try:
        return make_deployment(choice, hardware)
    except ValueError as error:
        st.warning(verbatim(translate_error(error)), icon=":material/edit_note:")
        return None


def show_countings(choice: CacheChoice) -> None:
    """The same cache by every counting and by the usual mistakes, and where its sizes are from."""
    show_answers(text, choice)
    show_origin(text, choice.shape)


def show_serving(choice: CacheChoice, deployment: Deployment | None) -> None:
    """What fits, how fast it could be, and what pages and splitting waste."""
    text("serving")
    if deployment:
        show_fit(text, choice, deployment)
        show_page_waste(text, choice, deployment)


def with_model(show: Callable[[CacheChoice], None]) -> Callable[[], None]:
    """A card about the chosen model, as far as there is one."""
    return lambda: show(choice) if choice else text("no_model")


text("question")
with st.container(key="hero-controls", horizontal=True, vertical_alignment="bottom"):
    name = controls.model(list_models(), controls.model.default)
    tokens = controls.tokens()
    gpu = read_gpus()[controls.gpu(list(read_gpus()), controls.gpu.default)]
    more = st.popover(_("More"), icon=":material/tune:", help=_("Formats, counting, GPUs"))
shape = read_shape(name)
take("cache")  # until what was typed or brought can be counted
take("fit")
with more:
    texts = controls.texts()
    hardware = choose_hardware(gpu)
    choice = choose_options(shape, tokens, texts) if shape else None
deployment = deploy(choice, hardware) if choice else None
if choice:
    if deployment:
        show_hero(text, make_hero(text, choice, deployment, list_models()), "memory")
    takeaway.take_cache(choice)
    takeaway.take_fit(deployment, tokens, texts)
    if revealed(text, "compare", (SMALL, LARGE), **compare_two()):
        fragment(show_chosen_models)(text, choice, hardware)
    text("how")
    show_working(choice)
    show_result(text, choice)
    show_source(
        count_cache_bytes, list_group_caches, count_kept_tokens, make_group_cache, count_token_bytes
    )
go_deeper(
    text,
    {
        "countings": with_model(show_countings),
        "layers": with_model(lambda chosen: show_layers(text, chosen)),
        "serving": with_model(lambda chosen: show_serving(chosen, deployment)),
        "figures": lambda: show_figures(text),
    },
)
show_one_sentence(text)
check_yourself(text, {"token": bytes_of_a_token, "model": gigabytes_of_a_model})
