"""The classic mistake with shared heads: `repeat` where `repeat_interleave` is meant."""

from dataclasses import replace

from explainers.attention.grouped_query import grouped_query, share, share_wrongly
from explainers.attention.multi_head import merge_heads
from explainers.chapters.shared_heads import takeaway as taken
from explainers.chapters.shared_heads.fixed_layers import D_MODEL, HEAD_DIM, NUM_HEADS
from explainers.chapters.shared_heads.kv_sharing import drawn, miniatures, per_head, readers
from explainers.toys import examples
from explainers.toys.layers import draw_layer
from explainers.translations import _
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Figure, Panel, orient_panels
from explainers.ui.page import Prose
from explainers.ui.provenance import random_weights
from explainers.ui.source import show_source

NUM_KV_HEADS = 2


def show_mistake(text: Prose, tokens: tuple[str, ...], seed: int, queries_down: bool) -> None:
    """Every head as it should be, and below as it is if the KV heads are dealt out wrongly."""
    text("mistake", heads=NUM_HEADS, kv_heads=NUM_KV_HEADS)
    reader = draw_layer(tokens, D_MODEL, NUM_HEADS, HEAD_DIM, "causal", seed)
    layer = examples.random_heads(D_MODEL, NUM_HEADS, NUM_KV_HEADS, HEAD_DIM, seed)
    run = grouped_query(reader.x, layer, reader.mask)
    wrong = taken.mistaken(run, reader.mask)
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
    first, second = (Panel(name, drawn(name, read)) for name, read in ways.items())
    heading = _("Weights with repeat − weights with repeat_interleave")
    changes = orient_panels(miniatures(heads, "with repeat, head", heading), queries_down)
    panels = [replace(first, heading=_("Who reads whom")), second, *changes]
    alt = _(
        "Who reads whom with repeat_interleave and with repeat, and what it does to each weight."
    )
    show_figure(Figure(panels, alt), random_weights(seed, reader.x.device), "mistake")
    taken.mistake(reader, NUM_KV_HEADS, changed)
    text(
        "mistaken",
        change=f"{changed.abs().max().item():.2f}",
        moved=f"{(output - run.output).abs().max().item():.2f}",
        size=f"{run.output.abs().max().item():.2f}",
    )
    show_source(share, share_wrongly)
