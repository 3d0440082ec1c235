"""Past the trained length: where the hand of each pair is then, and the loss, slowed or not."""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from explainers.attention.stretching import sharpen
from explainers.messages import N_
from explainers.toys.longer_results import FURTHER, LENGTHS, SEEDS, read_longer_results
from explainers.toys.longer_texts import (
    HEAD_DIM,
    NOWHERE,
    NTK,
    PAIRS,
    PI,
    PLAIN,
    ROTARY,
    TRAINED,
    WAYS,
    YARN,
    find_speeds,
)
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.figure.chart import show_chart
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
    from explainers.charts.dials import draw_dials_in_rows, make_dial_rows

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
    """How far each pair turns, in radians, from one position to the next and until two others."""
    found = PairTurns.of(way)
    at = {"until the trained length": found.trained, "until the end": found.asked}
    return {"from one position to the next": found.speed, **at}
