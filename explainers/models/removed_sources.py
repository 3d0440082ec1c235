"""What a weight becomes without a few of its sources: predicted, and measured in the model."""

import random
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from explainers.models.score_sources import QUERY_SIDE, Cell, ScoreSplit, Source, gather_sources
from explainers.models.written_out import (
    Projected,
    WrittenRun,
    attend,
    project,
    run_mlp,
    write_heads,
)


class RemovedWeight(NamedTuple):
    """A weight without some sources: by the split alone, into this head only, and all the way.

    `predicted` freezes the normalisation, `into_head` computes it anew, and in `measured` all
    layers in between react to what is missing.
    """

    predicted: float
    into_head: float
    measured: float


def rank_sources(split: ScoreSplit, side: str, is_centred: bool = True) -> list[int]:
    """The places of the sources of one side, the largest part of the score first.

    To ask what removing them does, centre the query side, which meets all keys. A key is only
    changed at its own place, where its parts count in full.
    """
    order: list[int] = split.compute_parts(side, is_centred).argsort(descending=True).tolist()
    return order


def draw_others(
    split: ScoreSplit, chosen: Sequence[int], count: int, generator: random.Random
) -> list[int]:
    """As many sources that were not chosen; biases cannot be removed."""
    others = [
        place
        for place, source in enumerate(split.sources)
        if place not in chosen and source.kind != "bias"
    ]
    return generator.sample(others, min(count, len(others)))


@torch.no_grad()
def remove_sources(
    run: WrittenRun, split: ScoreSplit, side: str, choices: Sequence[Sequence[int]]
) -> list[RemovedWeight]:
    """The weight of a cell without each choice of sources, at the query's or the key's position."""
    changes = [
        Change(split.cell, side, {split.sources[place] for place in places}) for places in choices
    ]
    written = gather_sources(run, split.cell.layer, Change(split.cell, side, set()).position)
    return [
        RemovedWeight(
            predict_weight(split, side, places),
            remove_into_head(run, split, side, written[list(places)].sum(0)),
            weight,
        )
        for places, weight in zip(choices, rerun_changes(run, changes), strict=True)
    ]


def predict_weight(split: ScoreSplit, side: str, places: Sequence[int]) -> float:
    """By the split alone: the parts are gone, all else is as it was."""
    scores = split.scores.clone()
    if side == QUERY_SIDE:
        scores -= split.keys @ split.query_side[list(places)].sum(0)
    else:
        scores[split.cell.key] -= split.key_side[list(places)].sum(0) @ split.query_side.sum(0)
    return float(scores.softmax(-1)[split.cell.key])


@torch.no_grad()
def remove_into_head(run: WrittenRun, split: ScoreSplit, side: str, gone: Tensor) -> float:
    """What is `gone` (d_model,) is missing where this head reads; its norm is computed anew."""
    change = Change(split.cell, side, set())
    layer, kept = run.model.layers[split.cell.layer], run.layers[split.cell.layer]
    stream = kept.stream[change.positions].clone()
    stream[0] = (stream[0].double() - gone).to(stream)
    made = project(layer.self_attn, layer.input_layernorm(stream[None]), _turn(run, change))
    return _weigh_again(run, change, made, 0)


class Change(NamedTuple):
    """What is removed from the query's or the key's position, and the weight that is asked for."""

    cell: Cell
    side: str
    removed: set[Source]

    @property
    def position(self) -> int:
        """Where the sources are removed."""
        return self.cell.query if self.side == QUERY_SIDE else self.cell.key

    @property
    def positions(self) -> slice:
        """Where the weight can hear of it: from there to the query."""
        return slice(self.position, self.cell.query + 1)

    @property
    def span(self) -> int:
        """How many positions that are."""
        return self.cell.query + 1 - self.position


@torch.no_grad()
def rerun_changes(run: WrittenRun, changes: Sequence[Change]) -> list[float]:
    """Many changes of one text at once, each from its position to its query and up to its layer.

    All of these positions are computed anew: what reads the changed one becomes another as well.
    """
    weights = [0.0] * len(changes)
    rows = sorted(range(len(changes)), key=lambda row: -changes[row].cell.layer)
    places = torch.arange(len(run.ids), device=run.ids.device)
    starts = places.new_tensor([changes[row].position for row in rows])[:, None]
    size = max((change.span for change in changes), default=0)
    positions = (starts + places[:size]).clamp(max=len(places) - 1)  # none reads what is too far
    mask = torch.cat(
        [
            (places < starts)[:, None].expand(-1, size, -1),
            torch.ones(size, size, dtype=torch.bool, device=places.device)
            .tril()
            .expand(len(rows), -1, -1),
        ],
        dim=-1,
    )[:, None]
    stream = run.embedding[positions]
    stream = stream * _keep(changes, rows, Source("embedding"), stream)
    for index, (layer, kept) in enumerate(zip(run.model.layers, run.layers, strict=True)):
        turn = run.rotation[0][positions], run.rotation[1][positions]
        made = project(layer.self_attn, layer.input_layernorm(stream), turn)
        while rows and changes[rows[-1]].cell.layer == index:
            row = rows.pop()
            weights[row] = _weigh_again(run, changes[row], made, len(rows))
        if not rows:
            break
        stream, positions, mask = (one[: len(rows)] for one in (stream, positions, mask))
        query, key, value = (part[: len(rows)] for part in made[:3])
        key, value = _append(kept.key, key), _append(kept.value, value)
        heads = attend(layer.self_attn, query, key, value, mask).output
        factors = [
            _keep(changes, rows, Source("head", index, one), stream)
            for one in range(heads.shape[1])
        ]
        stream = stream + write_heads(layer.self_attn, heads * torch.stack(factors, 1))
        mlp = run_mlp(layer, stream) * _keep(changes, rows, Source("mlp", index), stream)
        stream = stream + mlp
    return weights


def _turn(run: WrittenRun, change: Change) -> tuple[Tensor, Tensor]:
    """RoPE at the positions of one change (1, positions, …)."""
    cos, sin = run.rotation
    return cos[change.positions][None], sin[change.positions][None]


def _keep(changes: Sequence[Change], rows: list[int], source: Source, like: Tensor) -> Tensor:
    """0 at the first position of each row that does without this source, else 1."""
    kept = torch.ones_like(like[..., :1])  # (batch, positions, 1)
    kept[:, 0, 0] = like.new_tensor([source not in changes[row].removed for row in rows])
    return kept


def _append(before: Tensor, new: Tensor) -> Tensor:
    """The keys or values of the run as they were, and behind them the new ones of each row."""
    return torch.cat([before[None].expand(len(new), -1, -1, -1), new], dim=2)


def _weigh_again(run: WrittenRun, change: Change, made: Projected, row: int) -> float:
    """The weight of the cell where the query and the keys from the change on are new ones."""
    cell, kept = change.cell, run.layers[change.cell.layer]
    group = cell.head // (len(kept.query) // len(kept.key))
    new = made.key[row, group, : change.span]
    query = made.query[row, cell.head, change.span - 1]
    keys = torch.cat([kept.key[group, : change.position], new])
    scores = keys @ query * run.model.layers[cell.layer].self_attn.scaling
    return float(scores.double().softmax(-1)[cell.key])
