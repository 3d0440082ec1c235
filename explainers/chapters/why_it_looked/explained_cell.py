"""One weight explained: the parts of its score, and what it becomes without some of them."""

from random import Random
from typing import TYPE_CHECKING, NamedTuple

from torch import Tensor

from explainers.models.removed_sources import draw_others, rank_sources, remove_sources
from explainers.models.score_sources import (
    KEY_SIDE,
    QUERY_SIDE,
    Cell,
    ScoreSplit,
    Source,
    split_score,
    trace_head,
)
from explainers.translations import _
from explainers.ui.controls import why_controls as chosen

if TYPE_CHECKING:
    from explainers.models.written_out import WrittenRun

SHOWN, FOLDED = 8, 6
"""Bars on each side, and rows and columns of the small matrix, before all others together."""
DIGITS = 5


class Removal(NamedTuple):
    """The weight without some sources: predicted by the split, measured, and without others."""

    places: list[int]
    predicted: float
    into_head: float
    measured: float
    others: float


class Explained(NamedTuple):
    """All that is shown of one weight.

    `parts` has, by the kind of the bars, the parts of all sources of the query and of the key;
    `pairs` the first ones against each other, the last row and column being all others. `scores`
    and `row` are the head's own; `trace` is where the first head among the key's sources looked.
    """

    tokens: list[str]
    layer: int
    head: int
    query: int
    key: int
    scores: list[float]
    row: list[float]
    score: float
    weight: float
    sources: list[tuple[str, int, int]]
    parts: dict[str, tuple[list[float], list[float]]]
    pairs: dict[str, tuple[list[int], list[int], list[list[float]]]]
    removals: dict[str, Removal]
    trace: tuple[int, list[float], list[float]] | None

    def rank(self, kind: str, side: int) -> list[int]:
        """The places of the sources of one side, the largest part first."""
        parts = self.parts[kind][side]
        return sorted(range(len(parts)), key=lambda place: -parts[place])

    def name(self, place: int) -> str:
        """What a source is called."""
        return name_source(*self.sources[place])


def name_source(kind: str, layer: int, head: int) -> str:
    """What a source is called on screen."""
    if kind == "head":
        return _("head {which}", which=f"L{layer}.H{head}")
    if kind == "mlp":
        return _("MLP {layer}", layer=layer)
    return _("embedding") if kind == "embedding" else _("biases")


def explain_cell(run: "WrittenRun", cell: Cell, tokens: list[str], seed: int = 0) -> Explained:
    """Split one score, remove its largest sources, and as many that are drawn with a seed."""
    split = split_score(run, cell)
    kinds = {chosen.CENTRED: True, chosen.RAW: False}
    pairs = {kind: split.compute_pairs(is_centred) for kind, is_centred in kinds.items()}
    parts = {kind: (_round(matrix.sum(1)), _round(matrix.sum(0))) for kind, matrix in pairs.items()}
    return Explained(
        tokens,
        *cell,
        _round(split.scores),
        _round(split.scores.softmax(-1)),
        round(split.score, DIGITS),
        round(split.weight, DIGITS),
        [(source.kind, source.layer, source.head) for source in split.sources],
        parts,
        {kind: fold_pairs(matrix) for kind, matrix in pairs.items()},
        remove_largest(run, split, seed),
        _trace_first(run, split),
    )


def fold_pairs(pairs: Tensor) -> tuple[list[int], list[int], list[list[float]]]:
    """The largest rows and columns of a matrix; its last row and column sum all others."""
    rows = pairs.sum(1).argsort(descending=True)[:FOLDED]
    columns = pairs.sum(0).argsort(descending=True)[:FOLDED]
    top = pairs[rows][:, columns]
    beside, below = pairs[rows].sum(1) - top.sum(1), pairs[:, columns].sum(0) - top.sum(0)
    corner = pairs.sum() - top.sum() - beside.sum() - below.sum()
    values = [
        [*_round(row), round(float(one), DIGITS)] for row, one in zip(top, beside, strict=True)
    ]
    return (
        rows.tolist(),
        columns.tolist(),
        [*values, [*_round(below), round(float(corner), DIGITS)]],
    )


def remove_largest(run: "WrittenRun", split: ScoreSplit, seed: int) -> dict[str, Removal]:
    """What the weight becomes without the sources that give most to it."""
    keys, queries = rank_sources(split, KEY_SIDE, False), rank_sources(split, QUERY_SIDE)
    plans = {
        chosen.FIRST: (KEY_SIDE, keys[:1]),
        chosen.KEY_THREE: (KEY_SIDE, keys[:3]),
        chosen.QUERY_THREE: (QUERY_SIDE, queries[:3]),
    }
    draw = Random(seed)  # noqa: S311
    removals = {}
    for name, (side, places) in plans.items():
        others = draw_others(split, places, len(places), draw)
        one, other = remove_sources(run, split, side, [places, others])
        numbers = (*one, other.measured)
        removals[name] = Removal(places, *(round(number, DIGITS) for number in numbers))
    return removals


def _trace_first(
    run: "WrittenRun", split: ScoreSplit
) -> tuple[int, list[float], list[float]] | None:
    """Where the first head among the key's sources looked, and its part of the score by token."""
    ranked = rank_sources(split, KEY_SIDE, False)
    first = next((place for place in ranked if split.sources[place].kind == "head"), None)
    if first is None:
        return None
    row = trace_head(run, split, KEY_SIDE, Source(*split.sources[first]))
    return first, _round(row.weights), _round(row.parts)


def _round(numbers: Tensor) -> list[float]:
    rounded: list[float] = numbers.double().round(decimals=DIGITS).tolist()
    return rounded
