"""Multi-head latent attention on the sentence: what is cached of it, and what the heads see."""

from collections.abc import Sequence
from typing import NamedTuple

import streamlit as st
import torch
from torch import Tensor

from explainers.attention.grouped_query import cache_elements
from explainers.attention.latent import LatentHeads, absorbed, latent_attention
from explainers.attention.latent_layer import latent_cache_elements
from explainers.chapters.common.score_matrix import choose_pair, make_head_matrices, make_miniatures
from explainers.chapters.shared_heads.takeaway import (
    HEAD_DIM,
    NUM_HEADS,
    ROPE_DIM,
    LatentInputs,
    make_latent_inputs,
)
from explainers.charts.matrix import Matrix
from explainers.charts.theme import FEATURE_AXIS, TOKEN_AXIS
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.figure.panels import Figure, Panel, Slider, draw_views, orient_panels
from explainers.ui.text.numbers import bound_rounding


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


def count_stored(tokens: Sequence[str], run: LatentHeads) -> tuple[int, int]:
    """How many numbers of a text MLA and MHA store."""
    latent_dim = run.cached.latent.shape[-1]
    mla = latent_cache_elements(len(tokens), latent_dim, ROPE_DIM)
    return mla, cache_elements(len(tokens), NUM_HEADS, HEAD_DIM)


def draw_latent(
    tokens: tuple[str, ...],
    sizes: Sequence[BothWays],
    place: int,
    queries_down: bool,
    template: str,
) -> Figure:
    """What is cached, how much it is, and every head's weights, at any step of the slider.

    `template` are the page's words about it.
    """
    control = controls.latent_dim
    alt = _("The cached latent and rotary key of each word, and the weights of every head.")
    labels = [f"{step:g}" for step in control.steps]
    slider = Slider(control.label, labels, place, lambda turned: control.put(control.steps[turned]))

    def draw(step: int) -> Figure:
        ways = sizes[step]
        panels = [*_draw_rows(tokens, ways.run), *_draw_weights(tokens, ways, queries_down)]
        return Figure(panels, alt, template=template, named=[name_latent(tokens, ways)])

    return draw_views(slider, draw)


def _draw_rows(tokens: tuple[str, ...], run: LatentHeads) -> list[Panel]:
    kept, mha = count_stored(tokens, run)
    latent, key = run.cached
    content, place = (
        _("all that heads know of the content"),
        _("rotated by RoPE, one for all heads"),
    )
    amounts = Matrix(
        _("numbers kept"),
        _("of this text"),
        [[mha], [kept]],
        ["MHA", "MLA"],
        [_("kept")],
        _("way"),
        _("numbers"),
        decimals=0,
    )
    return [
        Panel(
            "latent",
            _make_row_matrix(_("latent c"), content, tokens, latent),
            heading=_("Cached: two short rows per word"),
        ),
        Panel("rotary key", _make_row_matrix(_("rotary key"), place, tokens, key)),
        Panel("numbers kept", amounts),
    ]


def _draw_weights(tokens: tuple[str, ...], ways: BothWays, queries_down: bool) -> list[Panel]:
    reads = [_("reads c")] * NUM_HEADS
    head_name, mask = _("MLA head {head}"), ways.given.mask
    weights = make_head_matrices(head_name, reads, ways.run.weights, tokens, mask)
    heading = _("Every head's weights, from these rows alone, under the causal mask")
    return orient_panels(make_miniatures(weights, "MLA head", heading), queries_down)


def name_latent(tokens: tuple[str, ...], ways: BothWays) -> dict[str, object]:
    """What is stored, and one score computed both ways, for a text."""
    _given, run, short = ways
    (kept, mha), (asking, asked) = count_stored(tokens, run), choose_pair(tokens)
    return {
        "rope": ROPE_DIM,
        "latent": run.cached.latent.shape[-1],
        "each": kept // len(tokens),
        "mha_each": mha // len(tokens),
        "kept": f"{kept:,}",
        "mha": f"{mha:,}",
        "difference": write_difference(run, short),
        "asking": tokens[asking],
        "asked": tokens[asked],
        "long": f"{run.scores[0, asking, asked].item():.4f}",
        "short": f"{short.scores[0, asking, asked].item():.4f}",
    }


def _make_row_matrix(name: str, formula: str, tokens: Sequence[str], values: Tensor) -> Matrix:
    columns = [str(n) for n in range(values.shape[1])]
    return Matrix(name, formula, values.tolist(), tokens, columns, TOKEN_AXIS, FEATURE_AXIS)
