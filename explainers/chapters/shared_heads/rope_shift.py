"""Where positions enter: RoPE against positions that are added, while all words move along."""

import math
from dataclasses import replace

import torch
from torch import Tensor

from explainers.attention.rotary import angles, rotary_attention, rotate
from explainers.chapters.common.number_words import bound_rounding
from explainers.chapters.shared_heads import takeaway as taken
from explainers.chapters.shared_heads.fixed_layers import (
    ANSWERS,
    DRAWN,
    TURNED_DIM,
    ShiftedScores,
    pair,
)
from explainers.charts.matrix import Matrix
from explainers.charts.theme import FEATURE_AXIS, KEY_AXIS, QUERY_AXIS
from explainers.toys import examples
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Figure, Panel, Slider, orient_panels
from explainers.ui.page import Prose
from explainers.ui.prediction import revealed
from explainers.ui.provenance import random_weights
from explainers.ui.source import show_source

KEYS = "scores with RoPE", "change with RoPE", "scores with waves", "change with waves"


def show_turning(text: Prose, tokens: tuple[str, ...], seed: int, queries_down: bool) -> None:
    """Guess what moving does to the scores, then move all words in the browser."""
    control = controls.shift
    text("rotary", d_k=TURNED_DIM)
    moved = ShiftedScores.of(tokens, control.steps, seed)
    if not revealed(text, "rotary", ANSWERS, moved.answer(), shift=moved.shifts[-1]):
        return
    place = control()
    labels = [_("{count} places", count=shift) for shift in moved.shifts]
    slider = Slider(control.label, labels, place, lambda n: control.put(moved.shifts[n]))
    alt = _(
        "Two vectors turned pair by pair, and scores with RoPE and with waves added, as words move."
    )
    figure = Figure(panels_of(moved, place, queries_down), alt, slider=slider)
    show_figure(figure, random_weights(seed, moved.rotary.device), "rotary")
    taken.take_turning(moved, place, seed)
    rotary, added = ((s - s[0]).abs().max().item() for s in (moved.rotary, moved.added))
    text("rotary_moved", rotary=bound_rounding(rotary), added=f"{added:.2f}")
    show_source(angles, rotate, rotary_attention)


def panels_of(moved: ShiftedScores, place: int, queries_down: bool) -> list[Panel]:
    """Two vectors as they turn, and the scores of all words, a frame per shift."""
    rotary, added = moved.rotary, moved.added
    limit = max(rotary.abs().max().item(), added.abs().max().item())
    since = _("new − old, since all words moved")
    scores = [
        (rotary, _("scores with RoPE"), _("q · k ÷ √d_k, both turned")),
        (rotary - rotary[0], _("change with RoPE"), since),
        (added, _("scores with waves"), _("q · k ÷ √d_k, from x + waves")),
        (added - added[0], _("change with waves"), since),
    ]
    pairs = [
        _pairs(moved, key, *shown, place, limit) for key, shown in zip(KEYS, scores, strict=True)
    ]
    rope, rope_moved, waves, waves_moved = orient_panels(pairs, queries_down)
    heading = _("Waves added to x, as on the page Tokens and positions")
    return [
        _dials(moved, place),
        replace(rope, heading=_("RoPE turns queries and keys")),
        rope_moved,
        replace(waves, heading=heading),
        waves_moved,
    ]


def _pairs(
    moved: ShiftedScores,
    key: str,
    numbers: Tensor,
    name: str,
    formula: str,
    place: int,
    limit: float,
) -> Panel:
    frames, axes = numbers.tolist(), (QUERY_AXIS, KEY_AXIS)
    drawn = Matrix(name, formula, frames[place], moved.tokens, moved.tokens, *axes, limit=limit)
    return Panel(key, drawn, frames=tuple(frames))


def _dials(moved: ShiftedScores, place: int) -> Panel:
    asking, asked = (moved.tokens[at] for at in pair(moved.tokens))
    rows = _("query of {word}", word=asking), _("key of {word}", word=asked)
    speeds = angles(torch.ones(1), TURNED_DIM, examples.LONGEST)[0].tolist()
    turns = [_("one turn in {places:,.1f} places", places=math.tau / one) for one in speeds]
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
