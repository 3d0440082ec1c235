"""What a weight becomes without a few of its sources: predicted, and measured in the model."""

import random
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from explainers.models.score_sources import QUERY_SIDE, Cell, ScoreSplit, Source, gather_sources
from explainers.models.written_out import WrittenRun, attend, project, run_mlp, write_heads


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
    parts = split.compute_pairs(is_centred).sum(1 if side == QUERY_SIDE else 0)
    order: list[int] = parts.argsort(descending=True).tolist()
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
    measured = rerun_position(run, split, side, choices)
    return [
        RemovedWeight(
            predict_weight(split, side, places), remove_into_head(run, split, side, places), weight
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


def remove_into_head(run: WrittenRun, split: ScoreSplit, side: str, places: Sequence[int]) -> float:
    """The parts are missing in the stream that this head reads, and its norm is computed anew."""
    cell = split.cell
    position = cell.query if side == QUERY_SIDE else cell.key
    layer, kept = run.model.layers[cell.layer], run.layers[cell.layer]
    gone = gather_sources(run, cell.layer, position)[list(places)].sum(0)
    stream = (kept.stream[position].double() - gone).to(kept.stream)
    made = project(layer.self_attn, layer.input_layernorm(stream[None, None]), _turn(run, position))
    return _weigh_again(run, cell, side, made)[0]


def rerun_position(
    run: WrittenRun, split: ScoreSplit, side: str, choices: Sequence[Sequence[int]]
) -> list[float]:
    """One position again through all layers up to the head, without the chosen sources."""
    cell = split.cell
    position = cell.query if side == QUERY_SIDE else cell.key
    removed = [{split.sources[place] for place in places} for places in choices]
    cos, sin = _turn(run, position)
    rotation = cos.expand(len(choices), -1, -1), sin.expand(len(choices), -1, -1)
    stream = run.embedding[position].expand(len(choices), 1, -1)
    stream = stream * _keep(removed, Source("embedding"), stream)
    for index in range(cell.layer):
        layer, kept = run.model.layers[index], run.layers[index]
        made = project(layer.self_attn, layer.input_layernorm(stream), rotation)
        key, value = (
            _append(before, new, position)
            for before, new in ((kept.key, made.key), (kept.value, made.value))
        )
        mask = torch.ones(1, position + 1, dtype=torch.bool, device=stream.device)
        heads = attend(layer.self_attn, made.query, key, value, mask).output
        factors = [
            _keep(removed, Source("head", index, one), stream) for one in range(heads.shape[1])
        ]
        stream = stream + write_heads(layer.self_attn, heads * torch.stack(factors, 1))
        stream = stream + run_mlp(layer, stream) * _keep(removed, Source("mlp", index), stream)
    layer = run.model.layers[cell.layer]
    made = project(layer.self_attn, layer.input_layernorm(stream), rotation)
    return _weigh_again(run, cell, side, made)


def _turn(run: WrittenRun, position: int) -> tuple[Tensor, Tensor]:
    """RoPE at one position, (batch, q_len, …)."""
    cos, sin = run.rotation
    return cos[None, position, None], sin[None, position, None]


def _keep(removed: list[set[Source]], source: Source, like: Tensor) -> Tensor:
    """0 for each text that does without this source, else 1 (batch, 1, 1)."""
    return like.new_tensor([float(source not in one) for one in removed])[:, None, None]


def _append(before: Tensor, new: Tensor, position: int) -> Tensor:
    """The keys or values before a position as they were, and its new one."""
    kept = before[None, :, :position].expand(len(new), -1, -1, -1)
    return torch.cat([kept, new], dim=2)


def _weigh_again(run: WrittenRun, cell: Cell, side: str, made: Any) -> list[float]:
    """The weight of the cell with another query, or with another key at its place."""
    kept = run.layers[cell.layer]
    module = run.model.layers[cell.layer].self_attn
    group = cell.head // (len(kept.query) // len(kept.key))
    keys = kept.key[group, : cell.query + 1].expand(len(made.query), -1, -1).clone()
    query = kept.query[cell.head, cell.query].expand(len(made.query), -1)
    if side == QUERY_SIDE:
        query = made.query[:, cell.head, 0]
        keys[:, cell.query] = made.key[:, group, 0]  # a query's position has a key of its own
    else:
        keys[:, cell.key] = made.key[:, group, 0]
    scores = torch.einsum("bd,bkd->bk", query, keys) * module.scaling
    weights: list[float] = scores.double().softmax(-1)[:, cell.key].tolist()
    return weights
