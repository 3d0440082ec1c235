"""Heads that share keys and values: who reads whom, what it changes, and the classic mistake."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from explainers.attention.grouped_query import share
from explainers.attention.layer import MultiHead
from explainers.attention.multi_head import ManyHeads, multi_head, parameters
from explainers.charts.matrix import Matrix, blanked, pairs
from explainers.charts.theme import HEAD_AXIS
from explainers.lessons.layer_choice import Layer
from explainers.lessons.wording import so_many
from explainers.ui.figure import show_figure
from explainers.ui.panels import Figure, Panel, oriented
from explainers.ui.prose import Prose

NUM_HEADS, HEAD_DIM, D_MODEL = 4, 16, 64
"""The layer of this page, where the reader does not choose another."""
KV_HEAD_AXIS = "KV head"
MHA, GQA, MQA = "multi-head (MHA)", "grouped-query (GQA)", "multi-query (MQA)"
SINGLE = "a single head (MHA and MQA at once)"


def divisors(number: int) -> list[str]:
    """All numbers of KV heads that so many query heads can share."""
    return [str(n) for n in range(1, number + 1) if number % n == 0]


def pattern(num_heads: int, num_kv_heads: int) -> str:
    """What the literature calls it."""
    if num_heads == 1:
        return SINGLE
    return MHA if num_kv_heads == num_heads else MQA if num_kv_heads == 1 else GQA


def show_shared(
    text: Prose,
    layer: Layer,
    averaged: MultiHead,
    run: ManyHeads,
    learned: Sequence[Panel],
    queries_down: bool,
    origin: str,
) -> None:
    """Who shares, every head's weights, and what changed, in one picture; and what it saves.

    `learned` are heads that shared from the start, if there are such heads.
    """
    heads, kv_heads, head_dim = averaged.num_heads, averaged.num_kv_heads, averaged.head_dim
    changed = run.weights - multi_head(layer.x, layer.heads, layer.mask).weights
    read = readers(share, run)
    name, formulas = pattern(heads, kv_heads), [f"reads KV head {one}" for one in read]
    weights = per_head("head", formulas, run.weights, layer.tokens, layer.mask)
    is_shared = kv_heads < heads
    heading = f"Weights: {name}" + ", keys and values averaged" * is_shared
    panels = [
        Panel("sharing", drawn("who shares", read), heading="Which query heads share"),
        *oriented(miniatures(weights, heading), queries_down),
    ]
    alt = f"Which query heads share a KV head, and the weights of each: {name}."
    if is_shared:
        heading = "What sharing changed: weights − weights of MHA"
        changes = changes_of("change of head", changed, layer.tokens, layer.mask)
        panels += oriented([*miniatures(changes, heading), *learned], queries_down)
        origin += " · KV heads averaged" + ", the last ones trained so" * bool(learned)
        alt = f"Which query heads share a KV head, the weights of each, and their change: {name}."
    show_figure(Figure(panels, alt), origin, "shared")
    of_layer = layer.x.shape[-1], heads
    here, everyone = (parameters(*of_layer, n, head_dim) for n in (kv_heads, heads))
    title = name[0].upper() + name[1:]
    if not is_shared:
        many = so_many(heads, "query head"), so_many(kv_heads, "KV head")
        text("own", pattern=title, heads=many[0], kv_heads=many[1], d_k=head_dim, all=f"{here:,}")
        return
    text(
        "shared",
        pattern=title,
        heads=so_many(heads, "query head"),
        d_k=head_dim,
        kv_heads=so_many(kv_heads, "KV head"),
        group=averaged.group_size,
        change=f"{changed.abs().max().item():.2f}",
        parameters=f"{here:,}",
        all=f"{everyone:,}",
        saved=f"{everyone - here:,}",
    )
    if learned:
        text("learned", kv_heads=so_many(kv_heads, "KV head"))


def readers(dealt: Callable[[Tensor, int], Tensor], run: ManyHeads) -> list[int]:
    """Which KV head each query head gets: the heads' own numbers, shared out."""
    numbers = torch.arange(len(run.key))[:, None, None]
    return dealt(numbers, len(run.query) // len(run.key)).flatten().tolist()


def drawn(name: str, read: Sequence[int]) -> Matrix:
    """Lines from each query head to the KV head that it reads."""
    kv_heads = range(max(read) + 1)
    values = [[float(kv_head == one) for one in read] for kv_head in kv_heads]
    above, below = ([str(n) for n in some] for some in (range(len(read)), kv_heads))
    formula = "query heads above, KV heads below"
    return Matrix(name, formula, values, below, above, KV_HEAD_AXIS, HEAD_AXIS, kind="links")


def per_head(
    name: str, formulas: Sequence[str], numbers: Tensor, tokens: Sequence[str], mask: Tensor
) -> list[Matrix]:
    """A matrix per head (heads, q_len, kv_len); pairs that the mask forbids are blank."""
    matrices, seen = [], mask.tolist()
    for head, (formula, values) in enumerate(zip(formulas, numbers.tolist(), strict=True)):
        allowed = blanked(values, seen)
        matrices.append(pairs(f"{name} {head}", formula, allowed, tokens, "weights"))
    return matrices


def changes_of(name: str, changed: Tensor, tokens: Sequence[str], mask: Tensor) -> list[Matrix]:
    """How much each head's weights (heads, q_len, kv_len) changed, and at most."""
    formulas = [f"largest change {most:.2f}" for most in changed.abs().amax(dim=(1, 2)).tolist()]
    matrices = per_head(name, formulas, changed, tokens, mask)
    return [replace(matrix, kind="signed", limit=1.0) for matrix in matrices]


def miniatures(matrices: Sequence[Matrix], heading: str = "") -> list[Panel]:
    """Small panels in a line, under a heading if there is one."""
    first, *others = [Panel(matrix.name, matrix, small=True) for matrix in matrices]
    return [replace(first, heading=heading), *others]
