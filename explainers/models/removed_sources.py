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
    """The weight of a cell without each choice of sources, at the query's or the key's position.

    All other positions are as they were in the run.
    """
    cell = split.cell
    position = cell.query if side == QUERY_SIDE else cell.key
    written = gather_sources(run, cell.layer, position)
    measured = rerun_position(run, split, side, choices)
    return [
        RemovedWeight(
            predict_weight(split, side, places),
            remove_into_head(run, split, side, written[list(places)].sum(0)),
            weight,
        )
        for places, weight in zip(choices, measured, strict=True)
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
    cell = split.cell
    position = cell.query if side == QUERY_SIDE else cell.key
    layer, kept = run.model.layers[cell.layer], run.layers[cell.layer]
    stream = (kept.stream[position].double() - gone).to(kept.stream)
    cos, sin = _turn(run, [position])
    made = project(layer.self_attn, layer.input_layernorm(stream[None, None]), (cos, sin))
    return _weigh_again(run, cell, side, made, 0)


def rerun_position(
    run: WrittenRun, split: ScoreSplit, side: str, choices: Sequence[Sequence[int]]
) -> list[float]:
    """One position again through all layers up to the head, without the chosen sources."""
    changes = [
        Change(split.cell, side, {split.sources[place] for place in places}) for places in choices
    ]
    return rerun_changes(run, changes)


class Change(NamedTuple):
    """What is removed from the query's or the key's position, and the weight that is asked for."""

    cell: Cell
    side: str
    removed: set[Source]

    @property
    def position(self) -> int:
        """Where the sources are removed."""
        return self.cell.query if self.side == QUERY_SIDE else self.cell.key


@torch.no_grad()
def rerun_changes(run: WrittenRun, changes: Sequence[Change]) -> list[float]:
    """Many changes of one text at once, each at its position and up to the layer of its cell."""
    weights = [0.0] * len(changes)
    rows = sorted(range(len(changes)), key=lambda row: -changes[row].cell.layer)
    stream = run.embedding[[changes[row].position for row in rows]][:, None]
    stream = stream * _keep(changes, rows, Source("embedding"), stream)
    for index, (layer, kept) in enumerate(zip(run.model.layers, run.layers, strict=True)):
        positions = [changes[row].position for row in rows]
        made = project(layer.self_attn, layer.input_layernorm(stream), _turn(run, positions))
        while rows and changes[rows[-1]].cell.layer == index:
            row = rows.pop()
            weights[row] = _weigh_again(run, *changes[row][:2], made, len(rows))
        if not rows:
            break
        query, key_own, value_own = (part[: len(rows)] for part in made[:3])
        stream, positions = stream[: len(rows)], positions[: len(rows)]
        mask = torch.arange(len(run.ids) + 1, device=stream.device)[None, None, None]
        ends = torch.tensor(positions, device=stream.device)[:, None, None, None]
        mask = (mask < ends) | (mask == len(run.ids))  # the last one is the position itself
        key, value = _append(kept.key, key_own), _append(kept.value, value_own)
        heads = attend(layer.self_attn, query, key, value, mask).output
        factors = [
            _keep(changes, rows, Source("head", index, one), stream)
            for one in range(heads.shape[1])
        ]
        stream = stream + write_heads(layer.self_attn, heads * torch.stack(factors, 1))
        mlp = run_mlp(layer, stream) * _keep(changes, rows, Source("mlp", index), stream)
        stream = stream + mlp
    return weights


def _turn(run: WrittenRun, positions: list[int]) -> tuple[Tensor, Tensor]:
    """RoPE at positions of its own for each text (batch, 1, …)."""
    cos, sin = run.rotation
    return cos[positions][:, None], sin[positions][:, None]


def _keep(changes: Sequence[Change], rows: list[int], source: Source, like: Tensor) -> Tensor:
    """0 for each row that does without this source, else 1 (batch, 1, 1)."""
    kept = [float(source not in changes[row].removed) for row in rows]
    return like.new_tensor(kept)[:, None, None]


def _append(before: Tensor, new: Tensor) -> Tensor:
    """The keys or values of the run as they were, and behind them the new one of each row."""
    return torch.cat([before[None].expand(len(new), -1, -1, -1), new], dim=2)


def _weigh_again(run: WrittenRun, cell: Cell, side: str, made: Projected, row: int) -> float:
    """The weight of the cell with another query, or with another key at its place."""
    kept = run.layers[cell.layer]
    module = run.model.layers[cell.layer].self_attn
    group = cell.head // (len(kept.query) // len(kept.key))
    keys = kept.key[group, : cell.query + 1].clone()
    query = kept.query[cell.head, cell.query]
    if side == QUERY_SIDE:
        query = made.query[row, cell.head, 0]
        keys[cell.query] = made.key[row, group, 0]  # a query's position has a key of its own
    else:
        keys[cell.key] = made.key[row, group, 0]
    scores = keys @ query * module.scaling
    return float(scores.double().softmax(-1)[cell.key])
