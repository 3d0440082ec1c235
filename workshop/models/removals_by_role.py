"""Does a weight fall without the sources that its parts name? SmolLM2 on prose, by role.

`python -m workshop.models.removals_by_role` measures again and writes `assets/scores`; with
`--check` it compares. `python -m benchmarks.why` prints all of it.
"""

import random
import sys
from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

import torch

from explainers import kept
from explainers.models.head_scores import ROLES, HeadScores, find_roles
from explainers.models.load import RealModel, load_model
from explainers.models.probes import make_natural_probe
from explainers.models.score_sources import (
    KEY_SIDE,
    QUERY_SIDE,
    Cell,
    Change,
    ScoreSplit,
    draw_others,
    gather_sources,
    list_sources,
    project_sources,
    rank_sources,
    remove_into_head,
    rerun_changes,
)
from explainers.models.shipped_measurements import (
    ALIKE,
    ALL,
    BY_ROLE,
    DIFFUSE,
    MODEL,
    NO_ROLE,
    WAYS,
    RoleResult,
    find_known_scores,
)
from explainers.models.written_out import WrittenRun, write_out
from workshop.keep import keep_of_model

LEAST_WEIGHT, FIRST_LAYER, REMOVED = 0.1, 4, 3
"""Which weights are asked about, and how many sources are removed from each."""
LEAST_ENTROPY = 0.75
"""A head is called diffuse whose rows, without the first token, have more of the most possible."""
MEASURED, MOST_PER_ROLE, SEED = 1000, 300, 1
SHARE = "share of cells"
TOLERANCE = {SHARE: 0.02}
"""What another processor may differ by."""


class Outcome(NamedTuple):
    """One weight as it is, and without three sources in each of the `WAYS`."""

    weight: float
    without: tuple[float, ...]


def list_cells(run: WrittenRun) -> list[Cell]:
    """All large weights of a text, from layer 4 on, whose key is not the first nor the query's."""
    cells = []
    for layer, read in enumerate(run.layers[FIRST_LAYER:], start=FIRST_LAYER):
        weights = read.weights.clone()
        weights[..., 0] = 0
        weights.diagonal(dim1=1, dim2=2).zero_()
        cells += [Cell(layer, *found) for found in (weights > LEAST_WEIGHT).nonzero().tolist()]
    return cells


def name_roles(scores: HeadScores) -> dict[tuple[int, int], list[str]]:
    """The roles of each head; a head may have several, and one without any has `NO_ROLE`."""
    layers, heads = scores.shape
    spread = scores.select("natural", "entropy without the first token")
    roles = {}
    for place in ((layer, head) for layer in range(layers) for head in range(heads)):
        names = [one.role for one in find_roles(scores, *place)]
        names += [DIFFUSE] if float(spread[place]) > LEAST_ENTROPY else []
        roles[place] = names or [NO_ROLE]
    return roles


def draw_alike(cells: Iterable[tuple[int, Cell]], count: int, seed: int) -> list[tuple[int, Cell]]:
    """Draw cells of numbered texts, each head of each text as often: else a quarter of the heads
    has nearly half of them. A cell may be drawn twice."""
    by_head: dict[tuple[int, int, int], list[tuple[int, Cell]]] = {}
    for number, cell in cells:
        by_head.setdefault((number, cell.layer, cell.head), []).append((number, cell))
    draw, heads = random.Random(seed), sorted(by_head)  # noqa: S311
    return [draw.choice(by_head[draw.choice(heads)]) for _ in range(count)] if heads else []


@torch.no_grad()
def split_sides(run: WrittenRun, cell: Cell) -> ScoreSplit:
    """As `split_score`, much sooner: the other keys are as in the run and not split."""
    of_run = run.layers[cell.layer]
    query_side = project_sources(run, cell, QUERY_SIDE, cell.query)
    query_side = query_side * run.model.layers[cell.layer].self_attn.scaling
    key_side = project_sources(run, cell, KEY_SIDE, cell.key)
    group = cell.head // (len(of_run.query) // len(of_run.key))
    keys = of_run.key[group, : cell.query + 1].double()
    scores = keys @ query_side.sum(0)
    sources = list_sources(run, cell.layer)
    return ScoreSplit(cell, sources, query_side, key_side, None, keys, scores)


