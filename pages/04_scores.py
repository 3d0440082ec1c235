"""QKᵀ, ÷ √d_k, softmax, · V: four steps in one picture; and why there is a root."""

import streamlit as st

from explainers.attention.scaled_dot_product import attention
from explainers.attention.scaling import EXPERIMENT
from explainers.attention.single_head import project
from explainers.chapters import scores
from explainers.chapters.common import sentence_reading
from explainers.chapters.common.choose_layer import choose_sizes, name_layer_origin, offer_training
from explainers.chapters.common.one_head import read_head, take_head
from explainers.chapters.common.sentence_reading import Reading
from explainers.chapters.exercises import predict
from explainers.toys.layers import Layer
from explainers.translations import _
from explainers.ui import page
from explainers.ui.controls import controls
from explainers.ui.figure.hero import show_chosen, show_hero
from explainers.ui.page import show_one_sentence
from explainers.ui.page_parts.check_yourself import check_yourself
from explainers.ui.page_parts.go_deeper import go_deeper
from explainers.ui.prediction import revealed
from explainers.ui.source import run_and_show, show_source
from explainers.ui.takeaway_files import hand_over
from explainers.ui.text.language import fragment
from explainers.ui.tour import end_stop

text = page.Prose(__file__)


@fragment
def show_root() -> None:
    """The same softmax with and without √d_k: rows that one can follow, then all draws."""
    measurements = scores.load_measurements()
    measurement = scores.show_rows(measurements)
    text("root_rows")
    without, with_root = scores.write_averages(measurement)
    text("root_largest", d_k=f"{measurement.head_dim:,}", without=without, with_root=with_root)
    scores.show_largest(measurements, measurement)
    head_dims = [one.head_dim for one in measurements]
    hand_over("root", _("Why to divide by √d_k"), scores.measure_root, head_dims=head_dims)
    show_source(*EXPERIMENT)


def ask_for_root() -> None:
    """What comes out if nothing is divided by √d_k."""
    text("root", keys=scores.KEYS, draws=f"{scores.DRAWS:,}")
    average = scores.load_measurements()[-1].average[0]
    answer = scores.ANSWERS[2 if average > 0.9 else 1 if average > 0.3 else 0]
    keys, mean = scores.KEYS, f"{average:.2f}"
    if revealed(text, "root", scores.ANSWERS, answer, keys=keys, average=mean):
        show_root()


def show_how(layer: Layer, word: int) -> None:
    """The same four steps for all words."""
    text("steps", word=layer.tokens[word], **scores.work_out_softmax())
    one_head = read_head(layer)
    scores.show_all_words(one_head, word, page.has_queries_down(), name_layer_origin(layer))
    take_head(_("One head, every matrix"), layer, one_head.numbers)


def show_steps(reading: Reading) -> None:
    """Queries and keys in, output out, one operation at a time, with weights of one's choice."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        steps, sizes = scores.choose_steps(), choose_sizes(reading)
    layer = sizes.layer
    for step in steps:
        text(f"step_{step}")
        scores.show_step(sizes, step, page.has_queries_down(), name_layer_origin(layer))
    if "output" in steps:
        run_and_show(attention, *project(layer.x, layer.head()), layer.mask)
    offer_training(layer)
    take_head(_("The head that you chose"), layer, read_head(layer).numbers, part="chosen head")


def show_variance() -> None:
    """Why it is √d_k and not another number, and why a row without it hardly learns."""
    measurements = scores.load_measurements()
    text("root_variance")
    scores.show_variance(measurements)
    text("root_gradient", **scores.name_gradient(measurements))


@fragment
def show_lesson(reading: Reading) -> None:
    """The picture and all that follows it, which nothing outside of it depends on."""
    hero = scores.make_hero(text, reading)
    show_hero(text, hero, "four steps")
    end_stop(text)
    sentence_reading.show_reader(reading)
    ask_for_root()
    word = controls.followed_word
    show_chosen("all words", lambda: show_how(reading.layer(), hero.chosen(word)), word)
    go_deeper(text, {"steps": lambda: show_steps(reading), "variance": show_variance})


text("question")
show_lesson(sentence_reading.choose_reading(sentence_reading.choose_sentence()))
show_one_sentence(text)
check_yourself(text, {"score": predict.a_score, "weight": predict.a_weight_of_two})
