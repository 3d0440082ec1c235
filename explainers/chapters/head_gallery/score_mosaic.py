"""Every head of a model in one picture, coloured by a score of the reader's choice."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from random import Random
from typing import NamedTuple

import streamlit as st
from torch import Tensor

from explainers.chapters.common.measured_heads import PROBE_NAMES, Gallery, name_head
from explainers.chapters.head_gallery.hero import choose, gallery_head, gallery_layer
from explainers.chapters.head_gallery.score_steps import take_scores
from explainers.charts.matrix import Matrix
from explainers.charts.theme import HEAD_AXIS, LAYER_AXIS
from explainers.messages import N_
from explainers.models.head_scores import PATTERNS, measure_layer, score_pattern, shuffle_weights
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Cell, Figure, Panel
from explainers.ui.page_parts.check_yourself import Recall
from explainers.ui.text.numbers import SHARE

MAP = "heads"
AGAINST_CHANCE = (*PATTERNS, N_("one offset"))
"""Scores that a head can reach by looking anywhere."""
SCORES = (
    *(*AGAINST_CHANCE, N_("sink"), N_("entropy")),
    *(N_("entropy without the first token"), N_("distance")),
)
OPENS_WITH = "induction"
NAMED = 5
"""So many of the highest are named below the picture."""
NOTHING_THERE = N_("prose seldom repeats a text, so there is little to find")
OTHER_HEADS, TOO_LONG = N_("other heads read the prose"), N_("prose is too long for it")
CODE = measure_layer, score_pattern, shuffle_weights
"""It measured each head."""


class Shown(NamedTuple):
    """A score, and the text on which it was measured."""

    score: str
    words: str
    """What the reader calls the text."""

    @property
    def probe(self) -> str:
        return PROBE_NAMES[self.words]

    @property
    def name(self) -> str:
        """As in the names of the page's sections."""
        return self.score.replace(" ", "_")


def follow_choice(
    cards: Mapping[str, Callable[[], None]], gallery: Gallery, chosen: tuple[int, int]
) -> dict[str, Callable[[], None]]:
    """Cards about a head: a click in one of them chooses another head for the whole page."""

    def draw(show: Callable[[], None]) -> None:
        controls_of_head = gallery_layer, gallery_head
        layer, head = (st.session_state.get(one.key) for one in controls_of_head)
        is_head = layer in range(gallery.layers) and head in range(gallery.heads)
        if is_head and (layer, head) != chosen:
            st.rerun()
        show()

    return {name: partial(draw, show) for name, show in cards.items()}


def choose_score(gallery: Gallery) -> Shown:
    """A text, and a score that was measured on it."""
    select = gallery.scores.select
    with st.container(horizontal=True, vertical_alignment="bottom"):
        words = controls.probe_text()
        offered = [one for one in SCORES if not select(PROBE_NAMES[words], one).isnan().all()]
        what = controls.head_score(offered, OPENS_WITH if OPENS_WITH in offered else offered[0])
    return Shown(what, words)


def show_map(gallery: Gallery, chosen: tuple[int, int], shown: Shown) -> dict[str, str]:
    """A cell per head; a click chooses one. The numbers for the text."""
    what, words = shown
    found = gallery.scores.select(shown.probe, what)
    matrix = Matrix(
        f"{_(what)}: {_(words)}",
        _("a row per head, a column per layer"),
        blank_unscored(found.T),
        [_("head {head}", head=head) for head in range(gallery.heads)],
        [str(layer) for layer in range(gallery.layers)],
        HEAD_AXIS,
        LAYER_AXIS,
        kind="signed" if what == "distance" else "weights",
    )
    best = _find_best(found)
    highest = ", ".join(f"{name_head(*place)} {found[place]:.2f}" for place in best)
    alt = _(
        "{score} of every head of {model}; the highest: {highest}.",
        score=_(what),
        model=gallery.name,
        highest=highest,
    )

    def pick(cell: Cell) -> None:
        choose(cell.column, cell.row)

    take_scores(gallery, shown.probe, chosen, name_head(*chosen))
    layer, head = chosen
    figure = Figure([Panel(MAP, matrix)], alt, Cell(MAP, head, layer), pick)
    show_figure(figure, gallery.origin, MAP)
    return {"highest": highest, "mean": f"{found.nanmean():.2f}"}


def find_chance(gallery: Gallery, shown: Shown) -> str:
    """What the best head has at random; nothing for a score that needs no such baseline."""
    if shown.score not in AGAINST_CHANCE:
        return ""
    return f"{gallery.scores.find_chance_score(shown.probe, shown.score):.2f}"


def blank_unscored(found: Tensor) -> Sequence[Sequence[float | None]]:
    """A head that has no row to be scored on is left blank."""
    return [[None if math.isnan(one) else one for one in row] for row in found.tolist()]


def _find_best(found: Tensor) -> list[tuple[int, int]]:
    """The heads with the highest scores."""
    places = found.nan_to_num(-1).flatten().topk(min(NAMED, found.numel())).indices.tolist()
    return [divmod(place, found.shape[1]) for place in places]


def recall_baseline(draw: Random) -> Recall:
    """What a sharp head scores when its weights are shuffled."""
    keys = draw.choice([4, 5, 8, 10, 20, 25])
    return Recall(1 / keys, {"keys": f"{keys}"}, tolerance=0.005, unit=SHARE)


def recall_prose(draw: Random) -> Recall:
    """Why a surest head does little in prose."""
    high, low = draw.choice([0.72, 0.81, 0.88, 0.93]), draw.choice([0.02, 0.03, 0.05, 0.08])
    given = {"high": f"{high}", "low": f"{low}"}
    return Recall(NOTHING_THERE, given, [OTHER_HEADS, NOTHING_THERE, TOO_LONG])