def remove_from_cells(run: WrittenRun, cells: Iterable[Cell], seed: int) -> list[Outcome]:
    """Each weight without three sources, in each of the `WAYS`."""
    draw, changes, found = random.Random(seed), [], []  # noqa: S311
    for cell in cells:
        split, into_head = split_sides(run, cell), []
        for side in (QUERY_SIDE, KEY_SIDE):
            raw = rank_sources(split, side, is_centred=False)[:REMOVED]
            largest = rank_sources(split, side)[:REMOVED] if side == QUERY_SIDE else raw
            choices = [largest, draw_others(split, largest, REMOVED, draw)]
            choices += [raw] if side == QUERY_SIDE else []
            position = cell.query if side == QUERY_SIDE else cell.key
            gone = gather_sources(run, cell.layer, position)[largest].sum(0)
            into_head.append(remove_into_head(run, split, side, gone))
            changes += [
                Change(cell, side, {split.sources[place] for place in places}) for places in choices
            ]
        found.append((split.weight, into_head))
    rerun = iter(rerun_in_parts(run, changes))
    return [
        Outcome(weight, (query, *islice(rerun, 3), key, *islice(rerun, 2)))
        for weight, (query, key) in found
    ]


def rerun_in_parts(run: WrittenRun, changes: list[Change], most: int = 1024) -> list[float]:
    """So many positions at once, of changes that are about as far from their queries."""
    order = sorted(range(len(changes)), key=lambda place: changes[place].span)
    weights = [0.0] * len(changes)
    while order:
        count = max(1, most // changes[order[-1]].span)
        order, now = order[:-count], order[-count:]
        found = rerun_changes(run, [changes[place] for place in now])
        for place, weight in zip(now, found, strict=True):
            weights[place] = weight
    return weights


def measure_roles(
    loaded: RealModel, texts: slice = slice(None), count: int = MEASURED, most: int = MOST_PER_ROLE
) -> list[RoleResult]:
    """Cells drawn at random, and for each role as many of its own, up to `most`."""
    scores = find_known_scores(loaded.name)
    roles = name_roles(scores) if scores else {}
    runs = [write_out(loaded, ids) for ids in make_natural_probe(loaded).ids[texts]]
    cells = [(number, cell) for number, run in enumerate(runs) for cell in list_cells(run)]
    draw = random.Random(SEED)  # noqa: S311
    chosen = {ALL: draw.sample(cells, min(count, len(cells)))}
    chosen[ALIKE] = draw_alike(cells, count, SEED)
    for name in [role.name for role in ROLES] + [DIFFUSE, NO_ROLE]:
        own = [one for one in cells if name in roles.get(one[1][:2], ())]
        chosen[name] = draw.sample(own, min(most, len(own)))
    wanted = sorted({one for group in chosen.values() for one in group})
    outcomes: dict[tuple[int, Cell], Outcome] = {}
    for number, run in enumerate(runs):
        mine = [cell for which, cell in wanted if which == number]
        seen = remove_from_cells(run, mine, number)
        outcomes |= {(number, cell): one for cell, one in zip(mine, seen, strict=True)}
    return [
        summarise(name, [outcomes[one] for one in group]) for name, group in chosen.items() if group
    ]


def summarise(role: str, outcomes: list[Outcome]) -> RoleResult:
    """Count where weights fell."""
    weights = torch.tensor([[one.weight, *one.without] for one in outcomes], dtype=torch.double)
    falls: list[int] = (weights[:, 1:] < weights[:, :1]).sum(0).tolist()
    medians = [round(median, 5) for median in weights.median(0).values.tolist()]
    return RoleResult(role, len(outcomes), falls, medians)


def write_roles() -> list[RoleResult]:
    """Measure, and keep it."""
    results = measure_roles(load_model(MODEL))
    command, numbers = "python -m workshop.models.removals_by_role", {"ways": WAYS}
    keep_of_model(BY_ROLE, MODEL, command, TOLERANCE, numbers | {"results": results})
    return results


def check() -> int:
    """Measure again; 1 if a share of cells differs by more than another processor may make it."""
    stored = [RoleResult(*result) for result in kept.read(BY_ROLE).numbers["results"]]
    measured = {one.role: one for one in measure_roles(load_model(MODEL))}
    gaps = [
        abs(one.share(way) - measured[one.role].share(way))
        for one in stored
        for way in WAYS
        if one.role in measured and one.cells == measured[one.role].cells
    ]
    is_same = (
        len(gaps) == len(WAYS) * len(measured) and max(gaps) <= kept.read(BY_ROLE).tolerance[SHARE]
    )
    print(f"{len(gaps)} shares measured again: {max(gaps, default=1):.4f} apart at most")
    return int(not is_same)


if __name__ == "__main__":
    torch.set_num_threads(1)
    if "--check" in sys.argv[1:]:
        sys.exit(check())
    for result in write_roles():
        print(result)
