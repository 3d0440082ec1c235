"""Fewer keys and values: MHA, GQA, MQA and MLA."""

from explainers.chapters.common import sentence_reading
from explainers.chapters.common.sentence_reading import Reading
from explainers.chapters.exercises import predict, predict_cache
from explainers.chapters.shared_heads import cards, hero
from explainers.chapters.shared_heads import uptraining_job as uptraining
from explainers.ui import page
from explainers.ui.figure.hero import show_chosen, show_hero
from explainers.ui.page import show_one_sentence
from explainers.ui.page_parts.check_yourself import check_yourself
from explainers.ui.page_parts.go_deeper import Cards, go_deeper
from explainers.ui.text.language import fragment

text = page.Prose(__file__)


@fragment
def show_lesson(reading: Reading) -> None:
    """The picture and all that follows it, which nothing outside of it depends on."""
    show_hero(text, picture := hero.make_hero(text, reading), "shared heads")
    text("learned_here" if reading.is_small else "averaged_here", sentence=" ".join(reading.known))
    sentence_reading.show_reader(reading, has_all_heads=True)
    uptraining.ask_averaged(text, cards.NUM_HEADS, reading.known)
    show_chosen("dealing", lambda: cards.show_dealing(text, *hero.load_shown(picture, reading)))
    deeper: Cards = {
        "uptraining": lambda: uptraining.show_uptraining(
            text, reading.known, *hero.find_small_sizes(picture, reading)
        ),
        "latent": lambda: cards.show_latent(text, reading.words),
        "rows": lambda: cards.show_rows(text, reading.words),
    }
    go_deeper(text, deeper)


text("question", **hero.name_price())
show_lesson(sentence_reading.choose_reading(sentence_reading.choose_sentence(), has_all_heads=True))
show_one_sentence(text)
questions = predict.query_heads_per_group, predict_cache.numbers_of_a_latent
check_yourself(text, dict(zip(("reads", "latent"), questions, strict=True)))
