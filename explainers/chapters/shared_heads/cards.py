"""KV heads that are dealt out, one latent row for all heads, and caches with fewer rows."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import streamlit as st
import torch
from torch import Tensor

from explainers.attention import latent, masks
from explainers.attention.cache.compression import merge_rows, waiting_rows
from explainers.attention.grouped_query import cache_elements, grouped_query, share
from explainers.attention.latent import LatentHeads, absorbed, latent_attention
from explainers.attention.latent_layer import Latent, latent_cache_elements
from explainers.attention.rotary import angles
from explainers.chapters.common.choose_layer import name_layer_origin
from explainers.chapters.common.score_matrix import choose_pair, name_by_head
from explainers.charts.matrix import Matrix
from explainers.charts.theme import FEATURE_AXIS, HEAD_AXIS, KEY_AXIS, TOKEN_AXIS
from explainers.memory.cache_bytes import count_lasting_bytes, require_groups
from explainers.memory.model_shapes import find_shape
from explainers.messages import ngettext
from explainers.toys import examples
from explainers.toys.layers import Layer
from explainers.translations import _
from explainers.ui import page
from explainers.ui.controls import controls
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Figure, Panel, Slider, draw_views
from explainers.ui.page import Prose
from explainers.ui.prediction import ask_veiled
from explainers.ui.provenance import random_weights
from explainers.ui.source import show_source
from explainers.ui.takeaway_files import hand_over, run_and_hand_over
from explainers.ui.text.numbers import bound_rounding, write_decimals, write_percent
from explainers.ui.untrusted_text import verbatim

NUM_HEADS, HEAD_DIM, D_MODEL = 4, 16, 64
"""The layer of this page, where the reader does not choose another."""
ROPE_DIM = 8
"""How many numbers of a query and of the shared key say where a token stands."""


def make_latent_inputs(
    tokens: Sequence[str], latent_dim: int, seed: int
) -> tuple[Tensor, Latent, Tensor, Tensor]:
    """All that MLA needs to run: x without positions, which RoPE brings in, untrained weights, the
    causal mask, and the angles."""
    x = examples.draw_embeddings(tuple(tokens), D_MODEL, seed)
    layer = examples.random_latent(D_MODEL, NUM_HEADS, HEAD_DIM, latent_dim, ROPE_DIM, seed)
    mask = masks.build(masks.causal, len(tokens), len(tokens)).to(x.device)
    angle = angles(torch.arange(len(tokens), device=x.device), ROPE_DIM, examples.LONGEST)
    return x, layer, mask, angle


MERGE_DIM = 6
"""How many numbers a row of the text has that is merged: few, so that all can be read."""


Computed = dict[str, Tensor]


def read_learned_heads(layer: Layer) -> Computed:
    """The weights of heads that learned with fewer keys and values."""
    return name_by_head("learned head", grouped_query(layer.x, layer.heads, layer.mask).weights)


def compute_latent_heads(tokens: tuple[str, ...], latent_dim: int, seed: int) -> Computed:
    """What MLA caches and computes, written out and absorbed."""
    given = make_latent_inputs(tokens, latent_dim, seed)
    run, short = latent_attention(*given), absorbed(*given)
    rows = {"latent": run.cached.latent, "rotary key": run.cached.rotary_key}
    outputs = {"output": run.output, "output, absorbed": short.output}
    return {**rows, **name_by_head("MLA head", run.weights), **outputs}


def compute_merged_rows(tokens: tuple[str, ...], width: int, seed: int) -> Computed:
    """Words that share a row, and the weights with which they do; rows and gates are untrained."""
    x = examples.draw_embeddings(tokens, D_MODEL, seed)
    rows, gate = (
        x @ torch.randn(D_MODEL, MERGE_DIM, generator=examples.make_generator(name, seed)).to(x) / 8
        for name in ("rows", "gate")
    )
    bias = torch.randn(width, MERGE_DIM, generator=examples.make_generator("bias", seed)).to(x)
    weights, merged = merge_rows(rows, gate, bias)
    return {"rows": rows, "weights": weights.flatten(0, 1), "merged": merged}


MOST_COLUMNS = 8
"""Of a key, so many numbers are drawn."""


def show_dealing(text: Prose, layer: Layer, asker: int) -> None:
    """Keys of the KV heads, the same dealt out to the query heads, and these heads' weights.

    They are the keys of the word at which any head looks most, and the weights of `asker`.
    """
    title = _("Heads that learned to share keys and values")
    hand_over("learned", title, read_learned_heads, layer=layer)
    heads, tokens = layer.heads, layer.tokens
    run = grouped_query(layer.x, heads, layer.mask)
    asked = int(run.weights[:, asker].amax(dim=0).argmax())
    stored_in = _(ngettext("{count:,} KV head", "{count:,} KV heads", heads.num_kv_heads))
    text(
        "how",
        word=verbatim(tokens[asker]),
        asked=verbatim(tokens[asked]),
        heads=_(ngettext("{count:,} query head", "{count:,} query heads", heads.num_heads)),
        kv_heads=stored_in,
        group=heads.group_size,
    )
    shown = min(MOST_COLUMNS, heads.head_dim)
    columns, query_heads = ([str(n) for n in range(size)] for size in (shown, heads.num_heads))
    keys = run.key[:, asked, :shown]
    stored = Matrix(
        _(
            "stored: K of {word}, {shown} of {all} numbers",
            word=tokens[asked],
            shown=shown,
            all=heads.head_dim,
        ),
        stored_in,
        keys.tolist(),
        query_heads[: heads.num_kv_heads],
        columns,
        _("KV head"),
        FEATURE_AXIS,
        role="key",
        limit=keys.abs().max().item(),
    )
    read = replace(
        stored,
        name=_("as the query heads read it"),
        formula="repeat_interleave",
        values=share(run.key, heads.group_size)[:, asked, :shown].tolist(),
        rows=query_heads,
        row_axis=HEAD_AXIS,
    )
    name, rule = _("weights of {word}", word=tokens[asker]), _("every row sums to 1")
    axes, shares = (HEAD_AXIS, KEY_AXIS), run.weights[:, asker].tolist()
    weights = Matrix(name, rule, shares, query_heads, tokens, *axes, kind="weights")
    alt = _("One word's keys in each KV head, as the query heads read them, and their weights.")
    panels = [Panel("stored", stored), Panel("dealt", read), Panel("of word", weights)]
    show_figure(Figure(panels, alt), name_layer_origin(layer), "dealing")
    show_source(share, grouped_query, cache_elements)


def write_difference(one: LatentHeads, other: LatentHeads) -> str:
    """The largest difference between any two numbers of two ways to compute the same."""
    pairs = zip(one[1:], other[1:], strict=True)
    largest = torch.stack([(a - b).abs().max() for a, b in pairs])
    return bound_rounding(largest.max().item())  # torch's max, unlike Python's, keeps a NaN


BothWays = tuple[LatentHeads, LatentHeads]
"""What MLA computes written out, and absorbed."""


@st.cache_resource(show_spinner=False, max_entries=8)
def run_all_sizes(tokens: tuple[str, ...], seed: int) -> list[tuple[LatentHeads, LatentHeads]]:
    """MLA written out, and absorbed, for every latent that the slider offers."""
    inputs = [make_latent_inputs(tokens, int(r), seed) for r in controls.latent_dim.steps]
    return [(latent_attention(*given), absorbed(*given)) for given in inputs]


def show_latent(text: Prose, tokens: tuple[str, ...]) -> None:
    """One short row per word instead of keys and values: what is cached, at any step of the slider.

    One score is computed both ways.
    """
    text("latent", rope=ROPE_DIM, d_k=HEAD_DIM)
    control, seed = controls.latent_dim, page.read_seed()
    place, sizes = control(), run_all_sizes(tokens, seed)
    given = {"tokens": tokens, "latent_dim": int(control.steps[place]), "seed": seed}
    hand_over("latent", _("Multi-head latent attention"), compute_latent_heads, **given)
    names = {
        "latent": (_("latent c"), _("all that heads know of the content")),
        "rotary key": (_("rotary key"), _("rotated by RoPE, one for all heads")),
    }
    alt = _("The cached latent and the cached rotary key of each word.")
    asking, asked = choose_pair(tokens)
    mha = cache_elements(len(tokens), NUM_HEADS, HEAD_DIM)

    def draw(step: int) -> Figure:
        (run, short), panels = sizes[step], []
        for (panel, words), cached in zip(names.items(), run.cached, strict=True):
            columns = [str(n) for n in range(cached.shape[1])]
            matrix = Matrix(*words, cached.tolist(), tokens, columns, TOKEN_AXIS, FEATURE_AXIS)
            panels.append(Panel(panel, matrix, small=panel == "rotary key"))
        latent_dim = run.cached.latent.shape[-1]
        kept = latent_cache_elements(len(tokens), latent_dim, ROPE_DIM)
        named = {
            "rope": ROPE_DIM,
            "latent": latent_dim,
            "each": kept // len(tokens),
            "mha_each": mha // len(tokens),
            "kept": f"{kept:,}",
            "mha": f"{mha:,}",
            "difference": write_difference(run, short),
            "asking": tokens[asking],
            "asked": tokens[asked],
            "long": write_decimals(run.scores[0, asking, asked].item(), 4),
            "short": write_decimals(short.scores[0, asking, asked].item(), 4),
        }
        return Figure(panels, alt, template=text.template("latent_kept"), named=[named])

    slider = Slider.of(control, [f"{step:g}" for step in control.steps], place)
    origin = random_weights(seed, sizes[place][0].output.device)
    show_figure(draw_views(slider, draw), origin, "latent")
    show_source(latent.compress, latent.queries, latent_attention, absorbed)


BEFORE, AFTER = "deepseek-v3.2-exp", "deepseek-v4-flash"
PUBLISHED = 0.07
"""The model card's share of what the model before keeps of a token, in their own formats."""
PACKED_SHARE = (21 * (584 + 68) / 4 + 20 * 584 / 128) / (61 * (656 + 132))
"""The same with our bytes of a row, and of a key of the index, in the formats of engines."""
LAYERS, BORROWING = 35, 15
"""Gemma 3n: its layers, and how many of them read the keys and values of an earlier one."""


