"""How sure a word is of where it looks, and how a divisor makes it surer or less sure."""

from explainers.attention.scaling import with_temperature
from explainers.chapters import sureness
from explainers.chapters.common import sentence_reading
from explainers.chapters.common.sentence_reading import Reading
from explainers.ui.figure.hero import show_chosen, show_hero
from explainers.ui.page import Prose, show_one_sentence
from explainers.ui.page_parts.check_yourself import check_yourself
from explainers.ui.source import show_source
from explainers.ui.text.language import fragment

text = Prose(__file__)


@fragment
def show_lesson(reading: Reading) -> None:
    """The picture, and what follows it."""
    hero = sureness.make_hero(text, reading)
    show_hero(text, hero, "sureness")
    sentence_reading.show_reader(reading)
    show_chosen("bits", lambda: text("how", **sureness.name_bits(hero, reading)))
    show_source(sureness.measure_bits, with_temperature)


text("question")
show_lesson(sentence_reading.choose_reading(sentence_reading.choose_sentence()))
show_one_sentence(text)
check_yourself(text, {"even": sureness.recall_even})
