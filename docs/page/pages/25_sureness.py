"""How sure a word is of where it looks, and how a divisor makes it surer or less sure."""

from explainers.attention.scaling import with_temperature
from explainers.chapters.common.reader_sentence import choose_sentence
from explainers.chapters.common.sentence_reading import Reading, choose_reading, show_reader
from explainers.chapters.sureness import cards
from explainers.ui.figure.hero import show_chosen, show_hero
from explainers.ui.page import Prose, show_one_sentence
from explainers.ui.page_parts.check_yourself import check_yourself
from explainers.ui.source import show_source
from explainers.ui.text.language import fragment

text = Prose(__file__)


@fragment
def show_lesson(reading: Reading) -> None:
    """The picture, and what follows it."""
    hero = cards.make_hero(text, reading)
    show_hero(text, hero, "sureness")
    show_reader(reading)
    show_chosen("bits", lambda: text("how", **cards.name_bits(hero, reading)))
    show_source(cards.measure_bits, with_temperature)


text("question")
show_lesson(choose_reading(choose_sentence()))
show_one_sentence(text)
check_yourself(text, {"even": cards.recall_even})
