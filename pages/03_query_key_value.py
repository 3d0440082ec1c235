"""Three roles of every word: what it looks for, what it is found by, what it passes on."""

import streamlit as st

from explainers.attention.single_head import project, projection_parameters
from explainers.chapters import query_key_value
from explainers.chapters.common import sentence_reading
from explainers.chapters.common.choose_layer import choose_untrained_sizes, name_layer_origin
from explainers.chapters.common.one_head import compute_projections, list_learned, read_head
from explainers.chapters.common.sentence_reading import Reading
from explainers.toys.layers import Layer
from explainers.translations import _
from explainers.ui import page
from explainers.ui.controls import controls
from explainers.ui.figure.hero import show_chosen, show_hero
from explainers.ui.figure.linked_matrices import show_clickable_figure
from explainers.ui.figure.panels import View, orient_panels
from explainers.ui.page import show_one_sentence
from explainers.ui.page_parts.check_yourself import check_yourself
from explainers.ui.page_parts.go_deeper import Cards, go_deeper
from explainers.ui.prediction import ask_veiled, revealed
from explainers.ui.source import run_and_show, show_source
from explainers.ui.takeaway_files import hand_over, run_and_hand_over
from explainers.ui.text.language import fragment
from explainers.ui.tour import end_stop

text = page.Prose(__file__)


def show_projections(layer: Layer) -> None:
    """X times a matrix, one row and one column at a time."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = controls.projection()
        text(f"row_{name}")
    picture = st.container()
    run_and_show(project, layer.x, layer.head())
    one_head = read_head(layer)
    with picture:
        panels = one_head.product("X", f"W_{name}", name, page.has_queries_down())
        alt = _(
            "X times W_{name} is {name}: the row and the column of one number are framed.",
            name=name,
        )
        show_clickable_figure(
            panels, one_head.explain, name_layer_origin(layer), "projection", alt, stepper=name
        )
    hand_over("head", _("X times a matrix"), compute_projections, layer=layer)


def show_parameters(reading: Reading) -> None:
    """How many numbers one head learns, at any size; untrained, so that every size is there."""
    text("parameters")
    sizes = choose_untrained_sizes(reading)
    layer, queries_down = sizes.layer, page.has_queries_down()

    def look(layer: Layer) -> View:
        one_head = read_head(layer)
        panels = orient_panels([*map(one_head.panel, list_learned(layer))], queries_down)
        return View(panels, one_head.explain)

    slider = sizes.make_slider(look)
    alt = _("What a head learns, a matrix each.")
    show_clickable_figure(*slider.view, name_layer_origin(layer), "sizes", alt, view_slider=slider)
    hand_over("sizes", _("X times a matrix"), list_learned, layer=layer)
    show_source(projection_parameters)
    d_model, head_dim = layer.head().w_query.shape
    value_dim = layer.head().w_value.shape[1]
    counted = run_and_hand_over(
        "parameters",
        _("How many numbers are learned"),
        query_key_value.count_parameters,
        d_model=d_model,
        head_dim=head_dim,
        value_dim=value_dim,
    )
    count = f"{counted['parameters']:,}"
    text("counted", d_model=d_model, d_k=head_dim, d_v=value_dim, count=count)


def show_biases(layer: Layer) -> None:
    """What a bias on the keys changes, and one on the queries."""
    measured = query_key_value.measure_biases(layer)
    ask_veiled(text, "biases", measured["on_keys"], ["0.10", "0.50"], **measured)
    query_key_value.link_claim()


@fragment
def show_lesson(reading: Reading) -> None:
    """The picture and all that follows it, which nothing outside of it depends on."""
    layers = query_key_value.make_layers(reading)
    picture = query_key_value.make_hero(text, reading, layers)
    show_hero(text, picture, "views")
    end_stop(text)
    if not reading.is_small:
        sentence_reading.show_reader(reading)
    trained = layers["trained"]
    asking, found = query_key_value.find_one_sided_pair(trained, reading.opening_word)
    if asking != found:
        answer, numbers = query_key_value.compare_directions(trained, asking, found)
        if revealed(text, "directions", query_key_value.SHARES_BACK, answer, **numbers):
            query_key_value.draw_directions(
                trained, name_layer_origin(trained), page.has_queries_down()
            )
    text("how")

    def find_layer() -> Layer:
        return layers[picture.chosen(controls.weights)]

    show_chosen("projections", lambda: show_projections(find_layer()), controls.weights)
    deeper: Cards = {
        "parameters": lambda: show_parameters(reading),
        "biases": lambda: show_biases(find_layer()),
    }
    go_deeper(text, deeper)


text("question")
show_lesson(sentence_reading.choose_reading(sentence_reading.choose_sentence()))
show_one_sentence(text)
check_yourself(
    text,
    {
        "shape": query_key_value.recall_query_numbers,
        "growing": query_key_value.recall_growing_matrix,
    },
)
