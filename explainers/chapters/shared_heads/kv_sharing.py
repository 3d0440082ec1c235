"""Keys and values that query heads share: pictures, what is stored, and a repeat gone wrong."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from explainers.attention.grouped_query import cache_elements, grouped_query, share, share_wrongly
from explainers.attention.layer import MultiHead
from explainers.attention.multi_head import ManyHeads, merge_heads, parameters
from explainers.chapters.common.head_matrices import miniatures, pair, per_head
from explainers.chapters.shared_heads import takeaway as taken
from explainers.chapters.shared_heads.fixed_layers import D_MODEL, HEAD_DIM, NUM_HEADS
from explainers.chapters.shared_heads.takeaway import measure_change
from explainers.charts.matrix import Matrix
from explainers.charts.theme import HEAD_AXIS
from explainers.messages import ngettext
from explainers.toys import examples
from explainers.toys.layers import Configuration, Layer, draw_layer, load_layer
from explainers.translations import _
from explainers.ui.figure.chart import show_chart
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Figure, Panel, orient_panels
from explainers.ui.page import Prose
from explainers.ui.prediction import revealed
from explainers.ui.provenance import formula, random_weights
from explainers.ui.source import show_source


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
    is_shared = kv_heads < heads
    if is_shared:
        origin += _(" · KV heads averaged")
        origin += _(", the last ones trained so") if learned else ""
    changed = measure_change(layer, run)
    figure = draw_shared(layer, run, changed, kv_heads, learned, queries_down)
    show_figure(figure, origin, "shared")
    of_layer = layer.x.shape[-1], heads
    here, everyone = (parameters(*of_layer, n, head_dim) for n in (kv_heads, heads))
    name = pattern(heads, kv_heads)
    title = name[0].upper() + name[1:]
    if not is_shared:
        many = (
            _(ngettext("{count:,} query head", "{count:,} query heads", heads)),
            _(ngettext("{count:,} KV head", "{count:,} KV heads", kv_heads)),
        )
        text("own", pattern=title, heads=many[0], kv_heads=many[1], d_k=head_dim, all=f"{here:,}")
        return
    text(
        "shared",
        pattern=title,
        heads=_(ngettext("{count:,} query head", "{count:,} query heads", heads)),
        d_k=head_dim,
        kv_heads=_(ngettext("{count:,} KV head", "{count:,} KV heads", kv_heads)),
        group=averaged.group_size,
        change=f"{changed.abs().max().item():.2f}",
        parameters=f"{here:,}",
        all=f"{everyone:,}",
        saved=f"{everyone - here:,}",
    )
    if learned:
        text("learned", kv_heads=_(ngettext("{count:,} KV head", "{count:,} KV heads", kv_heads)))


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
    for number in map(int, reversed(divisors(NUM_HEADS))):
        heads = _(ngettext("{count:,} KV head", "{count:,} KV heads", number))
        found[f"{pattern(NUM_HEADS, number)}, {heads}"] = cache_elements(tokens, number, HEAD_DIM)
    return found


def show_cache(text: Prose, tokens: tuple[str, ...]) -> None:
    """Guess what one KV head keeps, then see all patterns."""
    text(
        "cache",
        heads=NUM_HEADS,
        d_k=HEAD_DIM,
        words=_(ngettext("{count:,} word", "{count:,} words", len(tokens))),
    )
    amounts = by_pattern(len(tokens))
    full, *_unused, least = amounts.values()
    options = [f"{full:,}", f"{full // 2:,}", f"{least:,}"]
    if revealed(text, "cache", options, f"{least:,}", heads=NUM_HEADS, full=f"{full:,}"):
        taken.take_cached_numbers(len(tokens), HEAD_DIM, [*map(int, reversed(divisors(NUM_HEADS)))])
        show_amounts(amounts, _("2 · words · KV heads · d_k"), "cache")
        show_source(cache_elements)


def show_amounts(amounts: Mapping[str, int], rule: str, key: str) -> None:
    """A bar for each way to cache a text."""
    from explainers.charts.bars import (  # the page needs no altair to start
        draw_bars,
        make_amount_rows,
    )

    listed = ", ".join(f"{n} {a:,}" for n, a in amounts.items())
    alt = _("Numbers kept of the text: {listed}", listed=listed)
    rows = make_amount_rows(amounts.items())
    title = _("numbers kept of this text")
    origin = formula(rule, CPU)
    show_chart(draw_bars, rows, alt, key, origin, length=len(amounts), x_title=title)


NUM_KV_HEADS = 2


def show_mistake(text: Prose, tokens: tuple[str, ...], seed: int, queries_down: bool) -> None:
    """Every head as it should be, and below as it is if the KV heads are dealt out wrongly."""
    text("mistake", heads=NUM_HEADS, kv_heads=NUM_KV_HEADS)
    reader = draw_layer(tokens, D_MODEL, NUM_HEADS, HEAD_DIM, "causal", seed)
    layer = examples.random_heads(D_MODEL, NUM_HEADS, NUM_KV_HEADS, HEAD_DIM, seed)
    run = grouped_query(reader.x, layer, reader.mask)
    wrong = taken.repeat_wrongly(run, reader.mask)
    output = merge_heads(wrong.output) @ layer.w_output
    changed = wrong.weights - run.weights
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
        for matrix in per_head(name, formulas, changed, tokens, reader.mask)
    ]
    first, second = (Panel(name, draw_links(name, read)) for name, read in ways.items())
    heading = _("Weights with repeat − weights with repeat_interleave")
    changes = orient_panels(miniatures(heads, "with repeat, head", heading), queries_down)
    panels = [replace(first, heading=_("Who reads whom")), second, *changes]
    alt = _(
        "Who reads whom with repeat_interleave and with repeat, and what it does to each weight."
    )
    show_figure(Figure(panels, alt), random_weights(seed, reader.x.device), "mistake")
    taken.take_mistake(reader, NUM_KV_HEADS, changed)
    text(
        "mistaken",
        change=f"{changed.abs().max().item():.2f}",
        moved=f"{(output - run.output).abs().max().item():.2f}",
        size=f"{run.output.abs().max().item():.2f}",
    )
    show_source(share, share_wrongly)
