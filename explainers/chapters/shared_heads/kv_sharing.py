"""Keys and values that query heads share: pictures, what is stored, and a repeat gone wrong."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import torch
from torch import Tensor

from explainers.attention.grouped_query import cache_elements, grouped_query, share, share_wrongly
from explainers.attention.multi_head import ManyHeads, merge_heads, parameters
from explainers.attention.scaled_dot_product import Attention
from explainers.chapters.common.head_matrices import miniatures, pair, per_head
from explainers.chapters.shared_heads.fixed_layers import D_MODEL, HEAD_DIM, NUM_HEADS
from explainers.chapters.shared_heads.takeaway import measure_change, repeat_wrongly
from explainers.charts.matrix import Matrix
from explainers.charts.theme import FEATURE_AXIS, HEAD_AXIS, KEY_AXIS
from explainers.messages import ngettext
from explainers.toys import examples
from explainers.toys.layers import Configuration, Layer, draw_layer, load_layer
from explainers.translations import _
from explainers.ui.figure.chart import show_chart
from explainers.ui.figure.panels import Figure, Panel, orient_panels
from explainers.ui.provenance import formula
from explainers.ui.untrusted_text import verbatim


def learned_sharing(layer: Layer, num_kv_heads: int) -> list[Panel]:
    """Where such heads look; nothing beside random heads, or where each keeps its own."""
    heads, tokens = layer.heads, layer.tokens
    if layer.learned is None or num_kv_heads == heads.num_heads:
        return []
    sizes = heads.num_heads, num_kv_heads, heads.head_dim
    sharing = load_layer(tokens, Configuration(*sizes, layer.rule), layer.seed)
    weights = grouped_query(sharing.x, sharing.heads, sharing.mask).weights
    asking = pair(tokens)[0]
    looks = zip(*(found.tolist() for found in weights[:, asking].max(dim=-1)), strict=True)
    formulas = [f"{tokens[asking]} → {tokens[key]} {weight:.2f}" for weight, key in looks]
    of_heads = _(ngettext("{count:,} KV head", "{count:,} KV heads", num_kv_heads))
    heading = _("Weights of heads that learned with {kv_heads}", kv_heads=of_heads)
    matrices = per_head(_("learned head {head}"), formulas, weights, tokens, sharing.mask)
    return miniatures(matrices, "learned head", heading)


def divisors(number: int) -> list[str]:
    """All numbers of KV heads that so many query heads can share."""
    return [str(n) for n in range(1, number + 1) if number % n == 0]


def pattern(num_heads: int, num_kv_heads: int) -> str:
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
    name = pattern(layer.heads.num_heads, kv_heads)
    read = readers(share, run)
    formulas = [_("reads KV head {number}", number=one) for one in read]
    weights = per_head(_("head {head}"), formulas, run.weights, layer.tokens, layer.mask)
    is_shared = kv_heads < layer.heads.num_heads
    heading = _("Weights: {pattern}", pattern=name)
    if is_shared:
        heading = _("Weights: {pattern}, keys and values averaged", pattern=name)
    who = draw_links(_("who shares"), read)
    panels = [
        Panel("sharing", who, heading=_("Which query heads share")),
        *orient_panels(miniatures(weights, "head", heading), queries_down),
    ]
    alt = _("Which query heads share a KV head, and the weights of each: {pattern}.", pattern=name)
    if is_shared:
        heading = _("What sharing changed: weights − weights of MHA")
        changes = miniatures(changes_of(changed, layer), "change of head", heading)
        panels += orient_panels([*changes, *learned], queries_down)
        alt = _(
            "Which query heads share a KV head, the weights of each, and their change: {pattern}.",
            pattern=name,
        )
    return Figure(panels, alt)


def name_sharing(layer: Layer, run: ManyHeads, num_kv_heads: int) -> dict[str, object]:
    """What the heads are called, and what sharing changes and saves, for a text."""
    heads, head_dim = layer.heads.num_heads, layer.heads.head_dim
    width = layer.x.shape[-1]
    here, everyone = (parameters(width, heads, n, head_dim) for n in (num_kv_heads, heads))
    name = pattern(heads, num_kv_heads)
    return {
        "pattern": name[0].upper() + name[1:],
        "heads": _(ngettext("{count:,} query head", "{count:,} query heads", heads)),
        "kv_heads": _(ngettext("{count:,} KV head", "{count:,} KV heads", num_kv_heads)),
        "d_k": head_dim,
        "group": heads // num_kv_heads,
        "change": f"{measure_change(layer, run).abs().max().item():.2f}",
        "parameters": f"{here:,}",
        "all": f"{everyone:,}",
        "saved": f"{everyone - here:,}",
    }


def name_origin(origin: str, is_shared: bool, has_learned: bool) -> str:
    """The badge of a picture of heads that share by averaging, and of others beside them."""
    if not is_shared:
        return origin
    return (
        origin
        + _(" · KV heads averaged")
        + (_(", the last ones trained so") if has_learned else "")
    )


def readers(dealt: Callable[[Tensor, int], Tensor], run: ManyHeads) -> list[int]:
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


def changes_of(changed: Tensor, layer: Layer) -> list[Matrix]:
    """How much each head's weights (heads, q_len, kv_len) changed, and at most."""
    most = changed.abs().amax(dim=(1, 2)).tolist()
    formulas = [_("largest change {change:.2f}", change=one) for one in most]
    name = _("change of head {head}")
    matrices = per_head(name, formulas, changed, layer.tokens, layer.mask)
    return [replace(matrix, kind="signed", limit=1.0) for matrix in matrices]


CPU = torch.device("cpu")


