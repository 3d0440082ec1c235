"""How much memory the keys and values of a text take: calculators that agree with real caches."""

import streamlit as st

from explainers.lessons.cache_memory.asked import Chosen
from explainers.lessons.cache_memory.chosen import choose
from explainers.lessons.cache_memory.compare import show_comparison
from explainers.lessons.cache_memory.fit import show_fit
from explainers.lessons.cache_memory.layers import show_layers
from explainers.lessons.cache_memory.published import show_figures
from explainers.lessons.cache_memory.result import show_answers, show_result
from explainers.lessons.cache_memory.serving import choose_hardware, deployed, show_pages
from explainers.lessons.taken import cache_memory as taken
from explainers.memory.cache import held, kv_cache_bytes, part, parts, token_bytes
from explainers.ui import common
from explainers.ui.source import show_source
from explainers.ui.takeaway import take

text = common.page_text(__file__)


@st.fragment
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
        st.fragment(show_comparison)(text, choices, hardware)


@st.fragment
def calculators() -> None:
    """One model, its bytes with their working, and where it fits."""
    take("cache")  # until what was typed or brought can be counted
    choices = choose(text)
    if choices:
        show_result(text, choices)
        taken.cache(choices)
        show_source(kv_cache_bytes, parts, held, part, token_bytes)
        show_answers(text, choices)
        show_layers(text, choices)
    on_gpus(choices)


text("question")
calculators()
st.fragment(show_figures)(text)
text("notice")
