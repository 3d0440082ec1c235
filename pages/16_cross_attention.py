"""Two sequences: a decoder looks at another sentence, and learns by itself which word is whose."""

from explainers.chapters.cross_attention import cards, choose_sentence, hero, real_translator
from explainers.chapters.cross_attention.hero import TranslationView
from explainers.translation.corpus import MAX_SOURCE_WORDS, TRAINING_SENTENCES
from explainers.ui import page
from explainers.ui.controls import controls
from explainers.ui.controls.choose_text import choose_text
from explainers.ui.figure.hero import show_chosen, show_hero
from explainers.ui.page import show_one_sentence
from explainers.ui.page_parts.check_yourself import check_yourself
from explainers.ui.page_parts.go_deeper import Cards, go_deeper
from explainers.ui.text.language import fragment

text = page.Prose(__file__)


@fragment
def show_lesson(whole: TranslationView) -> None:
    """The picture and all that follows it, which nothing outside of it depends on."""
    if not whole.num_syllables:
        text("nothing_written")
        return

    def select() -> TranslationView:
        return whole.select(*hero.read_link_reading())

    view = select()
    show_hero(text, picture := hero.make_hero(text, view, sentence.text), "translation")
    text("learned_here", pairs=f"{TRAINING_SENTENCES:,}")
    cards.ask_explaining(text, view)
    syllable = controls.followed_syllable
    of_weights = controls.cross_layer, controls.cross_head, controls.cross_rows

    def show_steps() -> None:
        cards.WeightSteps(select(), picture.chosen(syllable)).show(text)

    show_chosen("steps", show_steps, syllable, *of_weights)
    deeper: Cards = {
        "accuracy": lambda: cards.show_accuracy(text, select()),
        "block": lambda: cards.show_block(text, select()),
        "two_ways": lambda: cards.show_two_ways(text, select()),
        "real": lambda: real_translator.show_real(text, select(), sentence.text),
    }
    go_deeper(text, deeper)


text("question")
sentence = choose_text(is_english=True, examples=choose_sentence.list_examples())
if not choose_sentence.load_translator_or_warn():
    page.end_page()
known = choose_sentence.read_words(sentence.text)
if known.is_cut:
    text("too_long", most=MAX_SOURCE_WORDS)
if known.unknown:
    text("left_out" if known.words else "cannot", **choose_sentence.describe_unknown(known))
elif not known.words:
    text("no_words")
if known.unknown or not known.words:
    choose_sentence.offer_known(known)
if known.words:
    show_lesson(hero.translate_view(known.words, page.has_queries_down()))
show_one_sentence(text)
check_yourself(text, {"shape": cards.recall_weight_count, "mask": cards.recall_mask})
