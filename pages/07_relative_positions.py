"""Relative positions: scores that know how far apart two words are, by RoPE, ALiBi and T5."""

from random import Random

import torch

from explainers.attention.position_bias import (
    alibi_bias,
    alibi_slopes,
    biased_attention,
    both_ways,
    bucket,
    relative_bias,
)
from explainers.attention.rotary import angles, rotary_attention, rotate
from explainers.chapters.common.head_matrices import choose_pair
from explainers.chapters.relative_positions import hero, position_scores, takeaway
from explainers.chapters.relative_positions.distance_biases import (
    draw_buckets,
    draw_penalties,
    name_slopes,
)
from explainers.chapters.relative_positions.moved_pair import MovedPair
from explainers.chapters.relative_positions.rope_shift import draw_all_pairs
from explainers.toys import examples
from explainers.toys.sentence import SENTENCE
from explainers.ui import page
from explainers.ui.controls import controls
from explainers.ui.controls.choose_text import choose_text
from explainers.ui.figure.hero import show_hero
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.page_parts.check_yourself import Recall, check_yourself
from explainers.ui.page_parts.go_deeper import go_deeper
from explainers.ui.page_parts.one_sentence import show_one_sentence
from explainers.ui.prediction import revealed
from explainers.ui.provenance import random_weights
from explainers.ui.source import show_source
from explainers.ui.text.language import fragment
from explainers.ui.text.numbers import bound_rounding

text = page.open_prose(__file__)


@fragment
def ask_scores(tokens: tuple[str, ...], shift: int) -> None:
    """What moving all words does to every score, asked first and then drawn."""
    seed, far = page.read_seed(), position_scores.SHIFTS[-1]
    shown = shift or far
    shifts = sorted({*position_scores.SHIFTS, shown})
    moved = position_scores.ShiftedScores.of(tokens, shifts, seed)
    answers, answer = position_scores.ANSWERS, moved.answer()
    if revealed(text, "rotary", answers, answer, shift=far, pairs=len(tokens) ** 2):
        rotary, added = moved.largest_changes()
        changes = {"rotary": bound_rounding(rotary), "added": f"{added:.2f}"}
        text("side_by_side", shift=shown, far=far, **changes)
        place = shifts.index(shown)
        figure = draw_all_pairs(moved, place, page.has_queries_down())
        show_figure(figure, random_weights(seed, moved.rotary.device), "rotary")
        takeaway.take_turning(moved, place, seed)


@fragment
def show_how(moved: MovedPair, apart: int, shift: int) -> None:
    """One pair of numbers, rotated and multiplied."""
    takeaway.take_pair(moved, apart, shift, page.read_seed())
    pairs = position_scores.TURNED_DIM // 2
    text("how", pairs=pairs, **hero.explain_pair(moved, apart, shift))
    show_source(angles, rotate, rotary_attention)


def penalties(tokens: tuple[str, ...]) -> None:
    """What ALiBi takes off a score."""
    text("alibi")
    seed = page.read_seed()
    shown = position_scores.compute_alibi(tokens, seed)
    origin = random_weights(seed, shown.mask.device)
    show_figure(draw_penalties(shown, tokens, page.has_queries_down()), origin, "alibi")
    takeaway.take_alibi(tokens, seed, shown)
    slopes = name_slopes(shown.slopes)
    text("alibi_slopes", heads=len(slopes), slopes=", ".join(slopes))
    show_source(alibi_slopes, alibi_bias, biased_attention)


def buckets(tokens: tuple[str, ...]) -> None:
    """Which distances share a learned number."""
    text("learned_bias", buckets=position_scores.BUCKETS, farthest=position_scores.FARTHEST)
    seed = page.read_seed()
    shown = position_scores.compute_buckets(len(tokens), seed)
    origin = random_weights(seed, torch.device("cpu"))
    show_figure(draw_buckets(shown, tokens, page.has_queries_down()), origin, "buckets")
    takeaway.take_buckets(len(tokens), seed, shown)
    show_source(bucket, both_ways, relative_bias)


def rotate_a_pair(draw: Random) -> Recall:
    """How far one of the head's pairs is rotated at some position."""
    number, position = draw.randint(2, 4), draw.randint(3, 60)
    angle = angles(torch.tensor([position]), position_scores.TURNED_DIM, examples.LONGEST)
    given = {"number": f"{number}", "position": f"{position}"}
    return Recall(angle[0, number - 1].item(), given, tolerance=1e-4)


def score_far_away(draw: Random) -> Recall:
    """One score at the beginning of a text, and the same two words much further on."""
    start, far = draw.randint(0, 9), 100 * draw.randint(1, 9)
    words = tuple(SENTENCE.split())
    moved = position_scores.ShiftedScores.of(words, (start, start + far), draw.randint(0, 99))
    before, after = moved.rotary[:, *choose_pair(words)].tolist()
    asking, asked = (start + at for at in choose_pair(words))
    places = {
        "asking": asking,
        "asked": asked,
        "now_asking": asking + far,
        "now_asked": asked + far,
    }
    given = {name: f"{place}" for name, place in places.items()}
    return Recall(round(after, 2), {**given, "score": f"{before:.2f}"}, tolerance=0.005)


text("question")
sentence = choose_text().tokens
picture, two_words = hero.make_hero(text, sentence, page.read_seed())
show_hero(text, picture, "dials")
both, alone = picture.chosen(controls.shift), picture.chosen(controls.apart)
ask_scores(sentence, both)
show_how(two_words, alone, both)
go_deeper(text, {"alibi": lambda: penalties(sentence), "learned_bias": lambda: buckets(sentence)})
show_one_sentence(text)
check_yourself(text, {"angle": rotate_a_pair, "far": score_far_away})
