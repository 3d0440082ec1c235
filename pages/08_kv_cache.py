"""What a model stores while it writes: decoding with a KV cache, with costs and bugs."""

from explainers.chapters.common.score_matrix import FEWEST, write_word_count
from explainers.chapters.common.sentence_reading import drop_end_marks, offer_causal_reader
from explainers.chapters.exercises import predict
from explainers.chapters.kv_cache import cards, hero
from explainers.chapters.kv_cache.reading import DrawnText, ModelText, choose_text_reader, read_text
from explainers.toys.sentence import Sentence
from explainers.ui import page
from explainers.ui.controls import controls
from explainers.ui.controls.choose_text import choose_text
from explainers.ui.figure.hero import show_chosen, show_hero
from explainers.ui.page import show_one_sentence
from explainers.ui.page_parts.check_yourself import check_yourself
from explainers.ui.page_parts.go_deeper import Cards, go_deeper
from explainers.ui.text.language import fragment
from explainers.ui.tour import end_stop

text = page.Prose(__file__)


@fragment
def show_lesson(sentence: Sentence, run: DrawnText, wants_model: bool) -> None:
    """The picture and all that follows it, which nothing outside of it depends on."""
    small = read_text(sentence.tokens, page.read_seed())
    words, is_short = len(small.tokens), len(small.tokens) < FEWEST
    if is_short:
        text("too_short", words=write_word_count(words), fewest=FEWEST)
    picture = hero.make_hero(text, run, sentence)
    show_hero(text, picture, "shelves")
    if isinstance(run, ModelText):
        text("of_model", **run.name_parts())
    else:
        text("weights_trained" if run.seed is None else "weights_random")
    end_stop(text)
    offer_causal_reader(drop_end_marks(sentence.tokens), isinstance(run, ModelText), wants_model)
    cards.ask_costs(text, run)
    show_chosen(
        "one step",
        lambda: cards.show_how(text, run, *hero.find_step(picture, len(run.tokens))),
        *(controls.word_count, controls.cache_layer),
    )
    if not is_short:
        deeper: Cards = {
            "broken": lambda: cards.show_broken(text, run, small),
            "windows": lambda: cards.show_windows(text, run, small),
        }
        go_deeper(text, deeper)


text("question")
chosen = choose_text()
show_lesson(chosen, *choose_text_reader(chosen))
show_one_sentence(text)
check_yourself(text, {"rows": predict.rows_with_and_without, "kept": cards.recall_stored_queries})
