"""How much memory the keys and values of a text take: calculators that agree with real caches."""

from explainers.chapters.cache_memory import takeaway
from explainers.chapters.cache_memory.cache_result import show_answers, show_layers, show_result
from explainers.chapters.cache_memory.choose_cache import CacheChoice, choose_cache
from explainers.chapters.cache_memory.compared_models import show_comparison
from explainers.chapters.cache_memory.gpu_fit import (
    choose_hardware,
    make_deployment,
    show_fit,
    show_page_waste,
)
from explainers.chapters.cache_memory.published_table import show_figures
from explainers.memory.cache_bytes import (
    count_cache_bytes,
    count_kept_tokens,
    count_token_bytes,
    list_group_caches,
    make_group_cache,
)
from explainers.ui import page
from explainers.ui.source import show_source
from explainers.ui.takeaway_files import take
from explainers.ui.text.language import fragment

text = page.open_prose(__file__)


@fragment
def show_hardware(choice: CacheChoice | None) -> None:
    """What fits on which GPU, and many models beside its memory."""
    text("serving")
    take("fit")
    hardware = choose_hardware()
    if choice:
        deployment = make_deployment(choice, hardware)
        if deployment:
            show_fit(text, choice, deployment)
            show_page_waste(text, choice, deployment)
        takeaway.take_fit(deployment, choice.tokens, choice.texts)
        fragment(show_comparison)(text, choice, hardware)


@fragment
def show_calculators() -> None:
    """One model, its bytes with their working, and where it fits."""
    take("cache")  # until what was typed or brought can be counted
    choice = choose_cache(text)
    if choice:
        show_result(text, choice)
        takeaway.take_cache(choice)
        show_source(
            count_cache_bytes,
            list_group_caches,
            count_kept_tokens,
            make_group_cache,
            count_token_bytes,
        )
        show_answers(text, choice)
        show_layers(text, choice)
    show_hardware(choice)


text("question")
show_calculators()
fragment(show_figures)(text)
text("notice")
