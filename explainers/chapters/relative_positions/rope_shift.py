"""Scores of all pairs of words after all words moved, with positions rotated and added."""

from dataclasses import replace

from torch import Tensor

from explainers.chapters.relative_positions.position_scores import ShiftedScores
from explainers.charts.matrix import Matrix
from explainers.charts.theme import KEY_AXIS, QUERY_AXIS
from explainers.translations import _
from explainers.ui.figure.panels import Figure, Panel, orient_panels

KEYS = (
    "scores with RoPE",
    "change with RoPE",
    "scores with added positions",
    "change with added positions",
)


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
