"""Positions: the hands of a clock, E + P = X, and what a head makes of words in two orders."""

import math
from collections.abc import Sequence
from dataclasses import replace
from random import Random

import streamlit as st
import torch
from torch import Tensor

from explainers import arithmetic
from explainers.arithmetic import Arithmetic
from explainers.attention.positions import Reordered, reorder, sinusoidal
from explainers.chapters.common.score_matrix import ROUNDING
from explainers.chapters.tokens.hero import WIDTH
from explainers.charts.matrix import Matrix, Values, find_largest
from explainers.charts.theme import FEATURE_AXIS, POSITION_AXIS
from explainers.device import choose_device
from explainers.messages import N_
from explainers.toys import examples
from explainers.toys.layers import build_mask
from explainers.translations import _
from explainers.ui import provenance
from explainers.ui.controls import controls
from explainers.ui.figure.chart import show_chart
from explainers.ui.figure.linked_matrices import show_clickable_figure, show_figure
from explainers.ui.figure.panels import Cell, Figure, Panel, Slider
from explainers.ui.page_parts.check_yourself import Recall
from explainers.ui.takeaway_files import hand_over, run_and_hand_over
from explainers.ui.text.numbers import bound_rounding

MOST_DRAWN = 16
"""Numbers of a position that are drawn as hands; more of them could not be told apart."""
ROWS = ("E", "+ P", "= X")


def add_positions(
    words: tuple[str, ...], d_model: int, longest: int, seed: int
) -> dict[str, Tensor]:
    """E + P = X."""
    x = examples.draw_embeddings(words, d_model, seed)
    positions = sinusoidal(len(words), d_model, longest).to(x.device)
    return {"E": x, "P": positions, "X": x + positions}


def add_position(
    words: tuple[str, ...], word: int, d_model: int, longest: int, seed: int
) -> dict[str, Tensor]:
    """The rows of E, P and X of one word."""
    all_words = add_positions(words, d_model, longest, seed)
    return {f"one row of {name}": all_words[name][word] for name in ("E", "P", "X")}


def draw_clock(word: str, embedding: Tensor, bases: Slider) -> Figure:
    """The hands at the position of a slider, and the sum for a word (d_model,) that is there.

    The other slider has the bases of the waves.
    """
    control = controls.clock_position
    place, labels = control(), [f"{step:g}" for step in control.steps]
    slider = Slider(control.label, labels, place, control.put, plays=True)
    alt = _("A dial for each pair of numbers of a position, and the sum of a word and a position.")
    figures = [
        Figure(_draw_position(word, embedding, place, base), alt)
        for base in controls.wave_base.steps
    ]
    views = dict(enumerate(figures))
    return replace(views.pop(bases.index), slider=slider, view_slider=bases, views=views)


def _draw_position(word: str, embedding: Tensor, place: int, base: float) -> list[Panel]:
    places, d_model = len(controls.clock_position.steps), min(len(embedding), MOST_DRAWN)
    positions = sinusoidal(places, len(embedding), base).to(embedding.device)[:, :d_model]
    kept = embedding[:d_model]
    sums = [torch.stack([kept, row, kept + row]).tolist() for row in positions]
    return [_draw_hands(positions, place), make_strips(word, sums[place], sums)]


def make_strips(word: str, rows: Values, frames: Sequence[Values] = ()) -> Panel:
    """E + P = X of one word as three strips, written like a sum."""
    largest = max(map(find_largest, (rows, *frames)))
    matrix = Matrix(
        "E + P = X",
        _("“{word}”: embedding, position, and what attention reads", word=word),
        rows,
        ROWS,
        [str(n) for n in range(len(rows[0]))],
        "",
        FEATURE_AXIS,
        limit=largest,
    )
    return Panel("sum", matrix, frames=tuple(frames))


def _draw_hands(positions: Tensor, place: int) -> Panel:
    # by what angle the hand of each pair turns from one position to the next
    steps: list[float] = torch.atan2(positions[1, 0::2], positions[1, 1::2]).tolist()
    turns = [_("one turn in {places:,.1f} positions", places=math.tau / step) for step in steps]
    matrix = Matrix(
        _("the position as clock hands"),
        _("each hand has turned by position × frequency: sine to the right, cosine upwards"),
        positions[place : place + 1].tolist(),
        [_("hand")],
        [turn for turn in turns for _unused in "xy"],
        POSITION_AXIS,
        FEATURE_AXIS,
        kind="arrows",
        limit=1.0,
    )
    return Panel("hands", matrix, frames=tuple([row] for row in positions.tolist()))


