"""The cards: all words moved, ALiBi's penalties, and what happens past the trained length."""

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import NamedTuple

import torch
from torch import Tensor

from explainers.attention.rotary import angles
from explainers.attention.stretching import sharpen
from explainers.chapters.common.score_matrix import choose_pair, keep_allowed
from explainers.chapters.relative_positions.compute import (
    TURNED_DIM,
    AlibiWeights,
    ShiftedScores,
    draw_rotary_head,
)
from explainers.charts.matrix import Matrix, make_pair_matrix
from explainers.charts.theme import HEAD_AXIS, KEY_AXIS, QUERY_AXIS
from explainers.messages import N_
from explainers.toys import examples
from explainers.toys.rotary_layers import (
    FURTHER,
    HEAD_DIM,
    LENGTHS,
    NOWHERE,
    NTK,
    PAIRS,
    PI,
    PLAIN,
    ROTARY,
    SEEDS,
    TRAINED,
    WAYS,
    YARN,
    find_speeds,
    read_longer_results,
)
from explainers.toys.sentence import SENTENCE
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.figure.chart import show_chart
from explainers.ui.figure.panels import Figure, Panel, orient_panels
from explainers.ui.page_parts.check_yourself import Recall
from explainers.ui.provenance import formula
from explainers.ui.text.numbers import write_decimals

LONGEST_TEXT = LENGTHS[-1]
FACTOR = LONGEST_TEXT / TRAINED
PER_ROW = 8
NAMES = {
    PLAIN: N_("RoPE as trained"),
    PI: N_("position interpolation"),
    NTK: N_("NTK-aware"),
    YARN: N_("YaRN"),
}
ARC, BEFORE = N_("angles in training"), N_("at the trained length")
KNOWN, NEW = N_("at the end of the longer text"), N_("at its end: a new angle")


def draw_all_pairs(moved: ShiftedScores, place: int, queries_down: bool) -> Figure:
    """The scores of all words after one shift, and what it changed, rotated and added."""
    rotary, added = moved.rotary, moved.added
    limit = max(rotary.abs().max().item(), added.abs().max().item())
    since = _("new − old, since all words moved")
    rotated, summed = _("q · k ÷ √d_k, both rotated"), _("q · k ÷ √d_k, from x + positions")
    shown = {
        N_("scores with RoPE"): (rotary[place], rotated),
        N_("change with RoPE"): (rotary[place] - rotary[0], since),
        N_("scores with added positions"): (added[place], summed),
        N_("change with added positions"): (added[place] - added[0], since),
    }
    axes = moved.tokens, moved.tokens, QUERY_AXIS, KEY_AXIS
    panels = [
        Panel(name, Matrix(_(name), formula, numbers.tolist(), *axes, limit=limit))
        for name, (numbers, formula) in shown.items()
    ]
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


def name_slopes(slopes: Tensor) -> list[str]:
    """Powers of two as fractions: exact."""
    return [str(Fraction(slope)) for slope in slopes.tolist()]


def draw_penalties(shown: AlibiWeights, tokens: Sequence[str], queries_down: bool) -> Figure:
    """The penalty of each head for each distance, and one head's weights without it and with it."""
    slopes = name_slopes(shown.slopes)
    distances = torch.arange(len(tokens), device=shown.slopes.device)
    penalties = Matrix(
        _("penalty"),
        _("− slope · distance, added to the score"),
        (-shown.slopes[:, None] * distances).tolist(),
        [f"{head}: {slope}" for head, slope in enumerate(slopes)],
        [str(n) for n in distances.tolist()],
        HEAD_AXIS,
        _("distance"),
    )
    compared = {  # by what a file calls them
        "without, head 0": (_("without, head {head}", head=0), "", shown.without),
        "with ALiBi, head 0": (
            _("with ALiBi, head {head}", head=0),
            _("slope {slope}", slope=slopes[0]),
            shown.weights,
        ),
    }
    weights = []
    for name, (title, said, (first, *_others)) in compared.items():
        allowed = keep_allowed(first, shown.mask)
        matrix = make_pair_matrix(title, said, allowed, tokens, "weights")
        weights.append(Panel(name, matrix, small=True))
    panels = [Panel("penalty", penalties), *orient_panels(weights, queries_down)]
    alt = _("What each head takes off for distance, and the first head's weights without and with.")
    return Figure(panels, alt)


