"""One weight explained: the parts of its score, and what it becomes without some of them."""

import functools
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

from torch import Tensor

from explainers import kept
from explainers.models.registry import WHEEL_MODELS, describe_package
from explainers.models.score_sources import (
    KEY_SIDE,
    QUERY_SIDE,
    Cell,
    ScoreSplit,
    Source,
    draw_others,
    rank_sources,
    remove_sources,
    split_score,
)
from explainers.models.shipped_measurements import holds_for
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.provenance import shipped_run

if TYPE_CHECKING:
    from explainers.models.load import RealModel
    from explainers.models.written_out import WrittenRun


SHOWN = 8
"""Bars on each side, before all others together."""
DRAWS = 8
"""How often as many others are drawn: what is told of them is an average."""
DIGITS = 5


Parts = dict[str, tuple[list[float], list[float]]]
"""By the kind of the bars, what each source of the query and of the key gives."""


class Removal(NamedTuple):
    """The weight without some sources: predicted by the split, measured, and without others.

    `side` is 0 for the query's and 1 for the key's; `others` is an average over `DRAWS` draws.
    """

    side: int

    places: list[int]
    predicted: float
    into_head: float
    measured: float
    others: float


class Explained(NamedTuple):
    """All that is shown of one weight.

    `parts` has, by the kind of the bars, the parts of all sources of the query and of the key.
    `scores` and `row` are the head's own. `removals` are of every bar that is drawn and of three
    together; `looked` has the weights of the heads among them.
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
    parts: Parts
    removals: dict[str, Removal]
    looked: dict[str, list[float]]

    def rank(self, kind: str, side: int) -> list[int]:
        """The places of the sources of one side, the largest part first."""
        return rank_parts(self.parts[kind][side])

    def name(self, place: int) -> str:
        """What a source is called."""
        return name_source(*self.sources[place])


class Found(NamedTuple):
    """A weight of the reader's own text; with the words of its tokens where these are merged.

    words (tokens,) has the number of each token's word, `spelled` what the words are.
    """

    explained: Explained
    origin: str
    words: list[int]
    spelled: tuple[str, ...]


def rank_parts(parts: list[float]) -> list[int]:
    """Places, the largest part first."""
    return sorted(range(len(parts)), key=lambda place: -parts[place])


def name_source(kind: str, layer: int, head: int) -> str:
    """What a source is called on screen."""
    if kind == "head":
        return _("head {which}", which=f"L{layer}.H{head}")
    if kind == "mlp":
        return _("MLP {layer}", layer=layer)
    return _("embedding") if kind == "embedding" else _("biases")


def explain_cell(run: "WrittenRun", cell: Cell, tokens: list[str]) -> Explained:
    """Split one score, remove its largest sources, and as many that are drawn."""
    split = split_score(run, cell)
    kinds = {controls.CENTRED: True, controls.RAW: False}
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
        remove_shown(run, split, parts),
        read_heads(run, split, parts),
    )


def list_shown(parts: Parts, side: int) -> list[int]:
    """The places of the sources that have a bar on one side, of either kind."""
    return sorted({place for both in parts.values() for place in rank_parts(both[side])[:SHOWN]})


def name_removal(side: int, source: Source) -> str:
    """What the link calls the removal of one source: "key.L16.H0"."""
    kind, layer, head = source
    which = {"head": f"L{layer}.H{head}", "mlp": f"MLP{layer}"}.get(kind, kind)
    return f"{('query', 'key')[side]}.{which}"


def remove_shown(run: "WrittenRun", split: ScoreSplit, parts: Parts) -> dict[str, Removal]:
    """What the weight becomes without each source that has a bar, and without the first three."""
    draw = Random(0)  # noqa: S311
    removals = {}
    for side, name in enumerate((QUERY_SIDE, KEY_SIDE)):
        ranked = rank_sources(split, name, is_centred=name == QUERY_SIDE)
        three = controls.QUERY_THREE if name == QUERY_SIDE else controls.KEY_THREE
        plans = {three: ranked[:3]}
        if name == KEY_SIDE:
            plans[controls.FIRST_SOURCE] = ranked[:1]
        shown = [at for at in list_shown(parts, side) if split.sources[at].kind != "bias"]
        plans |= {name_removal(side, split.sources[place]): [place] for place in shown}
        singles = [draw_others(split, ranked[:3], 1, draw) for _ in range(DRAWS)]
        threes = [draw_others(split, ranked[:3], 3, draw) for _ in range(DRAWS)]
        found = remove_sources(run, split, name, [*plans.values(), *singles, *threes])
        measured = [one.measured for one in found[len(plans) :]]
        average = {1: sum(measured[:DRAWS]) / DRAWS, 3: sum(measured[DRAWS:]) / DRAWS}
        for (plan, places), one in zip(plans.items(), found, strict=False):
            numbers = (round(number, 2 * DIGITS) for number in (*one, average[len(places)]))
            removals[plan] = Removal(side, places, *numbers)
    return removals


def read_heads(run: "WrittenRun", split: ScoreSplit, parts: Parts) -> dict[str, list[float]]:
    """Where each head looked that has a bar, from the position at which it wrote (tokens,)."""
    looked = {}
    for side, position in enumerate((split.cell.query, split.cell.key)):
        for source in (split.sources[place] for place in list_shown(parts, side)):
            if source.kind == "head":
                weights = run.layers[source.layer].weights[source.head, position, : position + 1]
                looked[name_removal(side, source)] = _round(weights)
    return looked


def _round(numbers: Tensor) -> list[float]:
    rounded: list[float] = numbers.double().round(decimals=DIGITS).tolist()
    return rounded


EXPLAINED = "scores/why_it_looked"
MODEL = WHEEL_MODELS[0].id
CELLS = {"17.3": Cell(17, 3, 7, 5), "16.0": Cell(16, 0, 5, 4), "17.4": Cell(17, 4, 7, 5)}
"""By their heads: it reads what 16.0 wrote; 16.0 itself; one that falls less without 16.0."""


def read_shipped() -> tuple[dict[str, Explained], str] | None:
    """The weights of this page and where they come from, unless this machine's model is another."""
    if not holds_for(MODEL, EXPLAINED):
        return None
    return _read_cells(), shipped_run(describe_package(MODEL))


@functools.cache
def _read_cells() -> dict[str, Explained]:
    return {name: parse(one) for name, one in kept.read(EXPLAINED).numbers["cells"].items()}


def parse(cell: dict[str, Any]) -> Explained:
    """One weight as the file has it."""
    removals = {name: Removal(*one) for name, one in cell["removals"].items()}
    sources = [(kind, layer, head) for kind, layer, head in cell["sources"]]
    return Explained(**{**cell, "removals": removals, "sources": sources})


def read_text(loaded: "RealModel", written: str) -> tuple[Any, list[str]]:
    """A text in the model that is written out, and its tokens. Raises ModelError with a reason."""
    from explainers.models.token_text import tokenise_text
    from explainers.models.written_out import write_out

    ids, tokens = tokenise_text(loaded, written, MOST_TOKENS)
    return write_out(loaded, ids[0]), [str(token) for token in tokens]


MOST_TOKENS = 64
