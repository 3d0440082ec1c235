"""What a source costs: weights beside those of one sequence, a cache, and padding in a batch."""

import functools
from random import Random
from typing import NamedTuple

import streamlit as st
import torch
from torch import Tensor

from explainers.attention import masks
from explainers.attention.cross import cross_attention, hide_padding, read_source
from explainers.attention.encoder_block import normalise
from explainers.chapters.cross_attention.alignment_view import END, TranslationView
from explainers.chapters.cross_attention.choose_sentence import list_held_out_examples
from explainers.chapters.cross_attention.held_out_scores import LAST_LAYER
from explainers.charts.matrix import Matrix
from explainers.charts.theme import SOURCE_AXIS, TARGET_AXIS
from explainers.messages import N_
from explainers.translation import weights_file
from explainers.translation.model import D_MODEL, NUM_LAYERS
from explainers.translation.translator import Translator, greedy_search
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
from explainers.ui.figure.chart import show_chart
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Figure, Panel, orient_panels
from explainers.ui.page_parts.check_yourself import Recall
from explainers.ui.provenance import formula
from explainers.ui.text.numbers import bound_rounding
from explainers.ui.untrusted_text import verbatim

CROSS, JOINED = N_("cross-attention"), N_("one sequence")


class WeightCounts(NamedTuple):
    """How many weights one head computes in one layer that holds each kind of attention."""

    encoder: int
    decoder: int
    cross: int
    joined: int

    @property
    def separate(self) -> int:
        return self.encoder + self.decoder + self.cross


def count_weights(source_length: int, target_length: int) -> WeightCounts:
    """As many as the masks allow: the source sees itself, the target its past and the source."""
    joined_length = source_length + target_length
    return WeightCounts(
        int(masks.build(masks.full, source_length, source_length).sum()),
        int(masks.build(masks.causal, target_length, target_length).sum()),
        source_length * target_length,
        int(masks.build(masks.causal, joined_length, joined_length).sum()),
    )


@functools.cache
def count_large_weights() -> WeightCounts:
    """For a long document and its summary, whose masks have millions of cells."""
    return count_weights(1_500, 100)


def show_weight_counts(view: TranslationView) -> dict[str, object]:
    """Both ways to see another sequence, drawn as bars; the numbers for the text."""
    source_length, target_length = len(view.translation.words) + 1, view.num_syllables + 1
    counts, large_counts = count_weights(source_length, target_length), count_large_weights()
    from explainers.charts.bars import draw_bars, make_amount_rows  # the page starts without altair

    amounts = [(_(CROSS), counts.cross), (_(JOINED), counts.joined)]
    labels = ", ".join(f"{name} {count:,}" for name, count in amounts)
    alt = _("Weights: {counts}", counts=labels)
    origin = formula(_("weights that a mask allows, one head and layer"), torch.device("cpu"))
    show_chart(
        draw_bars, make_amount_rows(amounts), alt, "cells", origin, length=2, x_title="weights"
    )
    return {
        "source": source_length,
        "target": target_length,
        "encoder": counts.encoder,
        "decoder": counts.decoder,
        "cross": counts.cross,
        "apart": counts.separate,
        "joined": counts.joined,
        "large_cross": f"{large_counts.cross:,}",
        "large_joined": f"{large_counts.joined:,}",
        "large_apart": f"{large_counts.separate:,}",
    }


BYTES_PER_NUMBER = 4


def compare_cached_steps(view: TranslationView, translator: Translator) -> float:
    """The largest difference of any output: step by step on cached rows, and all steps at once."""
    largest_gap, translation = 0.0, view.translation
    mask = hide_padding(torch.tensor([len(translation.words) + 1]), len(translation.words) + 1)[0]
    for block, decoded in zip(translator.model.decoder, translation.decoder, strict=True):
        source = read_source(translation.memory, block.cross)
        queries = normalise(decoded.after_own, block.norms[1])
        steps = [cross_attention(row[None], source, block.cross, mask).output for row in queries]
        largest_gap = max(largest_gap, (torch.cat(steps) - decoded.cross.output).abs().max().item())
    return largest_gap


def show_source_cache(view: TranslationView) -> dict[str, object]:
    """What a cache of the source saves, drawn as bars; the numbers for the text."""
    words, steps = len(view.translation.words) + 1, view.num_syllables + 1
    from explainers.charts.bars import draw_bars, make_amount_rows  # the page starts without altair

    cached_rows, recomputed_rows = words * NUM_LAYERS, words * NUM_LAYERS * steps
    rows = [(_("cached"), cached_rows), (_("computed again at each step"), recomputed_rows)]
    counts = ", ".join(f"{name} {count:,}" for name, count in rows)
    alt = _("Rows of the source's keys: {counts}", counts=counts)
    origin = formula(_("rows of keys that are computed"), torch.device("cpu"))
    show_chart(draw_bars, make_amount_rows(rows), alt, "kept", origin, length=2, x_title="rows")
    return {
        "words": words,
        "layers": NUM_LAYERS,
        "once": cached_rows,
        "steps": steps,
        "again": recomputed_rows,
        "held": f"{2 * words * NUM_LAYERS * D_MODEL * BYTES_PER_NUMBER:,}",
        "own": f"{2 * steps * NUM_LAYERS * D_MODEL * BYTES_PER_NUMBER:,}",
        "difference": bound_rounding(compare_cached_steps(view, weights_file.load_translator())),
    }


def recall_weight_count(draw: Random) -> Recall:
    """A weight for each pair of a syllable and a token of the source."""
    syllables, words = draw.randint(4, 12), draw.randint(13, 25)
    given = {"syllables": f"{syllables}", "words": f"{words}"}
    return Recall(syllables * words, given)


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


def recall_mask(draw: Random) -> Recall:
    """Nothing of the source is in the future."""
    syllable, words = draw.randint(4, 12), draw.randint(13, 25)
    options = [f"{count}" for count in (syllable - 1, syllable, words)]
    return Recall(f"{words}", {"syllable": f"{syllable}", "words": f"{words}"}, options)