class PairTurns(NamedTuple):
    """How far RoPE turns the pairs of a head, in radians; each (pairs,)."""

    way: str
    speed: Tensor
    """From one position to the next."""
    trained: Tensor
    """Until the trained length."""
    asked: Tensor
    """Until the end of the longer text."""
    seen: Tensor
    """How far training turned them."""

    @classmethod
    def of(cls, way: str) -> "PairTurns":
        """Slowed down in one of the ways, so that the longer text fits."""
        speed, plain = (find_speeds(ROTARY, one, FACTOR) for one in (way, PLAIN))
        return cls(way, speed, speed * TRAINED, speed * LONGEST_TEXT, plain * TRAINED)

    @property
    def is_new(self) -> list[bool]:
        """Is a pair's angle at the end outside of what training had? A full turn has all."""
        bounds = zip(self.asked.tolist(), self.seen.tolist(), strict=True)
        return [seen < math.tau and end > seen * (1 + 1e-5) for end, seen in bounds]


def read_way() -> str:
    """How the pairs are slowed down, as the reader chose."""
    return dict(zip(controls.pair_speeds.options, WAYS, strict=True))[controls.pair_speeds()]


def name_turns(found: PairTurns) -> dict[str, str]:
    """What the dials come to, for a text."""
    return {
        "trained": f"{TRAINED}",
        "length": f"{LONGEST_TEXT}",
        "pairs": f"{PAIRS}",
        "d_k": f"{HEAD_DIM}",
        "way": _(NAMES[found.way]),
        "new": f"{sum(found.is_new)}",
        "first": write_decimals(math.degrees(found.speed[0]), 1),
        "sharper": write_decimals(sharpen(FACTOR)),
    }


def show_turns(found: PairTurns) -> None:
    """A dial for each pair."""
    from explainers.charts.curves import draw_dials_in_rows, make_dial_rows

    dials = []
    for n, is_new in enumerate(found.is_new):
        seen, before, end = (one[n].item() for one in (found.seen, found.trained, found.asked))
        turns = {ARC: seen, BEFORE: before, NEW if is_new else KNOWN: end}
        dials.append((_write_degrees(math.degrees(found.speed[n])), turns))
    series = ARC, BEFORE, KNOWN, NEW
    named = name_turns(found)
    alt = _(
        "{pairs} dials, {way}: at position {length}, {new} have an angle that training never had.",
        pairs=named["pairs"],
        way=named["way"],
        length=named["length"],
        new=named["new"],
    )
    table = make_dial_rows(dials, PER_ROW, series)
    shape = {"columns": PER_ROW, "lines": PAIRS // PER_ROW, "series": series}
    origin = formula(_("positions times speed"), torch.device("cpu"))
    show_chart(draw_dials_in_rows, table, alt, "past length", origin, **shape)


def _write_degrees(degrees: float) -> str:
    if degrees < 0.005:
        return "≈ 0°"
    digits = 1 if degrees >= 1 else 2
    return f"{write_decimals(degrees, digits)}°"


def name_losses() -> dict[str, str]:
    """Losses on the longest texts, and without positions on those of the training, for a text."""
    found = read_longer_results()
    named = {way: found[ROTARY, way, 0].average(LONGEST_TEXT)[0] for way in WAYS}
    for way in (PLAIN, PI):
        named[f"{way}_further"] = found[ROTARY, way, FURTHER].average(LONGEST_TEXT)[0]
    named["nowhere"] = found[NOWHERE, PLAIN, 0].average(TRAINED)[0]
    return {name: write_decimals(loss) for name, loss in named.items()} | {
        "trained": f"{TRAINED}",
        "length": f"{LONGEST_TEXT}",
        "further": f"{FURTHER}",
        "seeds": f"{len(SEEDS)}",
    }


def compute_turns(way: str) -> dict[str, Tensor]:
    """How far each pair turns from one position to the next, and until two positions."""
    found = PairTurns.of(way)
    at = {"until the trained length": found.trained, "until the end": found.asked}
    return {"from one position to the next": found.speed, **at}


def recall_far_score(draw: Random) -> Recall:
    """One score at the beginning of a text, and the same two words much further on."""
    start, far = draw.randint(0, 9), 100 * draw.randint(1, 9)
    words = tuple(SENTENCE.split())
    moved = ShiftedScores.of(draw_rotary_head(words, draw.randint(0, 99)), (start, start + far))
    before, after = moved.rotary[:, *choose_pair(words)].tolist()
    asking, asked = (start + at for at in choose_pair(words))
    places = {
        "asking": asking,
        "asked": asked,
        "now_asking": asking + far,
        "now_asked": asked + far,
    }
    given = {name: f"{place}" for name, place in places.items()}
    return Recall(round(after, 2), {**given, "score": write_decimals(before)}, tolerance=0.005)


def recall_rotation(draw: Random) -> Recall:
    """How far one of the head's pairs is rotated at some position."""
    number, position = draw.randint(2, 4), draw.randint(3, 60)
    angle = angles(torch.tensor([position]), TURNED_DIM, examples.LONGEST)
    given = {"number": f"{number}", "position": f"{position}"}
    return Recall(angle[0, number - 1].item(), given, tolerance=1e-4)
