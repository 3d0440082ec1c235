"""Why a head looks where it looks: its score split by source, and weights without some of them.

A query and a key are made of the stream, and the stream is a sum of sources: the embedding, heads,
MLPs. With the normalisation as it was in the run, all that follows is linear, so the score is the
sum over all pairs of sources (Elhage et al. 2021, "A Mathematical Framework for Transformer
Circuits"; the normalisation is frozen as in direct logit attribution).
"""

import random
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from explainers.models.written_out import (
    Projected,
    WrittenRun,
    attend,
    divide,
    project,
    rotate,
    run_mlp,
    write_heads,
)

QUERY_SIDE, KEY_SIDE = "query", "key"


class Cell(NamedTuple):
    """One weight: which head of which layer, from which query to which key."""

    layer: int
    head: int
    query: int
    key: int


class Source(NamedTuple):
    """What has written into the stream: "embedding", "head", "mlp", or "bias" for all biases."""

    kind: str
    layer: int = -1
    head: int = -1


class ScoreSplit(NamedTuple):
    """A score as a sum over pairs of sources, in float64.

    query_side and key_side (sources, head_dim), and average_key_side: the same of all other keys
    that the query sees, averaged by their weights; None where nobody asks for compared keys. The
    score is the product of both sides' sums.
    """

    cell: Cell
    sources: list[Source]
    query_side: Tensor
    key_side: Tensor
    average_key_side: Tensor | None
    keys: Tensor
    scores: Tensor
    """Keys (tokens, head_dim) of all tokens that the query sees, and the scores of its row."""

    @property
    def score(self) -> float:
        """The sum of all pairs."""
        return float(self.query_side.sum(0) @ self.key_side.sum(0))

    @property
    def weight(self) -> float:
        """What softmax makes of the row, at this key."""
        return float(self.scores.softmax(-1)[self.cell.key])

    def compute_pairs(self, is_centred: bool) -> Tensor:
        """Each query source with each key source (sources, sources).

        Centred, the average of the other keys of the row is taken away. What a source gives to all
        keys alike changes no weight, and then it shows nowhere. A row's sum, times 1 − w, is the
        derivative of ln w by the strength of that source in the query.
        """
        return self.query_side @ self.choose_key_side(is_centred).T

    def compute_parts(self, side: str, is_centred: bool) -> Tensor:
        """What each source of one side gives to the score (sources,): the sums of all its pairs."""
        if side == KEY_SIDE:
            return self.choose_key_side(is_centred) @ self.query_side.sum(0)
        key = self.keys[self.cell.key]
        if is_centred:
            key = key - share_others(self.scores, self.cell.key) @ self.keys
        return self.query_side @ key

    def choose_key_side(self, is_centred: bool) -> Tensor:
        """The key's sources (sources, head_dim), less those of all other keys if `is_centred`."""
        if not is_centred:
            return self.key_side
        if self.average_key_side is None:
            raise ValueError("the other keys were not split")
        return self.key_side - self.average_key_side


def list_sources(run: WrittenRun, layer: int) -> list[Source]:
    """All that has written into the stream before a layer; the biases of a model come last."""
    heads = len(run.layers[0].head_outputs)
    sources = [Source("embedding")]
    for index in range(layer):
        sources += [Source("head", index, head) for head in range(heads)] + [Source("mlp", index)]
    return [*sources, Source("bias")] if has_biases(run) else sources


def has_biases(run: WrittenRun) -> bool:
    """Does a normalisation or a projection of this model add a constant?"""
    first = run.model.layers[0]
    modules = first.input_layernorm, first.self_attn.q_proj, first.self_attn.o_proj
    return any(getattr(module, "bias", None) is not None for module in modules)


@torch.no_grad()
def gather_sources(run: WrittenRun, layer: int, position: int) -> Tensor:
    """What each source has written at one position (sources, d_model), in float64."""
    parts = [run.embedding[position].double()[None]]
    biases = torch.zeros_like(parts[0])
    for kept, module in zip(run.layers[:layer], run.model.layers, strict=False):
        output = module.self_attn.o_proj
        matrix = output.weight.double().unflatten(1, (len(kept.head_outputs), -1))
        heads = kept.head_outputs[:, position].double()  # (heads, head_dim)
        parts += [torch.einsum("hd,ohd->ho", heads, matrix), kept.mlp[position].double()[None]]
        if output.bias is not None:
            biases = biases + output.bias.double()
    return torch.cat([*parts, biases] if has_biases(run) else parts)


