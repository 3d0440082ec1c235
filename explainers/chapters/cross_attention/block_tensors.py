"""The decoder's block, part after part, with the tensors that the sentence really gave."""

from dataclasses import replace

import streamlit as st
import torch
from torch import Tensor

from explainers.attention import masks
from explainers.attention.cross import hide_padding, read_source
from explainers.attention.decoder_block import Decoded, decoder_block
from explainers.chapters.cross_attention.alignment_view import TranslationView
from explainers.charts.matrix import Matrix, find_largest
from explainers.charts.theme import FEATURE_AXIS, SOURCE_AXIS, TARGET_AXIS
from explainers.messages import N_
from explainers.translation import weights_file
from explainers.translation.vocabulary import BEGIN, SPECIAL_TOKENS
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Figure, Panel, orient_panels
from explainers.ui.source import run_and_show

BEGIN_TOKEN = SPECIAL_TOKENS[BEGIN]
READ_AXIS = N_("syllable read")
OPERATORS = {N_("in"): "", N_("added"): "+", N_("out"): "="}
PARTS = {
    "in": (N_("Input"), N_("Embedding + position, or the output of the layer below.")),
    "own": (
        N_("1 · Causal self-attention"),
        N_("Each syllable attends to those already written: mean of all heads, a row sums to 1."),
    ),
    "cross": (
        N_("2 · Cross-attention"),
        N_(
            "What is written looks at the source: queries from here, keys and values from the "
            "encoder."
        ),
    ),
    "fed": (N_("3 · Feed-forward"), N_("Each row alone: no row sees another one.")),
}
"""The parts of a block, each with its heading and a remark; below a part comes what it adds."""
PART_NAMES = N_("self-attention"), N_("cross-attention"), N_("the feed-forward part")


def show_block(view: TranslationView) -> dict[str, object]:
    """Every tensor of the chosen layer, computed again; the numbers for the text."""
    translation, layer = view.translation, int(controls.block_layer()) - 1
    x = translation.x_syllables if layer == 0 else translation.decoder[layer - 1].output
    block = weights_file.load_translator().model.decoder[layer]
    source = read_source(translation.memory, block.cross)
    own_mask = masks.build(masks.causal, len(x), len(x))
    source_mask = hide_padding(torch.tensor([len(translation.memory)]), len(translation.memory))[0]
    picture = st.container()
    decoded = run_and_show(decoder_block, x, source, block, own_mask, source_mask)
    gap = (decoded.output - translation.decoder[layer].output).abs().max().item()
    with picture:
        alt = _(
            "The decoder's block: three parts, each with its weights, what it adds, and the sum."
        )
        figure = Figure(make_panels(view, x, decoded), alt)
        show_figure(figure, view.origin, "block")
    return {"rows": len(x), "d_model": x.shape[-1], "gap": f"{gap:g}"}


def make_panels(view: TranslationView, x: Tensor, decoded: Decoded) -> list[Panel]:
    """The input; then a line for each part: weights, what it adds, and the sum."""
    rows = [BEGIN_TOKEN, *view.translation.syllables]
    sums = {
        "in": {"in": x},
        "own": {"added": decoded.own.output, "out": decoded.after_own},
        "cross": {"added": decoded.cross.output, "out": decoded.after_cross},
        "fed": {"added": decoded.fed, "out": decoded.output},
    }
    tables = {
        "own": _make_weight_matrix(decoded.own.weights, rows, rows, READ_AXIS),
        "cross": _make_weight_matrix(decoded.cross.weights, rows, view.columns, SOURCE_AXIS),
    }
    limit = max(
        find_largest(tensor.tolist()) for parts in sums.values() for tensor in parts.values()
    )
    translation: list[Panel] = []
    for part, (heading, remark) in PARTS.items():
        line = [Panel("weights", tables[part], small=True)] if part in tables else []
        for name, tensor in sums[part].items():
            columns = [str(n) for n in range(tensor.shape[-1])]
            axes = rows, columns, TARGET_AXIS, FEATURE_AXIS
            matrix = Matrix(name, "", tensor.tolist(), *axes, limit=limit)
            line.append(Panel(name, matrix, OPERATORS[name], small=True))
        first, *others = orient_panels(line, view.queries_down)
        line = [replace(first, heading=heading, remark=remark), *others]
        translation += [replace(panel, id=f"{part}: {panel.id}") for panel in line]
    return translation


def _make_weight_matrix(heads: Tensor, rows: list[str], columns: list[str], axis: str) -> Matrix:
    """The mean of all heads; what a causal mask hides is left blank."""
    mean = heads.mean(dim=0)
    values = [
        [None if axis == READ_AXIS and j > i else value for j, value in enumerate(line)]
        for i, line in enumerate(mean.tolist())
    ]
    return Matrix(
        N_("weights"),
        N_("every row sums to 1"),
        values,
        rows,
        columns,
        TARGET_AXIS,
        axis,
        "weights",
    )
