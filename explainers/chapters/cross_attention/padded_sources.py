"""Sources of different lengths in one batch: padding, and what leaks from it without a mask."""

from typing import NamedTuple

import streamlit as st
import torch
from torch import Tensor

from explainers.attention.cross import hide_padding
from explainers.chapters.cross_attention.alignment_view import END, TranslationView
from explainers.chapters.cross_attention.choose_sentence import list_held_out_examples
from explainers.chapters.cross_attention.held_out_scores import LAST_LAYER
from explainers.charts.matrix import Matrix
from explainers.charts.theme import SOURCE_AXIS, TARGET_AXIS
from explainers.messages import N_
from explainers.translation import weights_file
from explainers.translation.translator import greedy_search
from explainers.translation.vocabulary import (
    BEGIN,
    PAD,
    SPECIAL_TOKENS,
    PaddedIds,
    encode_sources,
    pad_rows,
    vietnamese_vocabulary,
)
from explainers.translations import _
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Figure, Panel, orient_panels
from explainers.ui.text.numbers import bound_rounding
from explainers.ui.untrusted_text import verbatim

PAD_TOKEN = SPECIAL_TOKENS[PAD]


CODE = hide_padding, pad_rows


class PaddedBatch(NamedTuple):
    """The reader's source, read alone, in the batch, and in the batch without a mask."""

    words: tuple[str, ...]
    columns: tuple[str, ...]
    alone: Tensor
    """Probabilities of all syllables (rows, vocabulary)"""
    masked: Tensor
    leaking: Tensor
    weights: Tensor
    """Without a mask (rows, kv_len), last layer, mean of heads"""
    hidden: Tensor
    """The same with the mask"""
    written: tuple[str, ...]
    """What is written without a mask"""


@st.cache_resource(show_spinner=False, max_entries=16)
@torch.no_grad()
def run_padded_batch(words: tuple[str, ...], syllables: tuple[str, ...]) -> PaddedBatch:
    """The reader's sentence beside the longest of the held-out examples."""
    model = weights_file.load_translator().model
    longest = max((pair.source for pair in list_held_out_examples().values()), key=len)
    both_sources = encode_sources([words, longest])
    length = both_sources.ids.shape[-1]
    unmasked = PaddedIds(both_sources.ids, torch.full((2,), length))
    rows = torch.tensor([[BEGIN, *vietnamese_vocabulary().encode(syllables)]])
    sources = (
        model.encode(encode_sources([words])),
        model.encode(both_sources),
        model.encode(unmasked),
    )
    runs = [model.predict(rows.expand(len(source.output), -1), source) for source in sources]
    alone, masked, leaking = (run.logits[0].softmax(dim=-1) for run in runs)
    weights = [run.blocks[LAST_LAYER].cross.weights[0].mean(dim=0) for run in runs]
    columns = (*words, END, *[PAD_TOKEN] * (length - len(words) - 1))
    written = vietnamese_vocabulary().decode(greedy_search(model, sources[2])[0].tolist())
    return PaddedBatch(words, columns, alone, masked, leaking, weights[2], weights[1], written)


def count_rows(batch: PaddedBatch) -> dict[str, int]:
    """The rows of the reader's source in the batch, and how many of them are no words."""
    words, length = len(batch.words) + 1, len(batch.columns)
    return {"words": words, "length": length, "filled": length - words}


def measure_leak(batch: PaddedBatch) -> str:
    """Of the weight, in percent, how much goes to the padding without a mask."""
    return f"{100 * batch.weights[:, len(batch.words) + 1 :].sum(dim=-1).mean():.1f}"


def show_leak(view: TranslationView, batch: PaddedBatch) -> dict[str, object]:
    """The weights with the padding mask and without; the numbers for the text."""
    rows, kept_words = view.translation.syllables, len(batch.words) + 1
    share = measure_leak(batch)
    visible: list[list[float | None]] = [
        [*line[:kept_words], *[None] * count_rows(batch)["filled"]]
        for line in batch.hidden.tolist()
    ]
    rule = _("decoder layer {layer}, mean of heads", layer=LAST_LAYER + 1)
    axes = rows, batch.columns, TARGET_AXIS, SOURCE_AXIS
    panels = [
        Panel(name, Matrix(name, rule, weights[: len(rows)], *axes, kind="weights"))
        for name, weights in (
            (N_("with the mask"), visible),
            (N_("without"), batch.weights.tolist()),
        )
    ]
    alt = _(
        "Weights on words and padding, with the padding mask and without: {share} % leaks.",
        share=share,
    )
    figure = Figure(orient_panels(panels, view.queries_down), alt)
    show_figure(figure, view.origin, "padding")
    return {
        "share": share,
        "same": bound_rounding((batch.masked - batch.alone).abs().max().item()),
        "leak": f"{(batch.leaking - batch.alone).abs().max():.2g}",
        "written": verbatim(" ".join(batch.written)),
        "verdict": _("the same") if batch.written == rows else _("another one"),
    }
