"""One weight, the parts of its score on both sides, and what it becomes without some of them."""

import functools
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

from torch import Tensor

from explainers import kept
from explainers.chapters.common.measured_heads import name_head, show_token
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
from explainers.ui.figure.chart import tabulate
from explainers.ui.figure.hero import Experiment, Hero, HeroChoice, begin_again, list_for_each
from explainers.ui.page import Prose
from explainers.ui.provenance import shipped_run
from explainers.ui.text.numbers import write_percent

if TYPE_CHECKING:
    from explainers.models.load import RealModel
    from explainers.models.written_out import WrittenRun

SHOWN = 8
"""Bars on each side, before all others together."""
DRAWS = 8
"""How often as many others are drawn: what is told of them is an average."""
DIGITS = 5
MOST_TOKENS = 64
LABEL = "{which}: {query} → {key}"
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
    sources: list[Source]
    parts: Parts
    removals: dict[str, Removal]
    looked: dict[str, list[float]]

    def rank(self, kind: str, side: int) -> list[int]:
        """The places of the sources of one side, the largest part first."""
        return rank_parts(self.parts[kind][side])

    def name(self, place: int) -> str:
        """What a source is called on screen."""
        kind, layer, head = self.sources[place]
        if kind == "head":
            return _("head {which}", which=name_head(layer, head))
        if kind == "mlp":
            return _("MLP {layer}", layer=layer)
        return _("embedding") if kind == "embedding" else _("biases")


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