def show_rows(text: Prose, tokens: tuple[str, ...]) -> None:
    """Words that share a row, asked first; then layers that keep none."""
    text("rows")
    width, seed, words = controls.row_width(), page.read_seed(), len(tokens)
    inputs = {"tokens": tokens, "width": width, "seed": seed}
    title = _("Words that share a row")
    found = run_and_hand_over("rows", title, compute_merged_rows, **inputs)
    full = len(found["merged"])
    thought = [f"{count}" for count in sorted({full, full + 1, words})]
    if ask_veiled(text, "rows", f"{full}", thought, words=words, width=width):
        columns = [f"{n}" for n in range(MERGE_DIM)]
        whole = tokens[: len(found["weights"])]
        groups = [" ".join(whole[at : at + width]) for at in range(0, len(whole), width)]
        parts = {
            "rows": (_("a row for each word"), tokens),
            "weights": (_("weights, column by column"), whole),
            "merged": (_("rows that are kept"), groups),
        }
        axes = TOKEN_AXIS, FEATURE_AXIS
        panels = [
            Panel(name, Matrix(title, "", found[name].tolist(), labels, columns, *axes))
            for name, (title, labels) in parts.items()
            if len(labels)
        ]
        alt = _("The rows of all words, the weights that merge them, and the merged rows.")
        show_figure(Figure(panels, alt), random_weights(seed, found["rows"].device), "rows")
        waiting = tokens[words - waiting_rows(words, width) :]
        text("rows_seen", waiting=verbatim(" ".join(waiting) or "–"), **name_merging_models())
    show_source(merge_rows)


def name_merging_models() -> dict[str, Any]:
    """What is kept of a token in models that merge rows, and in one before."""
    groups = {name: require_groups(find_shape(name)) for name in (BEFORE, AFTER)}
    before, after = (  # in the end, keys of the index in the same 16 bits as all else
        count_lasting_bytes(
            replace(find_shape(name), groups=tuple(replace(one, token_bytes=0) for one in every))
        )
        for name, every in groups.items()
    )
    merging = [group for group in groups[AFTER] if group.kind == "compressed"]
    _alone, narrow, wide = sorted(merging, key=lambda group: group.ratio or 0)
    return {
        "narrow": narrow.ratio,
        "narrow_layers": narrow.count,
        "wide": wide.ratio,
        "wide_layers": wide.count,
        "all_layers": sum(group.count for group in merging),
        "after": f"{int(after):,}",
        "before": f"{int(before):,}",
        "share": write_percent(float(after / before), 1),
        "published": write_percent(PUBLISHED),
        "own": write_percent(PACKED_SHARE, 1),
        "layers": LAYERS,
        "borrowing": BORROWING,
        "left": write_percent((LAYERS - BORROWING) / LAYERS),
    }
