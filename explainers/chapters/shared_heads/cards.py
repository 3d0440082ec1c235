"""KV heads that are dealt out, one latent row for all heads, and caches with fewer rows."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import streamlit as st
import torch
from torch import Tensor

from explainers.attention import masks
from explainers.attention.cache.compression import merge_rows, waiting_rows
from explainers.attention.grouped_query import cache_elements, grouped_query, share
from explainers.attention.latent import LatentHeads, absorbed, latent_attention
from explainers.attention.latent_layer import Latent, latent_cache_elements
from explainers.attention.multi_head import ManyHeads
from explainers.attention.rotary import angles
from explainers.chapters.common.score_matrix import choose_pair, name_by_head
from explainers.charts.matrix import Matrix
from explainers.charts.theme import FEATURE_AXIS, HEAD_AXIS, KEY_AXIS, TOKEN_AXIS
from explainers.memory.cache_bytes import count_lasting_bytes, require_groups
from explainers.memory.model_shapes import ModelShape, find_shape
from explainers.messages import ngettext
from explainers.toys import examples
from explainers.toys.layers import Layer
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.figure.panels import Figure, Panel, Slider, draw_views
from explainers.ui.provenance import random_weights
from explainers.ui.text.numbers import bound_rounding, write_decimals, write_percent
from explainers.ui.untrusted_text import verbatim

NUM_HEADS, HEAD_DIM, D_MODEL = 4, 16, 64
"""The layer of this page, where the reader does not choose another."""
ROPE_DIM = 8
"""How many numbers of a query and of the shared key say where a token stands."""


class LatentInputs(NamedTuple):
    """All that MLA needs to run."""

    x: Tensor
    layer: Latent
    mask: Tensor
    angle: Tensor


def make_latent_inputs(tokens: Sequence[str], latent_dim: int, seed: int) -> LatentInputs:
    """Untrained weights, the causal mask, and no position in x: RoPE brings it in."""
    x = examples.draw_embeddings(tuple(tokens), D_MODEL, seed)
    layer = examples.random_latent(D_MODEL, NUM_HEADS, HEAD_DIM, latent_dim, ROPE_DIM, seed)
    mask = masks.build(masks.causal, len(tokens), len(tokens)).to(x.device)
    angle = angles(torch.arange(len(tokens), device=x.device), ROPE_DIM, examples.LONGEST)
    return LatentInputs(x, layer, mask, angle)


MERGE_DIM = 6
"""How many numbers a row of the text has that is merged: few, so that all can be read."""


class MergedWords(NamedTuple):
    """The rows of a text, and what became of them."""

    tokens: tuple[str, ...]
    width: int
    seed: int
    rows: Tensor
    weights: Tensor
    merged: Tensor


def merge_words(tokens: tuple[str, ...], width: int, seed: int) -> MergedWords:
    """Untrained rows and gates of a text, merged."""
    x = examples.draw_embeddings(tokens, D_MODEL, seed)
    rows, gate = (
        x @ torch.randn(D_MODEL, MERGE_DIM, generator=examples.make_generator(name, seed)).to(x) / 8
        for name in ("rows", "gate")
    )
    bias = torch.randn(width, MERGE_DIM, generator=examples.make_generator("bias", seed)).to(x)
    return MergedWords(tokens, width, seed, rows, *merge_rows(rows, gate, bias))


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
    """Words that share a row, and the weights with which they do."""
    found = merge_words(tokens, width, seed)
    return {"rows": found.rows, "weights": found.weights.flatten(0, 1), "merged": found.merged}


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
    stored_in = _(ngettext("{count:,} KV head", "{count:,} KV heads", heads.num_kv_heads))
    kv_heads, query_heads = ([str(n) for n in range(len(rows))] for rows in (keys, dealt))
    stored = Matrix(
        _(
            "stored: K of {word}, {shown} of {all} numbers",
            word=tokens[dealing.asked],
            shown=shown,
            all=heads.head_dim,
        ),
        stored_in,
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


def write_difference(one: LatentHeads, other: LatentHeads) -> str:
    """The largest difference between any two numbers of two ways to compute the same."""
    pairs = zip(one[1:], other[1:], strict=True)
    largest = torch.stack([(a - b).abs().max() for a, b in pairs])
    return bound_rounding(largest.max().item())  # torch's max, unlike Python's, keeps a NaN


class BothWays(NamedTuple):
    """What MLA is given, and what it computes of that written out and absorbed."""

    given: LatentInputs
    run: LatentHeads
    short: LatentHeads


@st.cache_resource(show_spinner=False, max_entries=8)
def run_all_sizes(tokens: tuple[str, ...], seed: int) -> list[BothWays]:
    """Both ways, for every latent that the slider offers."""
    inputs = [make_latent_inputs(tokens, int(r), seed) for r in controls.latent_dim.steps]
    return [BothWays(given, latent_attention(*given), absorbed(*given)) for given in inputs]


def draw_latent(
    tokens: tuple[str, ...], sizes: Sequence[BothWays], place: int, template: str
) -> Figure:
    """What is cached, and how much it is, at any step of the slider.

    `template` are the page's words about it.
    """
    control = controls.latent_dim
    alt = _("The cached latent and the cached rotary key of each word.")
    labels = [f"{step:g}" for step in control.steps]
    slider = Slider(control.label, labels, place, lambda turned: control.put(control.steps[turned]))

    def draw(step: int) -> Figure:
        ways = sizes[step]
        named = [name_latent(tokens, ways)]
        return Figure(_draw_rows(tokens, ways.run), alt, template=template, named=named)

    return draw_views(slider, draw)


def _draw_rows(tokens: tuple[str, ...], run: LatentHeads) -> list[Panel]:
    content = _("all that heads know of the content")
    place = _("rotated by RoPE, one for all heads")
    latent = _make_row_matrix(_("latent c"), content, tokens, run.cached.latent)
    key = _make_row_matrix(_("rotary key"), place, tokens, run.cached.rotary_key)
    return [Panel("latent", latent), Panel("rotary key", key, small=True)]


def name_latent(tokens: tuple[str, ...], ways: BothWays) -> dict[str, object]:
    """What is stored, and one score computed both ways, for a text."""
    _given, run, short = ways
    words, latent_dim = len(tokens), run.cached.latent.shape[-1]
    asking, asked = choose_pair(tokens)
    kept = latent_cache_elements(words, latent_dim, ROPE_DIM)
    mha = cache_elements(words, NUM_HEADS, HEAD_DIM)
    return {
        "rope": ROPE_DIM,
        "latent": latent_dim,
        "each": kept // words,
        "mha_each": mha // words,
        "kept": f"{kept:,}",
        "mha": f"{mha:,}",
        "difference": write_difference(run, short),
        "asking": tokens[asking],
        "asked": tokens[asked],
        "long": write_decimals(run.scores[0, asking, asked].item(), 4),
        "short": write_decimals(short.scores[0, asking, asked].item(), 4),
    }


def _make_row_matrix(name: str, formula: str, tokens: Sequence[str], values: Tensor) -> Matrix:
    columns = [str(n) for n in range(values.shape[1])]
    return Matrix(name, formula, values.tolist(), tokens, columns, TOKEN_AXIS, FEATURE_AXIS)


BEFORE, AFTER = "deepseek-v3.2-exp", "deepseek-v4-flash"
PUBLISHED = 0.07
"""The model card's share of what the model before keeps of a token, in their own formats."""
PACKED_SHARE = (21 * (584 + 68) / 4 + 20 * 584 / 128) / (61 * (656 + 132))
"""The same with our bytes of a row, and of a key of the index, in the formats of engines."""
LAYERS, BORROWING = 35, 15
"""Gemma 3n: its layers, and how many of them read the keys and values of an earlier one."""


