"""What a model keeps while it writes: decoding with a KV cache, with proof, costs and mistakes."""

from random import Random

import streamlit as st

from explainers.chapters.common.score_matrix import FEWEST, of_words
from explainers.chapters.exercises import predict
from explainers.chapters.kv_cache.bounded_caches import show_windows
from explainers.chapters.kv_cache.cache_faults import show_both_ways, show_broken
from explainers.chapters.kv_cache.cost_curves import show_costs
from explainers.chapters.kv_cache.reading import Written
from explainers.chapters.kv_cache.step_figure import show_decoding, show_steps
from explainers.chapters.kv_cache.timing_job import show_timing
from explainers.ui import page
from explainers.ui.controls import controls
from explainers.ui.controls.choose_text import choose_text
from explainers.ui.page_parts.check_yourself import Recall, check_yourself
from explainers.ui.page_parts.go_deeper import Cards, go_deeper
from explainers.ui.page_parts.one_sentence import show_one_sentence
from explainers.ui.text.language import fragment
from explainers.ui.tour import end_stop

text = page.open_prose(__file__)


@fragment
def word_by_word(run: Written) -> None:
    """Every step of reading the sentence, and that what is kept is what would be recomputed."""
    show_decoding(text, run)


def show_stored_rows(run: Written) -> None:
    """What the tour shows: every step, and how many rows of K a layer computes in all of them."""
    show_steps(run, layers=1)
    words, layers = len(run.tokens), len(run.layers)
    again = layers * words * (words + 1) // 2
    text("stored_rows", words=words, layers=layers, rows=layers * words, again=again)


def show_bounded_caches(run: Written) -> None:
    """Caches that stop growing."""
    text("windows")
    with st.container(horizontal=True):
        window, sinks = int(controls.reach_window()), int(controls.sinks())
    show_windows(text, run, window, sinks)


def count_stored_queries(draw: Random) -> Recall:
    """None, however long the text: a query is used once."""
    given = {"tokens": f"{draw.randint(20, 90)}", "kv_heads": f"{draw.choice([2, 4, 8])}"}
    return Recall(0, given)


text("question")
choices = Written(choose_text().tokens, page.read_seed())
is_short = len(choices.tokens) < FEWEST
if is_short:
    text("too_short", words=of_words(len(choices.tokens)), fewest=FEWEST)
end_stop(text, lambda: show_stored_rows(choices))
word_by_word(choices)
fragment(show_costs)(text, len(choices.tokens))
on_sentence: Cards = {
    "broken": lambda: show_broken(text, choices),
    "both_ways": lambda: show_both_ways(text, choices),
    "windows": lambda: show_bounded_caches(choices),
}
timing: Cards = {"timing": lambda: show_timing(text, choices.x.device)}
go_deeper(text, timing if is_short else {**on_sentence, **timing})
show_one_sentence(text)
check_yourself(text, {"rows": predict.rows_with_and_without, "kept": count_stored_queries})
