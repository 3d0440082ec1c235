"""What a model keeps while it writes: decoding with a KV cache, with proof, costs and mistakes."""

import streamlit as st

from explainers.chapters.common.score_matrix import FEWEST, of_words
from explainers.chapters.kv_cache.bounded_caches import show_windows
from explainers.chapters.kv_cache.cache_faults import show_both_ways, show_broken
from explainers.chapters.kv_cache.cost_curves import show_costs
from explainers.chapters.kv_cache.reading import Written
from explainers.chapters.kv_cache.step_figure import show_decoding
from explainers.chapters.kv_cache.timing_job import show_timing
from explainers.ui import page
from explainers.ui.controls import controls
from explainers.ui.controls.choose_text import choose_text
from explainers.ui.text.language import fragment

text = page.open_prose(__file__)


@fragment
def word_by_word(run: Written) -> None:
    """Every step of reading the sentence, and that what is kept is what would be recomputed."""
    show_decoding(text, run)


@fragment
def mistakes(run: Written) -> None:
    """What a wrong cache does, and why a mask that looks ahead allows none."""
    show_broken(text, run)
    show_both_ways(text, run)


@fragment
def price(run: Written) -> None:
    """What a cache saves: counted, and measured."""
    show_costs(text, len(run.tokens))
    show_timing(text, run.x.device)


@fragment
def bounded(run: Written) -> None:
    """Caches that stop growing."""
    text("windows")
    with st.container(horizontal=True):
        window, sinks = int(controls.reach_window()), int(controls.sinks())
    show_windows(text, run, window, sinks)


text("question")
choices = Written(choose_text().tokens, page.read_seed())
is_short = len(choices.tokens) < FEWEST
if is_short:
    text("too_short", words=of_words(len(choices.tokens)), fewest=FEWEST)
word_by_word(choices)
if not is_short:
    mistakes(choices)
price(choices)
if not is_short:
    bounded(choices)
    text("notice")
