"""QKᵀ, ÷ √d_k, softmax, · V: four steps in one picture; and why there is a root."""

from explainers.chapters import scores
from explainers.chapters.common import sentence_reading
from explainers.chapters.common.sentence_reading import Reading
from explainers.chapters.exercises import predict
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
    hero = scores.make_hero(text, reading)
    show_hero(text, hero, "four steps")
    end_stop(text)
    sentence_reading.show_reader(reading)
    scores.ask_root(text)
    word = controls.followed_word
    show_chosen(
        "all words", lambda: scores.show_how(text, reading.layer(), hero.chosen(word)), word
    )
    deeper: Cards = {
        "steps": lambda: scores.show_steps(text, reading),
        "variance": lambda: scores.show_variance(text),
    }
    go_deeper(text, deeper)


text("question")
show_lesson(sentence_reading.choose_reading(sentence_reading.choose_sentence()))
show_one_sentence(text)
check_yourself(text, {"score": predict.a_score, "weight": predict.a_weight_of_two})