@torch.no_grad()
def split_score(run: WrittenRun, cell: Cell) -> ScoreSplit:
    """Split the score of one cell; key positions after the query's are refused (ValueError)."""
    if not 0 <= cell.key <= cell.query < len(run.ids):
        raise ValueError(f"query {cell.query} does not see key {cell.key}")
    query_side = project_sources(run, cell, QUERY_SIDE, cell.query)
    query_side = query_side * run.model.layers[cell.layer].self_attn.scaling
    sides = [project_sources(run, cell, KEY_SIDE, at) for at in range(cell.query + 1)]
    keys = torch.stack([side.sum(0) for side in sides])
    scores = keys @ query_side.sum(0)
    shares = share_others(scores, cell.key)
    average = sum(share * side for share, side in zip(shares, sides, strict=True))
    sources = list_sources(run, cell.layer)
    return ScoreSplit(cell, sources, query_side, sides[cell.key], average, keys, scores)


def share_others(scores: Tensor, key: int) -> Tensor:
    """The weights of a row as they would be without one key; 0 where it is the only one."""
    if len(scores) == 1:
        return torch.zeros_like(scores)
    others = scores.clone()
    others[key] = -torch.inf
    return others.softmax(-1)


def project_sources(run: WrittenRun, cell: Cell, side: str, position: int) -> Tensor:
    """Each source's part of a head's query or key at a position, rotated (sources, head_dim)."""
    parts = gather_sources(run, cell.layer, position)
    vectors = apply_side(run, cell, side, position, parts)
    if has_biases(run):
        constant = parts.new_zeros(1, parts.shape[1])
        vectors[-1] += apply_side(run, cell, side, position, constant, is_with_biases=True)[0]
    return vectors


def apply_side(
    run: WrittenRun,
    cell: Cell,
    side: str,
    position: int,
    parts: Tensor,
    is_with_biases: bool = False,
) -> Tensor:
    """What a head makes of parts of the stream (parts, d_model): linear, as in this run."""
    kept, module = run.layers[cell.layer], run.model.layers[cell.layer]
    # The matrix, the number of the head in it, and what QK-norm multiplied by.
    matrix, head, factor = module.self_attn.q_proj, cell.head, kept.query_factor
    if side == KEY_SIDE:
        group_size = len(kept.query) // len(kept.key)
        matrix, head, factor = module.self_attn.k_proj, cell.head // group_size, kept.key_factor
    rows = slice(head * module.self_attn.head_dim, (head + 1) * module.self_attn.head_dim)
    vectors = freeze_norm(module.input_layernorm, kept, position, parts)
    bias = getattr(module.input_layernorm, "bias", None)
    if is_with_biases and bias is not None:
        vectors = vectors + bias.double()
    vectors = vectors @ matrix.weight[rows].double().T
    if is_with_biases and matrix.bias is not None:
        vectors = vectors + matrix.bias[rows].double()
    if factor is not None:
        vectors = vectors * factor[head, position]
    cos, sin = (one[position].double() for one in run.rotation)
    return rotate(vectors, cos, sin)


def freeze_norm(norm: nn.Module, kept: Any, position: int, parts: Tensor) -> Tensor:
    """Multiply parts (parts, d_model) by what the norm multiplied this position by in the run."""
    stream, normed = kept.stream[position].double(), kept.normed[position].double()
    if not isinstance(norm, nn.LayerNorm):
        return parts * divide(normed, stream)
    factor = (stream.var(unbiased=False) + norm.eps).rsqrt() * norm.weight.double()
    return (parts - parts.mean(-1, keepdim=True)) * factor


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
    cos, sin = (one[change.positions][None] for one in run.rotation)
    made = project(layer.self_attn, layer.input_layernorm(stream[None]), (cos, sin))
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
