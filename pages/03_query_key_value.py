"""Three roles of every word: what it looks for, what it is found by, what it passes on."""

from explainers.chapters import query_key_value as cards
from explainers.chapters.common import sentence_reading
from explainers.chapters.common.sentence_reading import Reading
from explainers.toys.layers import Layer
from explainers.ui import page
from explainers.ui.controls import controls
from explainers.ui.figure.hero import show_chosen, show_hero
from explainers.ui.page import show_one_sentence
from explainers.ui.page_parts.check_yourself import check_yourself
from explainers.ui.page_parts.go_deeper import Cards, go_deeper
from explainers.ui.text.language import fragment
from explainers.ui.tour import end_stop

text = page.Prose(__file__)


@fragment
def show_lesson(reading: Reading) -> None:
    """The picture and all that follows it, which nothing outside of it depends on."""
    layers = cards.make_layers(reading)
    picture = cards.make_hero(text, reading, layers)
    show_hero(text, picture, "views")
    end_stop(text)
    if not reading.is_small:
        sentence_reading.show_reader(reading)
    cards.ask_directions(text, layers["trained"], reading.opening_word)
    text("how")

    def find_layer() -> Layer:
        return layers[picture.chosen(controls.weights)]

    show_chosen("projections", lambda: cards.show_projections(text, find_layer()), controls.weights)
    deeper: Cards = {
        "parameters": lambda: cards.show_parameters(text, reading),
        "biases": lambda: cards.show_biases(text, find_layer()),
    }
    go_deeper(text, deeper)


text("question")
show_lesson(sentence_reading.choose_reading(sentence_reading.choose_sentence()))
show_one_sentence(text)
check_yourself(text, {"shape": cards.recall_query_numbers, "growing": cards.recall_growing_matrix})
