"""Two sequences: a decoder looks at another sentence, and learns by itself which word is whose."""

from explainers.attention.decoder_block import cross_attention
from explainers.chapters.cross_attention import cards, choose_sentence, hero, real_translator
from explainers.chapters.cross_attention.cards import WeightSteps
from explainers.chapters.cross_attention.hero import TranslationView
from explainers.chapters.cross_attention.real_translator import translate_text
from explainers.models.token_text import merge_weights
from explainers.translation.alignment import read_links, reestimate, score_alignment
from explainers.translation.corpus import MAX_SOURCE_WORDS, TRAINING_SENTENCES
from explainers.ui import page
from explainers.ui.controls import controls
from explainers.ui.controls.choose_text import choose_text
from explainers.ui.figure.hero import show_chosen, show_hero
from explainers.ui.page import show_one_sentence
from explainers.ui.page_parts.check_yourself import check_yourself
from explainers.ui.page_parts.go_deeper import Cards, go_deeper
from explainers.ui.prediction import ask_veiled, revealed
from explainers.ui.source import show_source
from explainers.ui.text.language import fragment

text = page.Prose(__file__)


def show_steps(view: TranslationView, syllable: int) -> None:
    """Q, K, scores and weights."""
    text("how", rows=view.num_syllables, columns=len(view.columns))
    WeightSteps(view, syllable).show()
    show_source(cross_attention)


def show_accuracy(view: TranslationView) -> None:
    """The strongest lines, scored against the correct ones."""
    text("accuracy")
    text("accuracy_seen", **cards.show_scores(view))
    if not view.gold:
        text("no_gold")
    show_source(score_alignment, read_links, reestimate)


def show_block(view: TranslationView) -> None:
    """The block around cross-attention."""
    text("block")
    ask_veiled(text, "block", cards.PART_NAMES[1], cards.PART_NAMES)
    text("block_seen", **cards.show_block(view))


def show_two_ways(view: TranslationView) -> None:
    """Cross-attention, or both texts in one sequence."""
    text("cells")
    text("cells_seen", **cards.show_weight_counts(view))


def show_real(view: TranslationView) -> None:
    """A published translator, if it can be had."""
    if named := real_translator.cut_both(view):
        text("pieces", **named)
    text("real")
    if found := real_translator.offer_real_translation(sentence.text):
        text("real_seen", **real_translator.show_real_weights(*found, page.has_queries_down()))
        show_source(merge_weights, translate_text)


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
    answer, named = cards.answer_explaining(view)
    if revealed(text, "explaining", cards.UNCHANGED_SHARES, answer, **named):
        text("explaining_more", **cards.show_replacements(view))
    syllable = controls.followed_syllable
    of_weights = controls.cross_layer, controls.cross_head, controls.cross_rows
    show_chosen(
        "steps", lambda: show_steps(select(), picture.chosen(syllable)), syllable, *of_weights
    )
    deeper: Cards = {
        "accuracy": lambda: show_accuracy(select()),
        "block": lambda: show_block(select()),
        "two_ways": lambda: show_two_ways(select()),
        "real": lambda: show_real(select()),
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
