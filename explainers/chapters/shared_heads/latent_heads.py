"""Multi-head latent attention on the sentence: what is cached of it, and what the heads see."""

from collections.abc import Sequence

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
from explainers.ui.figure.panels import Figure, Panel, orient_panels
from explainers.ui.text.numbers import bound_rounding
from explainers.ui.untrusted_text import verbatim


def write_difference(one: LatentHeads, other: LatentHeads) -> str:
    """The largest difference between any two numbers of two ways to compute the same."""
    pairs = zip(one[1:], other[1:], strict=True)
    largest = torch.stack([(a - b).abs().max() for a, b in pairs])
    return bound_rounding(largest.max().item())  # torch's max, unlike Python's, keeps a NaN


def run_both_ways(
    tokens: tuple[str, ...], latent_dim: int, seed: int
) -> tuple[LatentInputs, LatentHeads, LatentHeads]:
    """What MLA is given, and what it computes of that written out and absorbed."""
    given = make_latent_inputs(tokens, latent_dim, seed)
    return given, latent_attention(*given), absorbed(*given)


def count_stored(tokens: Sequence[str], run: LatentHeads) -> tuple[int, int]:
    """How many numbers of a text MLA and MHA store."""
    latent_dim = run.cached.latent.shape[-1]
    mla = latent_cache_elements(len(tokens), latent_dim, ROPE_DIM)
    return mla, cache_elements(len(tokens), NUM_HEADS, HEAD_DIM)


def draw_latent(
    tokens: tuple[str, ...], run: LatentHeads, mask: Tensor, queries_down: bool
) -> Figure:
    """What is cached, how much it is, and every head's weights."""
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
    reads = [_("reads c")] * NUM_HEADS
    weights = make_head_matrices(_("MLA head {head}"), reads, run.weights, tokens, mask)
    heading = _("Every head's weights, from these rows alone, under the causal mask")
    panels = [
        Panel(
            "latent",
            _make_row_matrix(_("latent c"), content, tokens, latent),
            heading=_("Cached: two short rows per word"),
        ),
        Panel("rotary key", _make_row_matrix(_("rotary key"), place, tokens, key)),
        Panel("numbers kept", amounts),
        *orient_panels(make_miniatures(weights, "MLA head", heading), queries_down),
    ]
    alt = _("The cached latent and rotary key of each word, and the weights of every head.")
    return Figure(panels, alt)


def name_latent(tokens: tuple[str, ...], run: LatentHeads, short: LatentHeads) -> dict[str, object]:
    """What is stored, and one score computed both ways, for a text."""
    (kept, mha), (asking, asked) = count_stored(tokens, run), choose_pair(tokens)
    return {
        "rope": ROPE_DIM,
        "latent": run.cached.latent.shape[-1],
        "each": kept // len(tokens),
        "mha_each": mha // len(tokens),
        "kept": f"{kept:,}",
        "mha": f"{mha:,}",
        "difference": write_difference(run, short),
        "asking": verbatim(tokens[asking]),
        "asked": verbatim(tokens[asked]),
        "long": f"{run.scores[0, asking, asked].item():.4f}",
        "short": f"{short.scores[0, asking, asked].item():.4f}",
    }


def _make_row_matrix(name: str, formula: str, tokens: Sequence[str], values: Tensor) -> Matrix:
    columns = [str(n) for n in range(values.shape[1])]
    return Matrix(name, formula, values.tolist(), tokens, columns, TOKEN_AXIS, FEATURE_AXIS)
