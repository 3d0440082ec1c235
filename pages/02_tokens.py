"""From text to vectors: tokens, their ids, their rows, and where they stand."""

from explainers.chapters.tokens import cards, hero
from explainers.toys.sentence import Sentence
from explainers.ui import page
from explainers.ui.controls import controls
from explainers.ui.controls.choose_text import choose_text
from explainers.ui.figure.hero import show_hero
from explainers.ui.page import show_one_sentence
from explainers.ui.page_parts.check_yourself import check_yourself
from explainers.ui.page_parts.go_deeper import Cards, go_deeper
from explainers.ui.text.language import fragment

text = page.Prose(__file__)


@fragment
def show_lesson(sentence: Sentence) -> None:
    """The picture and all that follows it, which nothing outside of it depends on."""
    picture = hero.make_hero(text, sentence, page.read_seed())
    show_hero(text, picture, "cut text")
    unit, merges = map(picture.chosen, (controls.token_unit, controls.merges))
    hero.take_cut(sentence.text, unit, merges)
    cards.ask_order(text)
    cards.show_one_sum(text, sentence.tokens)
    deeper: Cards = {
        "ways": lambda: cards.show_ways(text, sentence),
        "waves": lambda: cards.show_waves(text, sentence.tokens),
    }
    go_deeper(text, deeper)


text("question")
show_lesson(choose_text(most_words=None))
show_one_sentence(text)
check_yourself(text, {"merges": hero.recall_tokens_left, "order": cards.recall_order})