def ask_rows(found: MergedWords) -> tuple[str, list[str]]:
    """How many rows are full, and what one might think."""
    words, full = len(found.tokens), len(found.merged)
    return f"{full}", [f"{count}" for count in sorted({full, full + 1, words})]


def draw_rows(found: MergedWords) -> tuple[Figure, str]:
    """A row for each word, the weights that merge them, the rows kept; and whose these are."""
    columns = [f"{n}" for n in range(found.rows.shape[1])]
    whole = found.tokens[: len(found.merged) * found.width]
    starts = range(0, len(whole), found.width)
    groups = [" ".join(whole[at : at + found.width]) for at in starts]
    parts = {
        "rows": (_("a row for each word"), found.rows, found.tokens),
        "weights": (_("weights, column by column"), found.weights.flatten(0, 1), whole),
        "merged": (_("rows that are kept"), found.merged, groups),
    }
    axes = TOKEN_AXIS, FEATURE_AXIS
    panels = [
        Panel(name, Matrix(title, "", values.tolist(), labels, columns, *axes))
        for name, (title, values, labels) in parts.items()
        if len(labels)
    ]
    alt = _("The rows of all words, the weights that merge them, and the merged rows.")
    return Figure(panels, alt), random_weights(found.seed, found.rows.device)


def name_rows(found: MergedWords) -> dict[str, Any]:
    """What is kept of the text, and of a token in models that do this."""
    waiting = waiting_rows(len(found.tokens), found.width)
    before, after = (_count_in_16_bits(find_shape(name)) for name in (BEFORE, AFTER))
    merging = [group for group in require_groups(find_shape(AFTER)) if group.kind == "compressed"]
    _alone, narrow, wide = sorted(merging, key=lambda group: group.ratio or 0)
    return {
        "waiting": verbatim(" ".join(found.tokens[-waiting:])) if waiting else "–",
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


def _count_in_16_bits(shape: ModelShape) -> Fraction:
    """Bytes that a token adds in the end, keys of the index in the same format as all else."""
    groups = tuple(replace(group, token_bytes=0) for group in require_groups(shape))
    return count_lasting_bytes(replace(shape, groups=groups))
