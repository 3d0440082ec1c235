"""Relative positions: scores that know how far apart two words are, by RoPE and ALiBi."""

from functools import partial

from explainers.attention.position_bias import alibi_bias, alibi_slopes, biased_attention
from explainers.attention.rotary import angles, rotary_attention, rotate
from explainers.attention.stretching import (
    find_slowed_share,
    interpolate,
    interpolate_slow_pairs,
    raise_base,
    sharpen,
)
from explainers.chapters.common.sentence_reading import (
    choose_sentence,
    drop_end_marks,
    offer_causal_reader,
)
from explainers.chapters.relative_positions import cards, compute, hero
from explainers.chapters.relative_positions.compute import MovedPair, RotaryHead
from explainers.toys.layers import Tokens
from explainers.toys.sentence import Sentence
from explainers.translations import _
from explainers.ui import page
from explainers.ui.controls import controls
from explainers.ui.figure.hero import show_chosen, show_hero
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.page import show_one_sentence
from explainers.ui.page_parts.check_yourself import check_yourself
from explainers.ui.page_parts.go_deeper import go_deeper
from explainers.ui.prediction import revealed
from explainers.ui.provenance import random_weights
from explainers.ui.source import show_source
from explainers.ui.takeaway_files import hand_over
from explainers.ui.text.language import fragment
from explainers.ui.text.numbers import bound_rounding

text = page.Prose(__file__)


def ask_scores(head: RotaryHead, shift: int) -> None:
    """What moving all words does to every score, asked first and then drawn."""
    far = compute.SHIFTS[-1]
    shown = shift or far
    shifts = (*sorted({*compute.SHIFTS, shown}),)
    moved = compute.ShiftedScores.of(head, shifts)
    answers, answer = compute.ANSWERS, moved.find_answer()
    if revealed(text, "rotary", answers, answer, shift=far, pairs=len(head.tokens) ** 2):
        rotary, added = moved.measure_changes()
        changes = {"rotary": bound_rounding(rotary), "added": f"{added:.2f}"}
        text("side_by_side", shift=shown, far=far, **changes)
        place = shifts.index(shown)
        figure = cards.draw_all_pairs(moved, place, page.has_queries_down())
        show_figure(figure, hero.name_origin(head), "rotary")
        inputs = {"head": head, "shift": shown}
        hand_over("turning", _("All words moved along"), compute.compute_moved_text, **inputs)


def show_how(moved: MovedPair, apart: int, shift: int) -> None:
    """One pair of numbers, rotated and multiplied."""
    inputs = {"head": moved.head, "words": moved.words, "apart": apart, "shift": shift}
    hand_over("pair", _("Two words moved along"), compute.compute_moved_pair, **inputs)
    text("how", **hero.explain_pair(moved, apart, shift))
    show_source(angles, rotate, rotary_attention)


def penalties(tokens: Tokens) -> None:
    """What ALiBi takes off a score."""
    text("alibi")
    seed = page.read_seed()
    shown = compute.compute_alibi(tokens, seed)
    origin = random_weights(seed, shown.mask.device)
    show_figure(cards.draw_penalties(shown, tokens, page.has_queries_down()), origin, "alibi")
    hand_over("alibi", "ALiBi", compute.compute_with_alibi, tokens=tokens, seed=seed)
    slopes = cards.name_slopes(shown.slopes)
    text("alibi_slopes", heads=len(slopes), slopes=", ".join(slopes))
    show_source(alibi_slopes, alibi_bias, biased_attention)


def longer_texts() -> None:
    """Where the pairs of a head are past the trained length, also if they are slowed down."""
    shown = cards.PairTurns.of(cards.read_way())
    text("past_length", **cards.name_turns(shown))
    cards.show_turns(shown)
    title = _("Pairs past the trained length")
    hand_over("turns", title, cards.compute_turns, way=shown.way)
    text("past_length_seen", **cards.name_turns(shown))
    text("losses", **cards.name_losses())
    show_source(interpolate, raise_base, find_slowed_share, interpolate_slow_pairs, sharpen)


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
    show_chosen("all pairs", lambda: ask_scores(head, picture.chosen(both)), both)
    show_chosen(
        "one pair", lambda: show_how(two_words, picture.chosen(alone), picture.chosen(both))
    )
    alibi = partial(penalties, sentence.tokens)
    go_deeper(text, {"alibi": alibi, "past_length": longer_texts})


text("question")
chosen = choose_sentence()
show_lesson(chosen, *hero.choose_rotary_head(chosen))
show_one_sentence(text)
check_yourself(text, {"angle": cards.recall_rotation, "far": cards.recall_far_score})
