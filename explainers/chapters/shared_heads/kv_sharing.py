"""Keys and values that query heads share: who reads whom, what that changes, what is stored."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor

from explainers.attention.grouped_query import (
    average_kv_heads,
    cache_elements,
    grouped_query,
    share,
)
from explainers.attention.multi_head import ManyHeads, parameters
from explainers.chapters.common.choose_layer import name_layer_origin
from explainers.chapters.common.score_matrix import choose_pair, make_head_matrices, make_miniatures
from explainers.chapters.shared_heads.takeaway import (
    HEAD_DIM,
    NUM_HEADS,
    measure_change,
    take_sharing,
)
from explainers.charts.matrix import Matrix
from explainers.charts.theme import HEAD_AXIS
from explainers.messages import ngettext
from explainers.toys.layers import Configuration, Layer, load_layer
from explainers.translations import _
from explainers.ui.figure.chart import show_chart
from explainers.ui.figure.panels import Figure, Panel, orient_panels
from explainers.ui.provenance import formula


def draw_learned_sharing(layer: Layer, num_kv_heads: int) -> list[Panel]:
    """Where such heads look; nothing beside random heads, or where each keeps its own."""
    heads, tokens = layer.heads, layer.tokens
    if layer.learned is None or num_kv_heads == heads.num_heads:
        return []
    sizes = heads.num_heads, num_kv_heads, heads.head_dim
    sharing = load_layer(tokens, Configuration(*sizes, layer.rule), layer.seed)
    weights = grouped_query(sharing.x, sharing.heads, sharing.mask).weights
    asking = choose_pair(tokens)[0]
    looks = zip(*(found.tolist() for found in weights[:, asking].max(dim=-1)), strict=True)
    formulas = [f"{tokens[asking]} → {tokens[key]} {weight:.2f}" for weight, key in looks]
    of_heads = _(ngettext("{count:,} KV head", "{count:,} KV heads", num_kv_heads))
    heading = _("Weights of heads that learned with {kv_heads}", kv_heads=of_heads)
    matrices = make_head_matrices(_("learned head {head}"), formulas, weights, tokens, sharing.mask)
    return make_miniatures(matrices, "learned head", heading)


def list_divisors(number: int) -> list[str]:
    """All numbers of KV heads that so many query heads can share."""
    return [str(n) for n in range(1, number + 1) if number % n == 0]


def name_pattern(num_heads: int, num_kv_heads: int) -> str:
    """What the literature calls it."""
    if num_heads == 1:
        return _("a single head (MHA and MQA at once)")
    if num_kv_heads == num_heads:
        return _("multi-head (MHA)")
    return _("multi-query (MQA)") if num_kv_heads == 1 else _("grouped-query (GQA)")


def draw_shared(
    layer: Layer,
    run: ManyHeads,
    changed: Tensor,
    kv_heads: int,
    learned: Sequence[Panel],
    queries_down: bool,
) -> Figure:
    """Who shares, the weights of every head, and what sharing changed in them."""
    name = name_pattern(layer.heads.num_heads, kv_heads)
    read = list_readers(share, run)
    formulas = [_("reads KV head {number}", number=one) for one in read]
    weights = make_head_matrices(_("head {head}"), formulas, run.weights, layer.tokens, layer.mask)
    is_shared = kv_heads < layer.heads.num_heads
    heading = _("Weights: {pattern}", pattern=name)
    if is_shared:
        heading = _("Weights: {pattern}, keys and values averaged", pattern=name)
    who = draw_links(_("who shares"), read)
    panels = [
        Panel("sharing", who, heading=_("Which query heads share")),
        *orient_panels(make_miniatures(weights, "head", heading), queries_down),
    ]
    alt = _("Which query heads share a KV head, and the weights of each: {pattern}.", pattern=name)
    if is_shared:
        heading = _("What sharing changed: weights − weights of MHA")
        changes = make_miniatures(make_change_matrices(changed, layer), "change of head", heading)
        panels += orient_panels([*changes, *learned], queries_down)
        alt = _(
            "Which query heads share a KV head, the weights of each, and their change: {pattern}.",
            pattern=name,
        )
    return Figure(panels, alt)


@dataclass(frozen=True)
class AveragedLayer:
    """A layer whose keys and values are averaged in groups."""

    layer: Layer
    num_kv_heads: int

    @cached_property
    def run(self) -> ManyHeads:
        """What the heads do then."""
        averaged = average_kv_heads(self.layer.heads, self.num_kv_heads)
        return grouped_query(self.layer.x, averaged, self.layer.mask)

    @cached_property
    def changed(self) -> Tensor:
        """By head: how much each weight differs (heads, q_len, kv_len)."""
        return measure_change(self.layer, self.run)

    @cached_property
    def learned(self) -> list[Panel]:
        """Heads that learned with so few, to be drawn beside them."""
        return draw_learned_sharing(self.layer, self.num_kv_heads)

    @property
    def is_shared(self) -> bool:
        """Are there fewer KV heads than query heads?"""
        return self.num_kv_heads < self.layer.heads.num_heads

    @property
    def origin(self) -> str:
        """The badge of the picture."""
        origin = name_layer_origin(self.layer)
        if not self.is_shared:
            return origin
        averaged = origin + _(" · KV heads averaged")
        return averaged + _(", the last ones trained so") if self.learned else averaged

    def draw(self, queries_down: bool) -> Figure:
        """Who shares, the weights of every head, and what changed; it can be taken away."""
        take_sharing(self.layer, self.num_kv_heads, self.run)
        return draw_shared(
            self.layer, self.run, self.changed, self.num_kv_heads, self.learned, queries_down
        )

    def name(self) -> dict[str, object]:
        """What the heads are called, and what sharing changes and saves, for a text."""
        heads, head_dim = self.layer.heads.num_heads, self.layer.heads.head_dim
        kv_heads, width = self.num_kv_heads, self.layer.x.shape[-1]
        here, everyone = (parameters(width, heads, n, head_dim) for n in (kv_heads, heads))
        name = name_pattern(heads, kv_heads)
        return {
            "pattern": name[0].upper() + name[1:],
            "heads": _(ngettext("{count:,} query head", "{count:,} query heads", heads)),
            "kv_heads": _(ngettext("{count:,} KV head", "{count:,} KV heads", kv_heads)),
            "d_k": head_dim,
            "group": heads // kv_heads,
            "change": f"{self.changed.abs().max().item():.2f}",
            "parameters": f"{here:,}",
            "all": f"{everyone:,}",
            "saved": f"{everyone - here:,}",
        }


def list_readers(dealt: Callable[[Tensor, int], Tensor], run: ManyHeads) -> list[int]:
    """Which KV head each query head gets: the heads' own numbers, shared out."""
    numbers = torch.arange(len(run.key))[:, None, None]
    return dealt(numbers, len(run.query) // len(run.key)).flatten().tolist()


def draw_links(name: str, read: Sequence[int]) -> Matrix:
    """Lines from each query head to the KV head that it reads."""
    kv_heads = range(max(read) + 1)
    values = [[float(kv_head == one) for one in read] for kv_head in kv_heads]
    above, below = ([str(n) for n in some] for some in (range(len(read)), kv_heads))
    formula, axes = _("query heads above, KV heads below"), (_("KV head"), HEAD_AXIS)
    return Matrix(name, formula, values, below, above, *axes, kind="links")


def make_change_matrices(changed: Tensor, layer: Layer) -> list[Matrix]:
    """How much each head's weights (heads, q_len, kv_len) changed, and at most."""
    most = changed.abs().amax(dim=(1, 2)).tolist()
    formulas = [_("largest change {change:.2f}", change=one) for one in most]
    name = _("change of head {head}")
    matrices = make_head_matrices(name, formulas, changed, layer.tokens, layer.mask)
    return [replace(matrix, kind="signed", limit=1.0) for matrix in matrices]


CPU = torch.device("cpu")


def count_by_pattern(tokens: int) -> dict[str, int]:
    """Cached numbers for each number of KV heads, the most first."""
    found = {}
    for number in list_kv_heads():
        heads = _(ngettext("{count:,} KV head", "{count:,} KV heads", number))
        found[f"{name_pattern(NUM_HEADS, number)}, {heads}"] = cache_elements(
            tokens, number, HEAD_DIM
        )
    return found


def list_kv_heads() -> list[int]:
    """Every number of KV heads of the page's own layer, the most first."""
    return [*map(int, reversed(list_divisors(NUM_HEADS)))]


def ask_least(amounts: Mapping[str, int]) -> tuple[str, list[str]]:
    """What one KV head keeps, and what one might think; the first is what all of them keep."""
    full, *_unused, least = amounts.values()
    return f"{least:,}", [f"{full:,}", f"{full // 2:,}", f"{least:,}"]


def show_amounts(amounts: Mapping[str, int], key: str) -> None:
    """A bar for each way to cache a text."""
    from explainers.charts.bars import (  # the page needs no altair to start
        draw_bars,
        make_amount_rows,
    )

    listed = ", ".join(f"{n} {a:,}" for n, a in amounts.items())
    alt = _("Numbers kept of the text: {listed}", listed=listed)
    rows = make_amount_rows(amounts.items())
    title = _("numbers kept of this text")
    origin = formula(_("2 · words · KV heads · d_k"), CPU)
    show_chart(draw_bars, rows, alt, key, origin, length=len(amounts), x_title=title)
