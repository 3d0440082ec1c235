"""Long sequences: weights that never exist all at once, a softmax in blocks, and skipped tiles."""

from explainers.chapters.common.score_matrix import FEWEST, Lab, write_word_count
from explainers.chapters.common.sentence_reading import choose_reading, choose_sentence, show_reader
from explainers.chapters.exercises import predict
from explainers.chapters.long_sequences import hero, measurement, online_row, tile_figure
from explainers.chapters.long_sequences.tile_figure import TiledSentence
from explainers.translations import _
from explainers.ui import page
from explainers.ui.controls import controls
from explainers.ui.figure.hero import show_hero
from explainers.ui.page import show_one_sentence
from explainers.ui.page_parts.check_yourself import check_yourself
from explainers.ui.page_parts.go_deeper import go_deeper
from explainers.ui.takeaway_files import hand_over
from explainers.ui.text.language import fragment

text = page.Prose(__file__)


def show_spared() -> None:
    """What n² takes, and what masks skip."""
    text("spared")
    measurement.show_measuring(text)
    tile_figure.show_skipped(text, lab.queries_down)


@fragment
def show_lesson() -> None:
    """The picture and all that follows it, which nothing outside of it depends on."""
    show_hero(text, picture := hero.make_hero(text, lab), "sweep")

    def find_rule() -> str:
        return picture.chosen(controls.tile_mask)

    show_reader(reading)
    inputs = TiledSentence.cut(lab, find_rule(), hero.BLOCKS).inputs
    title = _("Attention in tiles, the first picture")
    hand_over("sweep", title, tile_figure.compare_tiles, **inputs)
    cards = {"spared": show_spared}
    if words < FEWEST:
        text("too_short", words=write_word_count(words), fewest=FEWEST)
    else:
        online_row.ask_exact(text, lab)
        online_row.show_row(text, lab)
        cards = {
            "row": lambda: online_row.show_corrections(text, lab),
            "tiles": lambda: tile_figure.show_tiles(text, lab, find_rule()),
        } | cards
    go_deeper(text, cards)


text("question")
reading = choose_reading(choose_sentence())
lab, words = Lab(reading.layer(), page.has_queries_down()), len(reading.tokens)
show_lesson()
show_one_sentence(text)
check_yourself(text, {"correction": predict.a_correction, "growth": predict.growth_of_the_weights})
