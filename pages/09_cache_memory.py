"""How much memory the keys and values of a text take: calculators that agree with real caches."""

from explainers.chapters.cache_memory import takeaway as taken
from explainers.chapters.cache_memory.cache_result import show_answers, show_result
from explainers.chapters.cache_memory.choose_cache import Chosen, choose
from explainers.chapters.cache_memory.compared_models import show_comparison
from explainers.chapters.cache_memory.gpu_fit import choose_hardware, deployed, show_fit, show_pages
from explainers.chapters.cache_memory.layer_by_layer import show_layers
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
def on_gpus(choices: Chosen | None) -> None:
    """What fits on which GPU, and many models beside its memory."""
    text("serving")
    take("fit")
    hardware = choose_hardware()
    if choices:
        deployment = deployed(choices, hardware)
        if deployment:
            show_fit(text, choices, deployment)
            show_pages(text, choices, deployment)
        taken.fit(deployment, choices.tokens, choices.texts)
        fragment(show_comparison)(text, choices, hardware)


@fragment
def calculators() -> None:
    """One model, its bytes with their working, and where it fits."""
    take("cache")  # until what was typed or brought can be counted
    choices = choose(text)
    if choices:
        show_result(text, choices)
        taken.cache(choices)
        show_source(
            count_cache_bytes,
            list_group_caches,
            count_kept_tokens,
            make_group_cache,
            count_token_bytes,
        )
        show_answers(text, choices)
        show_layers(text, choices)
    on_gpus(choices)


text("question")
calculators()
fragment(show_figures)(text)
text("notice")