def explain_cell(run: "WrittenRun", cell: Cell, tokens: list[str]) -> Explained:
    """Split one score, remove its largest sources, and as many that are drawn."""
    split = split_score(run, cell)
    pairs = {controls.CENTRED: split.compute_pairs(True), controls.RAW: split.compute_pairs(False)}
    parts = {kind: (_round(matrix.sum(1)), _round(matrix.sum(0))) for kind, matrix in pairs.items()}
    return Explained(
        tokens,
        *cell,
        _round(split.scores),
        _round(split.scores.softmax(-1)),
        round(split.score, DIGITS),
        round(split.weight, DIGITS),
        [*split.sources],
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
    """The weights as the file has them."""
    cells = {}
    for name, cell in kept.read(EXPLAINED).numbers["cells"].items():
        removals = {plan: Removal(*one) for plan, one in cell["removals"].items()}
        sources = [Source(*one) for one in cell["sources"]]
        cells[name] = Explained(**{**cell, "removals": removals, "sources": sources})
    return cells


def read_text(loaded: "RealModel", written: str) -> tuple[Any, list[str]]:
    """A text in the model that is written out, and its tokens. Raises ModelError with a reason."""
    from explainers.models.token_text import tokenise_text
    from explainers.models.written_out import write_out

    ids, tokens = tokenise_text(loaded, written, MOST_TOKENS)
    return write_out(loaded, ids[0]), [str(token) for token in tokens]


SENTENCES = (
    *("hero_caption", "hero_content", "hero_content_compared", "hero_content_looked"),
    *("hero_position", "hero_position_compared", "hero_removed", "hero_removed_three"),
)
TRIED = {
    "try_first": {controls.looked_removed.key: controls.FIRST_SOURCE},
    "try_query": {controls.looked_removed.key: controls.QUERY_THREE},
    "try_back": {controls.looked_cell.key: "16.0", controls.looked_removed.key: controls.NO_SOURCE},
    "try_own": {controls.looked_whose.key: controls.OWN_TEXT},
}
"""The experiments: by their texts, what each chooses."""


def make_hero(text: Prose, cells: Mapping[str, Explained], origin: str, whose: str) -> Hero:
    """A few weights of a model, with every choice of bars and of what is removed."""
    names, cell = tuple(cells), controls.looked_cell
    labels = [LABEL.format(**describe_cell(one)) for one in cells.values()]
    choice = HeroChoice.read(cell, names, labels, names[0])

    def list_experiments(name: str) -> list[Experiment]:
        of = cells[name]
        told = {"count": f"{len(of.sources)}", "key": show_token(of.tokens[of.key])}
        return [
            Experiment(
                name, text.fill(name, **told), some, is_slow=controls.looked_whose.key in some
            )
            for name, some in TRIED.items()
            if cell.key not in some or some[cell.key] in cells
        ]

    numbers = {name: compute_numbers(one) for name, one in cells.items()}
    choices = [choice, *choose_shown(cells.values(), whose)]
    experiments = list_for_each(choice, list_experiments)
    return assemble_hero(numbers, choices, experiments, origin, cells[choice.value])


def choose_shown(cells: Iterable[Explained], whose: str) -> list[HeroChoice]:
    """Which bars, what is removed, and whose text: the reader's own only the server can read."""
    kinds = controls.looked_parts.options
    named = dict.fromkeys(name for one in cells for name in one.removals)
    source, labels = controls.looked_whose, [*map(_, controls.WHOSE.values())]
    return [
        HeroChoice.read(controls.looked_parts, kinds, [*map(_, kinds)]),
        HeroChoice.read(controls.looked_removed, (controls.NO_SOURCE, *named)),
        HeroChoice(source, source.options, whose, labels, is_elsewhere=True),
    ]


def assemble_hero(
    numbers: Mapping[str, Any],
    choices: Sequence[HeroChoice],
    experiments: Sequence[Experiment],
    origin: str,
    shown: Explained,
) -> Hero:
    """The picture of weights, whoever chose them."""
    alt = _("The weight of one head, and what wrote the query and the key that it comes from.")
    numbers = {"cells": numbers, "raw": controls.RAW}
    table = partial(make_table, shown)
    return Hero("why", alt, numbers, choices, SENTENCES, experiments, origin, table)


def compute_numbers(one: Explained) -> dict[str, Any]:
    """What the picture is drawn from, and the slots of its sentences."""
    return {
        "tokens": one.tokens,
        "query": one.query,
        "key": one.key,
        "row": one.row,
        "weight": one.weight,
        "parts": {kind: _describe_parts(one, kind) for kind in one.parts},
        "removals": {name: _describe_removal(one, it) for name, it in one.removals.items()},
        "looked": one.looked,
        "said": describe_cell(one),
        "isBefore": one.key == one.query - 1,
    }


def describe_cell(one: Explained) -> dict[str, str]:
    """The slots of the sentence about a weight; the picture fills in the parts that it shows."""
    return {
        "which": name_head(one.layer, one.head),
        "query": show_token(one.tokens[one.query]),
        "key": show_token(one.tokens[one.key]),
        "weight": write_percent(one.weight),
        "count": f"{len(one.sources)}",
    }


def _describe_parts(one: Explained, kind: str) -> dict[str, Any]:
    """For each side its first bars, by the names of their removals, and all others together."""
    sides = []
    for side, parts in enumerate(one.parts[kind]):
        ranked = one.rank(kind, side)
        rest = [parts[place] for place in ranked[SHOWN:]]
        added = [part for part in rest if part > 0]
        taken = [part for part in rest if part <= 0]
        bars = [
            [one.name(place), parts[place], name_removal(side, one.sources[place])]
            for place in ranked[:SHOWN]
        ]
        sides.append({"bars": bars, "rest": [len(added), sum(added), len(taken), sum(taken)]})
    return {"sides": sides, "sum": sum(one.parts[kind][0])}


def _describe_removal(one: Explained, removal: Removal) -> dict[str, Any]:
    weights = [one.weight, removal.predicted, removal.measured, removal.others]
    said = zip(("weight", "predicted", "measured", "others"), weights, strict=True)
    names = [name_removal(removal.side, one.sources[place]) for place in removal.places]
    return {
        "side": removal.side,
        "removed": names,
        "weights": weights,
        "said": {slot: write_percent(weight) for slot, weight in said}
        | {"what": ", ".join(one.name(place) for place in removal.places)},
    }


def make_table(one: Explained) -> Any:
    """Each source with its part of the score on both sides, raw and centred."""
    columns: dict[str, list[Any]] = {_("source"): [*map(one.name, range(len(one.sources)))]}
    for kind, sides in one.parts.items():
        for side, parts in zip((_("query"), _("key")), sides, strict=True):
            columns[f"{side}, {_(kind)}"] = parts
    return tabulate(columns)


def make_own_hero(found: Found) -> Hero:
    """What the examples show, of any weight; what was removed from another one is put back.

    Of words the tokens' weights are added up, so a row sums to 1. `places` has the last token of
    each word, which is the one that a click chooses.
    """
    one, words, own = found.explained, found.words, controls.OWN_TEXT
    begin_again("why_own_shown", (one.tokens, one[1:5]), controls.looked_removed)
    query, key = spell_token(found, one.query), spell_token(found, one.key)
    said = describe_cell(one) | {"query": query, "key": key}
    merged = {
        "tokens": [*found.spelled],
        "places": [place for place, word in enumerate(words) if word not in words[place + 1 :]],
        "query": words[one.query],
        "key": words[one.key],
        "row": add_up(one.row, words),
        "looked": {name: add_up(row, words) for name, row in one.looked.items()},
        "said": said,
    }
    count = len(one.tokens)
    choices = [
        HeroChoice(controls.looked_cell, (own,), own, [LABEL.format(**said)]),
        *choose_shown([one], own),
        HeroChoice(controls.looked_query, range(2, count), one.query, is_elsewhere=True),
        HeroChoice(controls.looked_key, range(-1, count), one.key, is_elsewhere=True),
    ]
    return assemble_hero({own: compute_numbers(one) | merged}, choices, (), found.origin, one)


def add_up(row: Sequence[float], words: Sequence[int]) -> list[float]:
    """The weights of a row (tokens,) by word."""
    sums = [0.0] * (words[len(row) - 1] + 1)
    for word, weight in zip(words, row, strict=False):
        sums[word] += weight
    return sums


def spell_token(found: Found, position: int) -> str:
    """The word of a token, and which of its pieces it is where it has several."""
    word = found.words[position]
    places = [place for place, one in enumerate(found.words) if one == word]
    spelled = show_token(found.spelled[word])
    piece = f" ({places.index(position) + 1}/{len(places)})" if len(places) > 1 else ""
    return spelled + piece
