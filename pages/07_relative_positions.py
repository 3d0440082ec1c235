"""Relative positions: scores that know how far apart two words are, by RoPE and ALiBi."""

from explainers.chapters.common.sentence_reading import (
    choose_sentence,
    drop_end_marks,
    offer_causal_reader,
)
from explainers.chapters.relative_positions import cards, hero
from explainers.chapters.relative_positions.compute import RotaryHead
from explainers.toys.sentence import Sentence
from explainers.ui import page
from explainers.ui.controls import controls
from explainers.ui.figure.hero import show_chosen, show_hero
from explainers.ui.page import show_one_sentence
from explainers.ui.page_parts.check_yourself import check_yourself
from explainers.ui.page_parts.go_deeper import Cards, go_deeper
from explainers.ui.text.language import fragment

text = page.Prose(__file__)


@fragment
def show_lesson(sentence: Sentence, head: RotaryHead, wants_model: bool) -> None:
    """The picture and all that follows it, which nothing outside of it depends on."""
    picture, two_words = hero.make_hero(text, head)
    show_hero(text, picture, "dials")
    offer_causal_reader(drop_end_marks(sentence.tokens), bool(head.name), wants_model)
    if head.name:
        text(
            "of_model",
            name=hero.name_head(head),
            base=f"{head.base:,.0f}",
            pairs=head.head_dim // 2,
        )
    elif head.is_small:
        text("of_small")
    both, alone = controls.shift, controls.apart
    show_chosen("all pairs", lambda: cards.ask_scores(text, head, picture.chosen(both)), both)
    show_chosen(
        "one pair",
        lambda: hero.show_how(text, two_words, picture.chosen(alone), picture.chosen(both)),
    )
    deeper: Cards = {
        "alibi": lambda: cards.show_alibi(text, sentence.tokens),
        "past_length": lambda: cards.show_past_length(text),
    }
    go_deeper(text, deeper)


text("question")
chosen = choose_sentence()
show_lesson(chosen, *hero.choose_rotary_head(chosen))
show_one_sentence(text)
check_yourself(text, {"angle": cards.recall_rotation, "far": cards.recall_far_score})
