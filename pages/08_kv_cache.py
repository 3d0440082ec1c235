"""What a model stores while it writes: decoding with a KV cache, with costs and bugs."""

import streamlit as st

from explainers.attention.cache.faults import append_after, drop_row, forget_offset
from explainers.attention.cache.kv_cache import append, look_up, project_at, read
from explainers.attention.cache.step_costs import cache_bytes, one_call, with_cache, without_cache
from explainers.attention.cache.windows import put, read_ring, sinks_and_window, slot_of
from explainers.chapters.common.score_matrix import FEWEST, write_word_count
from explainers.chapters.common.sentence_reading import drop_end_marks, offer_causal_reader
from explainers.chapters.exercises import predict
from explainers.chapters.kv_cache import cards, hero, reading
from explainers.chapters.kv_cache.reading import DrawnText, ModelText, choose_text_reader, read_text
from explainers.toys.sentence import Sentence
from explainers.translations import _
from explainers.ui import page
from explainers.ui.controls import controls
from explainers.ui.controls.choose_text import choose_text
from explainers.ui.figure.hero import show_chosen, show_hero
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.page import show_one_sentence
from explainers.ui.page_parts.check_yourself import check_yourself
from explainers.ui.page_parts.go_deeper import Cards, go_deeper
from explainers.ui.prediction import ask_veiled, revealed
from explainers.ui.source import show_source
from explainers.ui.takeaway_files import hand_over
from explainers.ui.text.language import fragment
from explainers.ui.tour import end_stop

text = page.Prose(__file__)


def say_small(run: DrawnText) -> None:
    """Where a model draws the picture: what is counted and broken is not the model."""
    if isinstance(run, ModelText):
        text("of_small", model=run.model)


@fragment
def ask_costs(run: DrawnText) -> None:
    """What twice the text costs, asked first; then the work over the length of a text."""
    answer = cards.GROWTH[cards.compute_growth(lambda work: work.scores, 0)]
    if revealed(text, "costs", cards.ANSWERS, answer, **cards.name_growth()):
        say_small(run)
        cards.show_work()
        text("costs_seen", **cards.name_costs())
        text("costs_table")
        text("memory", **cards.name_memory(run))
        show_source(one_call, with_cache, without_cache, cache_bytes)


def show_how(run: DrawnText, place: int, layer: int) -> None:
    """The step and the layer of the first picture, as five small matrices."""
    text("how", word=run.tokens[place], layer=layer + 1)
    cards.show_one_step(run, layer, place)
    text("how_why")
    show_source(project_at, append, look_up, read)


def show_broken(shown: DrawnText, run: DrawnText) -> None:
    """One mistake with its first word veiled, then all of them, word by word."""
    say_small(shown)
    text("broken", window=reading.WINDOW, kept=reading.WINDOW - 1)
    found = reading.measure_differences(run)
    answer = cards.write_first_wrong_word(run, found[reading.FORGOTTEN])
    hand_over("mistakes", _("Mistakes in a cache"), reading.measure_mistakes, run=run)
    first_words = [f"{n}: {token}" for n, token in enumerate(run.tokens[:3], start=1)]
    if ask_veiled(text, "broken", answer, first_words):
        show_figure(cards.draw_faults(run, found), run.origin, "mistakes")
        text("broken_seen", **cards.name_faults(run, found))
    show_source(forget_offset, drop_row, append_after)


def show_windows(shown: DrawnText, run: DrawnText) -> None:
    """Where a row goes, veiled; then two caches of fixed size, and what they lose."""
    say_small(shown)
    text("windows")
    with st.container(horizontal=True):
        window, sinks = int(controls.reach_window()), int(controls.sinks())
    caches = cards.BoundedCaches(run, window, sinks)
    slot, options, named = caches.ask_slot()
    inputs = {"run": run, "window": window, "sinks": sinks}
    title, compare = _("Caches that stop growing"), reading.compare_bounded_caches
    hand_over("windows", title, compare, **inputs)
    if ask_veiled(text, "windows", slot, options, **named):
        origin = cards.name_count_origin()
        show_figure(cards.draw_slots(caches), origin, "slots")
        text("windows_seen", **caches.name_sizes())
    show_source(slot_of, put, read_ring, sinks_and_window)


@fragment
def show_lesson(sentence: Sentence, run: DrawnText, wants_model: bool) -> None:
    """The picture and all that follows it, which nothing outside of it depends on."""
    small = read_text(sentence.tokens, page.read_seed())
    words, is_short = len(small.tokens), len(small.tokens) < FEWEST
    if is_short:
        text("too_short", words=write_word_count(words), fewest=FEWEST)
    picture = hero.make_hero(text, run, sentence)
    show_hero(text, picture, "shelves")
    if isinstance(run, ModelText):
        text("of_model", **run.name_parts())
    else:
        text("weights_trained" if run.seed is None else "weights_random")
    offer_causal_reader(drop_end_marks(sentence.tokens), isinstance(run, ModelText), wants_model)
    end_stop(text)
    ask_costs(run)
    show_chosen(
        "one step",
        lambda: show_how(run, *hero.find_step(picture, len(run.tokens))),
        *(controls.word_count, controls.cache_layer),
    )
    if not is_short:
        deeper: Cards = {
            "broken": lambda: show_broken(run, small),
            "windows": lambda: show_windows(run, small),
        }
        go_deeper(text, deeper)


text("question")
chosen = choose_text()
show_lesson(chosen, *choose_text_reader(chosen))
show_one_sentence(text)
check_yourself(text, {"rows": predict.rows_with_and_without, "kept": cards.recall_stored_queries})