def by_pattern(tokens: int) -> dict[str, int]:
    """Cached numbers for each number of KV heads, the most first."""
    found = {}
    for number in list_kv_heads():
        heads = _(ngettext("{count:,} KV head", "{count:,} KV heads", number))
        found[f"{pattern(NUM_HEADS, number)}, {heads}"] = cache_elements(tokens, number, HEAD_DIM)
    return found


def list_kv_heads() -> list[int]:
    """Every number of KV heads of the page's own layer, the most first."""
    return [*map(int, reversed(divisors(NUM_HEADS)))]


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


NUM_KV_HEADS = 2


MOST_COLUMNS = 8
"""Of a key, so many numbers are drawn."""


class Dealing(NamedTuple):
    """One word's keys in every KV head, and who looks at that word."""

    layer: Layer
    run: ManyHeads
    asker: int
    asked: int

    @classmethod
    def of(cls, layer: Layer, asker: int) -> "Dealing":
        """The word is the one at which any head looks most."""
        run = grouped_query(layer.x, layer.heads, layer.mask)
        return cls(layer, run, asker, int(run.weights[:, asker].amax(dim=0).argmax()))

    def name_words(self) -> dict[str, object]:
        """Both words and the sizes, for a text."""
        heads = self.layer.heads
        return {
            "word": verbatim(self.layer.tokens[self.asker]),
            "asked": verbatim(self.layer.tokens[self.asked]),
            "heads": _(ngettext("{count:,} query head", "{count:,} query heads", heads.num_heads)),
            "kv_heads": _(ngettext("{count:,} KV head", "{count:,} KV heads", heads.num_kv_heads)),
            "group": heads.group_size,
        }


def draw_dealing(dealing: Dealing) -> Figure:
    """Keys of the KV heads, the same dealt out to the query heads, and these heads' weights."""
    layer, run = dealing.layer, dealing.run
    heads, tokens = layer.heads, layer.tokens
    shown = min(MOST_COLUMNS, heads.head_dim)
    columns = [str(n) for n in range(shown)]
    keys = run.key[:, dealing.asked, :shown]
    dealt = share(run.key, heads.group_size)[:, dealing.asked, :shown]
    limit = keys.abs().max().item()
    numbers = _("{shown} of {all} numbers", shown=shown, all=heads.head_dim)
    kv_heads, query_heads = ([str(n) for n in range(len(rows))] for rows in (keys, dealt))
    stored = Matrix(
        _("stored: K of {word}", word=tokens[dealing.asked]),
        numbers,
        keys.tolist(),
        kv_heads,
        columns,
        _("KV head"),
        FEATURE_AXIS,
        role="key",
        limit=limit,
    )
    read = replace(
        stored,
        name=_("as the query heads read it"),
        formula="repeat_interleave",
        values=dealt.tolist(),
        rows=query_heads,
        row_axis=HEAD_AXIS,
    )
    weights = Matrix(
        _("weights of {word}", word=tokens[dealing.asker]),
        _("every row sums to 1"),
        run.weights[:, dealing.asker].tolist(),
        query_heads,
        tokens,
        HEAD_AXIS,
        KEY_AXIS,
        kind="weights",
    )
    alt = _("One word's keys in each KV head, as the query heads read them, and their weights.")
    return Figure([Panel("stored", stored), Panel("dealt", read), Panel("of word", weights)], alt)


class Mistake(NamedTuple):
    """KV heads that are dealt out in turn: the layer, what was right, and what became of it."""

    reader: Layer
    run: ManyHeads
    wrong: Attention
    output: Tensor

    @classmethod
    def make(cls, tokens: tuple[str, ...], seed: int) -> "Mistake":
        """Untrained heads of the page's own sizes, under the causal mask."""
        reader = draw_layer(tokens, D_MODEL, NUM_HEADS, HEAD_DIM, "causal", seed)
        layer = examples.random_heads(D_MODEL, NUM_HEADS, NUM_KV_HEADS, HEAD_DIM, seed)
        run = grouped_query(reader.x, layer, reader.mask)
        wrong = repeat_wrongly(run, reader.mask)
        return cls(reader, run, wrong, merge_heads(wrong.output) @ layer.w_output)

    @property
    def changed(self) -> Tensor:
        """By head: how much each weight differs (heads, q_len, kv_len)."""
        return self.wrong.weights - self.run.weights

    def name_changes(self) -> dict[str, str]:
        """The largest differences, for a text."""
        return {
            "change": f"{self.changed.abs().max().item():.2f}",
            "moved": f"{(self.output - self.run.output).abs().max().item():.2f}",
            "size": f"{self.run.output.abs().max().item():.2f}",
        }


def draw_mistake(mistake: Mistake, queries_down: bool) -> Figure:
    """Who reads whom, rightly and wrongly, and what it does to every weight."""
    reader, run = mistake.reader, mistake.run
    ways = {"repeat_interleave": readers(share, run), "repeat": readers(share_wrongly, run)}
    pairs = zip(*ways.values(), strict=True)
    formulas = [
        _("reads KV head {now}, as it should: all 0", now=now)
        if now == right
        else _("reads KV head {now}, not {right}", now=now, right=right)
        for right, now in pairs
    ]
    name = _("with repeat, head {head}")
    heads = [
        replace(matrix, kind="signed", limit=1.0)
        for matrix in per_head(name, formulas, mistake.changed, reader.tokens, reader.mask)
    ]
    first, second = (Panel(name, draw_links(name, read)) for name, read in ways.items())
    heading = _("Weights with repeat − weights with repeat_interleave")
    changes = orient_panels(miniatures(heads, "with repeat, head", heading), queries_down)
    panels = [replace(first, heading=_("Who reads whom")), second, *changes]
    alt = _(
        "Who reads whom with repeat_interleave and with repeat, and what it does to each weight."
    )
    return Figure(panels, alt)
