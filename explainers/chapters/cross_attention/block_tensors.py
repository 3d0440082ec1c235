"""The decoder's block: what each part adds to its input, for the sentence that was translated."""

import streamlit as st
import torch
from torch import Tensor

from explainers.attention import masks
from explainers.attention.cross import hide_padding, read_source
from explainers.attention.decoder_block import Decoded, decoder_block
from explainers.chapters.cross_attention.alignment_view import TranslationView
from explainers.charts.matrix import Matrix, find_largest
from explainers.charts.theme import FEATURE_AXIS, TARGET_AXIS
from explainers.messages import N_
from explainers.translation import weights_file
from explainers.translation.vocabulary import BEGIN, SPECIAL_TOKENS
from explainers.translations import _
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Figure, Panel, orient_panels
from explainers.ui.source import run_and_show

BEGIN_TOKEN = SPECIAL_TOKENS[BEGIN]
PART_NAMES = N_("self-attention"), N_("cross-attention"), N_("the feed-forward part")


def show_block(view: TranslationView) -> dict[str, object]:
    """What is summed in the last layer, computed again; the numbers for the text."""
    translation = view.translation
    x = translation.decoder[-2].output
    block = weights_file.load_translator().model.decoder[-1]
    source = read_source(translation.memory, block.cross)
    own_mask = masks.build(masks.causal, len(x), len(x))
    source_mask = hide_padding(torch.tensor([len(translation.memory)]), len(translation.memory))[0]
    picture = st.container()
    decoded = run_and_show(decoder_block, x, source, block, own_mask, source_mask)
    gap = (decoded.output - translation.decoder[-1].output).abs().max().item()
    with picture:
        alt = _("The decoder's block: its input, and what each of three parts adds to it.")
        show_figure(Figure(make_panels(view, x, decoded), alt), view.origin, "block")
    return {"rows": len(x), "d_model": x.shape[-1], "gap": f"{gap:g}"}


def make_panels(view: TranslationView, x: Tensor, decoded: Decoded) -> list[Panel]:
    """The input, and what each part adds to it: their sum is the output."""
    rows, columns = [BEGIN_TOKEN, *view.translation.syllables], [str(n) for n in range(x.shape[-1])]
    added = decoded.own.output, decoded.cross.output, decoded.fed
    terms = [
        ("", N_("in"), x),
        *(("+", name, tensor) for name, tensor in zip(PART_NAMES, added, strict=True)),
    ]
    limit = max(find_largest(tensor.tolist()) for _sign, _name, tensor in terms)
    axes = rows, columns, TARGET_AXIS, FEATURE_AXIS
    panels = [
        Panel(name, Matrix(name, "", tensor.tolist(), *axes, limit=limit), sign, small=True)
        for sign, name, tensor in terms
    ]
    return orient_panels(panels, view.queries_down)
