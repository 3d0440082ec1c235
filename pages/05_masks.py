"""Masks: which words may attend to which, and what a mask leaves."""

from explainers.chapters.common import score_matrix
from explainers.chapters.common.sentence_reading import choose_reading, choose_sentence, show_reader
from explainers.chapters.exercises import predict
from explainers.chapters.masks import cards, hero
from explainers.ui import page, tour
from explainers.ui.controls import controls
from explainers.ui.figure.hero import show_chosen, show_hero
from explainers.ui.page import show_one_sentence
from explainers.ui.page_parts.check_yourself import check_yourself
from explainers.ui.page_parts.go_deeper import go_deeper
from explainers.ui.text.language import fragment

text = page.Prose(__file__)


@fragment
def show_lesson() -> None:
    """The picture and all that follows it, which nothing outside of it depends on."""
    picture = hero.make_hero(text, reading, readable)
    show_hero(text, picture, "masked")
    tour.end_stop(text)
    show_reader(reading)
    if (drawn_for := controls.drawn_cells.count_words(words)) != words:
        text("drawn_for_another", drawn=score_matrix.write_word_count(drawn_for), words=words)
    if is_short:
        text("too_short", words=score_matrix.write_word_count(words), fewest=score_matrix.FEWEST)
    else:
        cards.ask_leak(text, reading, readable, wide)
    text("how")
    hero.hand_over_weights(readable, hero.find_drawing(picture, words))
    show_chosen("two steps", lambda: hero.show_two_steps(readable, picture))
    deeper = {
        "side_by_side": lambda: cards.show_all(text, wide),
        "batch": lambda: cards.show_batch(
            text, score_matrix.read_known_labs(reading, readable, wide)[0]
        ),
    }
    of_more_words = {
        "reach": lambda: cards.show_reach(text, readable),
        "one_pass": lambda: cards.show_one_pass(text, reading),
    }
    go_deeper(text, deeper if is_short else deeper | of_more_words)


text("question")
reading = choose_reading(
    choose_sentence(), is_trained=controls.weights(is_drawn=False) == "trained"
)
words, is_short = len(reading.tokens), len(reading.tokens) < score_matrix.FEWEST
readable, wide = score_matrix.read_labs(reading)
show_lesson()
show_one_sentence(text)
check_yourself(text, {"row": predict.a_row_under_a_mask, "window": predict.cells_of_a_window})
