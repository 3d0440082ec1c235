"""A memory that does not grow: linear attention, the delta rule, and what a fixed matrix holds."""

import streamlit as st

from explainers.attention.delta_rule import find_news, gated_delta_attention, write_delta
from explainers.attention.linear import linear_attention, read_state, write_sum
from explainers.chapters.growing_memory import (
    hero,
    how_much_fits,
    memory_bytes,
    memory_training_job,
    trained_results,
    write_step,
)
from explainers.chapters.growing_memory.compute import write_by_all_rules, write_once_more
from explainers.chapters.growing_memory.written_pairs import (
    Story,
    recall_second_value,
    recall_size,
    tell_story,
)
from explainers.translations import _, get_language
from explainers.ui import page
from explainers.ui.figure.hero import show_hero
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.page import show_one_sentence
from explainers.ui.page_parts.check_yourself import check_yourself
from explainers.ui.page_parts.go_deeper import go_deeper
from explainers.ui.prediction import revealed
from explainers.ui.source import show_source
from explainers.ui.takeaway_files import hand_over
from explainers.ui.text.language import fragment

text = page.Prose(__file__)


@fragment
def ask_trained() -> None:
    """Trained memories of both rules on 64 pairs, asked first; then with keys that come again."""
    found = trained_results.load_results()
    named = trained_results.name_shares(found)
    answers, answer = trained_results.ANSWERS, trained_results.answer_comparison(found)
    if revealed(text, "overwriting", answers, answer, **named):
        trained_results.show_shares(found)
        text("overwriting_seen", **named)


@fragment
def show_how(story: Story) -> None:
    """One pair is written: what its key finds before, what is missing, and what it finds then."""
    step = write_step.Step.of(story)
    text("how", **write_step.name_numbers(step))
    show_figure(write_step.draw_step(step), write_step.write_origin(story), "step")
    hand_over("step", _("A key is written again"), write_once_more, story=story)
    show_source(write_sum, read_state, write_delta)
    text("at_once", **write_step.compare_forms(story))
    show_source(linear_attention, find_news, gated_delta_attention)


def show_fits() -> None:
    """How many random pairs a memory gives back, and why their order matters."""
    seed = page.read_seed()
    fits = how_much_fits.fit_all(seed)
    named = how_much_fits.name_fits(fits, seed)
    text("fits", **named)
    how_much_fits.show_fits(fits, seed)
    text("fits_seen", **named)


def show_training() -> None:
    """A small layer that learns in seconds, beside what was trained beforehand."""
    text("trained", **memory_training_job.name_training())
    with st.container(horizontal=True):
        memory_training_job.offer_training(
            page.read_seed(), lambda **numbers: text("trained_here", **numbers)
        )
    rows, counts = memory_training_job.write_result_rows(), memory_training_job.write_counts()
    named = memory_training_job.name_training()
    text("trained_before", rows=rows, counts=counts, **named)


def show_costs() -> None:
    """Bytes of a published model of both kinds of layers."""
    shape = memory_bytes.find_model()
    text("costs", **memory_bytes.name_costs(shape))
    memory_bytes.show_costs(shape)


@fragment
def show_lesson(story: Story) -> None:
    """The picture and all that follows it, which nothing outside of it depends on."""
    show_hero(text, hero.make_hero(text, story), "state")
    hand_over("story", _("Two sentences in one matrix"), write_by_all_rules, story=story)
    ask_trained()
    show_how(story)
    cards = {
        "fits": show_fits,
        "trained": show_training,
        "hybrid": lambda: text("hybrid", **memory_training_job.name_hybrids()),
        "costs": show_costs,
    }
    go_deeper(text, cards)


text("question")
show_lesson(tell_story(get_language()))
show_one_sentence(text)
check_yourself(text, {"size": recall_size, "second": recall_second_value})