ANSWERS = (
    N_("the same outputs, only rearranged"),
    N_("a different output for every word"),
    N_("a different output only for the words that moved"),
)
HEAD_DIM, LONGEST = 4, int(examples.LONGEST)
DOG, SWAPPED = ("dog", "bites", "man"), (2, 1, 0)


def draw_one_sum(words: tuple[str, ...], word: int, seed: int) -> None:
    """The same for one word: three strips, written like a sum."""
    sizes, title = {"d_model": WIDTH, "longest": LONGEST}, _("Embedding + position")
    made = run_and_hand_over(
        "one sum", title, add_position, words=words, word=word, **sizes, seed=seed
    )
    rows = [row.tolist() for row in made.values()]
    left, right, total = rows

    def explain(cell: Cell) -> Arithmetic:
        j, row = cell.column, "EPX"[cell.row]
        name = f"{row}[{word}, {j}]"
        if row == "X":
            return arithmetic.explain_addition(left[j], right[j], total[j], name)
        if row == "P":
            return arithmetic.explain_wave(word, j, len(left), LONGEST, right[j], name)
        return arithmetic.explain_input(left[j], name)

    show_clickable_figure(
        [make_strips(words[word], rows)],
        explain,
        provenance.random_weights(seed, choose_device()),
        "one sum",
        _("Embedding plus position is what attention reads: three rows of numbers of one word."),
    )


def read_dog(seed: int) -> tuple[Reordered, Reordered]:
    """What each of three words gets in two orders, without positions and with them."""
    x = examples.draw_embeddings(DOG, WIDTH, seed)
    head = examples.random_head(WIDTH, HEAD_DIM, HEAD_DIM, seed)
    places = sinusoidal(len(DOG), WIDTH, examples.LONGEST).to(x.device)
    full, order = build_mask("full", x), torch.tensor(SWAPPED)
    without = reorder(x, torch.zeros_like(places), head, full, order)
    return without, reorder(x, places, head, full, order)


def name_largest_change(outputs: Reordered) -> str:
    """The largest change of any number; rounding by the next power of ten."""
    change = _measure_changes(outputs).max().item()
    return bound_rounding(change) if change < ROUNDING else f"{change:.1g}"


def describe_change(outputs: Reordered) -> str:
    """Which of the answers the comparison gives."""
    changed = _measure_changes(outputs).amax(dim=-1) >= ROUNDING
    if not changed.any():
        return ANSWERS[0]
    return ANSWERS[1 if changed.all() else 2]


def _measure_changes(outputs: Reordered) -> Tensor:
    return (outputs.after - outputs.before).abs()


def draw_dog(shown: Reordered, seed: int) -> None:
    """Two stacks of outputs, each word joined with itself."""
    from explainers.charts.curves import draw_two_orders, make_order_rows

    before = shown.before[torch.tensor(SWAPPED).argsort()]  # in the order in which it was read
    rows = make_order_rows(DOG, list(SWAPPED), before.tolist(), shown.after.tolist())
    origin = provenance.random_weights(seed, before.device)
    alt = _("The outputs of three words, read in two orders, joined by lines.")
    show_chart(draw_two_orders, rows, alt, "swapped", origin, words=len(DOG))


def draw_hands(words: tuple[str, ...], d_model: int, seed: int) -> None:
    """A position as the hands of a clock, and added to a word."""
    x = examples.draw_embeddings(words, d_model, seed)
    followed, control = controls.followed_word, controls.wave_base
    # the word whose sum is shown above the cards
    word = min(st.session_state.get(followed.key, followed.default), len(words) - 1)
    labels = [f"{base:,}" for base in control.steps]

    def put(turned: int) -> None:
        control.put(control.steps[turned])

    bases = Slider(control.label, labels, control(), put, name=control.key)
    origin = provenance.random_weights(seed, x.device)
    show_figure(draw_clock(words[word], x[word], bases), origin, "clock")
    longest = int(control.steps[bases.index])
    sizes, title = {"d_model": d_model, "longest": longest}, _("Embedding + position")
    hand_over("clock", title, add_positions, words=words, **sizes, seed=seed)


SENTENCES = (
    ("dog bites man", "man bites dog", "dog bites dog"),
    ("the judge praised the chef", "the chef praised the judge", "the judge praised the judge"),
    ("fans follow players", "players follow fans", "fans follow fans"),
)


def recall_order(draw: Random) -> Recall:
    """Without positions a head sees which words there are, not in which order."""
    first, shuffled, other = draw.choice(SENTENCES)
    return Recall(f"“{other}”", {"first": first}, (f"“{shuffled}”", f"“{other}”"))
