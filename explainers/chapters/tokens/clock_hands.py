"""A position as the hands of a clock, one for each pair of numbers, and as a row that is added."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from explainers.arithmetic import Arithmetic
from explainers.attention.positions import sinusoidal
from explainers.chapters.common.token_vectors import explain_sum
from explainers.chapters.tokens.hero import WIDTH
from explainers.charts.matrix import Matrix, Values, find_largest
from explainers.charts.theme import FEATURE_AXIS, POSITION_AXIS
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.figure.panels import Cell, Figure, Panel, Slider

MOST_DRAWN = 16
"""Numbers of a position that are drawn as hands; more of them could not be told apart."""
ROWS = ("E", "+ P", "= X")


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
    sums = [make_sum_rows(embedding[:d_model], row) for row in positions]
    return [_draw_hands(positions, place), make_strips(word, sums[place], sums)]


def make_sum_rows(embedding: Tensor, position: Tensor) -> Values:
    """E, P and X of one word, a row each."""
    return torch.stack([embedding, position, embedding + position]).tolist()


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


def explain_strips(
    x: Tensor, positions: Tensor, longest: float, word: int
) -> Callable[[Cell], Arithmetic]:
    """The arithmetic of one number of the strips; x and positions (length, d_model)."""
    explain = explain_sum(x, positions, longest)
    return lambda cell: explain(Cell("EPX"[cell.row], word, cell.column))


def find_turns(d_model: int, longest: float) -> list[float]:
    """After how many positions the hand of each pair has turned once."""
    return [math.tau / step for step in _find_steps(sinusoidal(2, d_model, longest))]


def name_quick_turn() -> dict[str, object]:
    """With the smallest base, the slowest hand is quick enough to be followed."""
    base = min(controls.wave_base.steps)
    turn = find_turns(WIDTH, base)[-1]
    return {"base": base, "d_model": WIDTH, "turn": round(turn)}


def _find_steps(positions: Tensor) -> list[float]:
    """By what angle the hand of each pair turns from one position to the next."""
    steps: list[float] = torch.atan2(positions[1, 0::2], positions[1, 1::2]).tolist()
    return steps


def _draw_hands(positions: Tensor, place: int) -> Panel:
    steps = _find_steps(positions)
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
