"""Positions that are rotated or added, while all words move: two words, then all pairs."""

import math
from dataclasses import replace

import torch
from torch import Tensor

from explainers.attention.rotary import angles
from explainers.chapters.common.head_matrices import pair
from explainers.chapters.relative_positions.position_scores import DRAWN, TURNED_DIM, ShiftedScores
from explainers.charts.matrix import Matrix
from explainers.charts.theme import FEATURE_AXIS, KEY_AXIS, QUERY_AXIS
from explainers.toys import examples
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.figure.panels import Figure, Panel, Slider, orient_panels

KEYS = (
    "scores with RoPE",
    "change with RoPE",
    "scores with added positions",
    "change with added positions",
)


def draw_pair(moved: ShiftedScores, place: int) -> Figure:
    """One query and one key, rotated pair by pair, and their score; a slider moves all words."""
    control = controls.shift
    labels = [_("{count} positions", count=shift) for shift in moved.shifts]
    slider = Slider(control.label, labels, place, lambda n: control.put(moved.shifts[n]))
    alt = _("A query and a key, rotated pair by pair as all words move, and the parts of a score.")
    return Figure([_dials(moved, place), _parts(moved, place)], alt, slider=slider)


def draw_all_pairs(moved: ShiftedScores, place: int, queries_down: bool) -> Figure:
    """The scores of all words after one shift, and what it changed, rotated and added."""
    rotary, added = moved.rotary, moved.added
    limit = max(rotary.abs().max().item(), added.abs().max().item())
    since = _("new − old, since all words moved")
    shown = [
        (rotary[place], _("scores with RoPE"), _("q · k ÷ √d_k, both rotated")),
        (rotary[place] - rotary[0], _("change with RoPE"), since),
        (added[place], _("scores with added positions"), _("q · k ÷ √d_k, from x + positions")),
        (added[place] - added[0], _("change with added positions"), since),
    ]
    panels = [_scores(moved, key, *one, limit) for key, one in zip(KEYS, shown, strict=True)]
    rope, rope_moved, waves, waves_moved = orient_panels(panels, queries_down)
    alt = _("The scores of all words with RoPE and with added positions, and how they changed.")
    heading = _("Positions added to x, as on the page Tokens and positions")
    panels = [
        replace(rope, heading=_("RoPE rotates queries and keys")),
        rope_moved,
        replace(waves, heading=heading),
        waves_moved,
    ]
    return Figure(panels, alt)


def _scores(
    moved: ShiftedScores, key: str, numbers: Tensor, name: str, formula: str, limit: float
) -> Panel:
    axes = QUERY_AXIS, KEY_AXIS
    tokens = moved.tokens
    return Panel(key, Matrix(name, formula, numbers.tolist(), tokens, tokens, *axes, limit=limit))


def _dials(moved: ShiftedScores, place: int) -> Panel:
    asking, asked = (moved.tokens[at] for at in pair(moved.tokens))
    rows = _("query of {word}", word=asking), _("key of {word}", word=asked)
    speeds = angles(torch.ones(1), TURNED_DIM, examples.LONGEST)[0].tolist()
    turns = [_("one turn in {places:,.1f} positions", places=math.tau / one) for one in speeds]
    columns = [turn for turn in turns for _unused in "xy"]
    frames = moved.directions().tolist()
    matrix = Matrix(
        _("one query and one key"),
        _("a pair of numbers is an arrow with a speed of its own; only its direction is drawn"),
        frames[place],
        rows,
        columns,
        _("vector"),
        FEATURE_AXIS,
        kind="arrows",
        limit=max(DRAWN),
    )
    return Panel("dials", matrix, frames=tuple(frames))


def _parts(moved: ShiftedScores, place: int) -> Panel:
    asking, asked = (moved.tokens[at] for at in pair(moved.tokens))
    frames = moved.pair_scores().tolist()
    columns = [_("pair {number}", number=n + 1) for n in range(TURNED_DIM // 2)]
    matrix = Matrix(
        _("score of {asking} for {asked}", asking=asking, asked=asked),
        _("what each pair of numbers adds to it, and the sum"),
        frames[place],
        ["RoPE", _("added")],
        [*columns, _("sum")],
        "",
        "",
        limit=moved.pair_scores().abs().max().item(),
    )
    return Panel("parts", matrix, frames=tuple(frames))
