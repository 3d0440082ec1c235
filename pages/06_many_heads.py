"""Multi-head attention: each head has a row of weights of its own, and what they find is added."""

import streamlit as st

from explainers.attention.dropout import drop
from explainers.attention.multi_head import (
    contributions,
    merge_heads,
    multi_head,
    multi_head_one_by_one,
    parameters,
    split_heads,
)
from explainers.chapters.common.choose_layer import (
    choose_sizes_of_heads,
    name_layer_origin,
    offer_training,
)
from explainers.chapters.common.mask_names import choose_mask
from explainers.chapters.common.sentence_reading import Reading, ask_about, show_reader
from explainers.chapters.many_heads import dropout_draws, takeaway
from explainers.chapters.many_heads import heads_at_equal_parameters as equal_heads
from explainers.chapters.many_heads.head_arithmetic import make_heads_explainer, view_heads
from explainers.chapters.many_heads.head_panels import compare_ways, draw_steps, follow, name_panel
from explainers.chapters.many_heads.hero import make_hero, read_clicked_word
from explainers.chapters.many_heads.selection import Selection
from explainers.toys.layers import D_MODEL, Layer, Tokens
from explainers.translations import _
from explainers.ui import page
from explainers.ui.controls import controls
from explainers.ui.figure.clickable_figure import explore_figure, show_clickable_figure
from explainers.ui.figure.hero import show_hero
from explainers.ui.page import show_one_sentence
from explainers.ui.page_parts.check_yourself import check_yourself
from explainers.ui.page_parts.go_deeper import go_deeper
from explainers.ui.page_parts.veil import ask_veiled
from explainers.ui.prediction import revealed
from explainers.ui.source import show_source
from explainers.ui.text.language import fragment
from explainers.ui.tour import end_stop

text = page.Prose(__file__)


@fragment
def show_steps(layer: Layer, word: int, off: frozenset[int]) -> None:
    """Split, attend, join, mix: the heads side by side, W_O, and the layer's output."""
    num_heads, head_dim = layer.heads.num_heads, layer.heads.head_dim
    text("steps", heads=num_heads, d_k=head_dim, width=num_heads * head_dim)
    looked = Selection.of(layer, 0, word, off)
    panels, working = draw_steps(looked), make_heads_explainer(looked)
    alt = _("The weights of every head, their outputs side by side, and the output of the layer.")
    show_clickable_figure(panels, working, name_layer_origin(layer), "steps", alt)
    show_source(multi_head, split_heads, merge_heads)


@fragment
def show_layer(reading: Reading, off: frozenset[int], word: int) -> None:
    """All heads of a layer, one of them enlarged, and what each adds to the output."""
    text("guide")
    reading.explain_known()
    tokens, num_heads = reading.known, int(controls.num_heads.read())
    off, word = (off, word) if reading.is_small else (frozenset(), controls.followed_word.default)
    with st.container(horizontal=True):
        is_trained = controls.weights() == "trained"
        mask = choose_mask(controls.mask)
        d_model = controls.d_model(fixed=D_MODEL if is_trained else None)
        head = controls.enlarged_head(0, num_heads - 1)
    sizes = choose_sizes_of_heads(tokens, is_trained, d_model, num_heads, mask)
    layer, queries_down = sizes.layer, page.has_queries_down()
    offer_training(layer)
    followed = read_clicked_word(tokens, word)
    if len(off) == num_heads:
        text("all_off")
    slider = sizes.make_slider(
        lambda one: view_heads(Selection.of(one, head, followed, off), queries_down)
    )
    alt = _("Every head's weights, one head enlarged, W_O, and what each head adds to a word.")
    explore_figure(
        *slider.view,
        name_layer_origin(layer),
        "heads",
        alt,
        on_pick=follow,
        first=name_panel(0),
        view_slider=slider,
    )
    takeaway.take_heads(Selection.of(layer, head, followed, off))
    show_source(multi_head, split_heads, merge_heads, contributions, multi_head_one_by_one)
    if reading.is_small and followed != word:
        st.rerun()  # the picture at the top follows the same word


def show_both_ways(layer: Layer) -> None:
    """One large matrix cut into heads, or a list of heads: the same numbers."""
    run = multi_head(layer.x, layer.heads, layer.mask)
    ways = compare_ways(layer, run, multi_head_one_by_one(layer.x, layer.heads, layer.mask))
    text(f"same_{ways['way']}", **ways)
    show_source(multi_head, multi_head_one_by_one)


def show_costs() -> None:
    """What heads cost, and what they bring."""
    text("table", **equal_heads.count_costs())
    show_source(parameters, equal_heads.count_operations)
    text("contrast", **equal_heads.show_looks())


def show_dropout(tokens: Tokens) -> None:
    """Weights that are hidden at random."""
    text("dropout")
    dropped = dropout_draws.draw_dropout(tokens, page.read_seed())
    ask_veiled(text, "dropout", dropout_draws.answer_dropout(dropped), dropout_draws.ANSWERS)
    text("dropout_tried")
    dropout_draws.drag_probability(tokens, dropped, page.read_seed(), page.has_queries_down())
    show_source(drop)


@fragment
def show_lesson(reading: Reading) -> None:
    """The picture and all that follows it, which nothing outside of it depends on."""
    hero, layer, off = make_hero(text, reading)
    heads, word = layer.heads, hero.chosen(controls.followed_word)
    show_hero(text, hero, "many heads")
    about = {"heads": heads.num_heads, "d_k": heads.head_dim, "sentence": " ".join(reading.known)}
    text("learned_here" if reading.is_small else "other_heads", **about)
    show_reader(reading, has_all_heads=True)
    end_stop(text)
    named = equal_heads.count_named_verbs()
    if revealed(text, "contrast", equal_heads.ANSWERS, equal_heads.answer_contrast(), **named):
        equal_heads.show_trainings()
        text("contrast_shown", **named)
    show_steps(layer, word, off)
    takeaway.take_heads(Selection.of(layer, 0, word, off))
    go_deeper(
        text,
        {
            "layer": lambda: show_layer(reading, off, word),
            "same": lambda: show_both_ways(layer),
            "costs": show_costs,
            "dropout": lambda: show_dropout(reading.known),
        },
    )


_sentence, reading = ask_about(text, "question", "question_own", has_all_heads=True)
show_lesson(reading)
show_one_sentence(text)
questions = equal_heads.recall_remaining_share, equal_heads.recall_layer_numbers
check_yourself(text, dict(zip(("share", "numbers"), questions, strict=True)))
