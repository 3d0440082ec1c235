"""What cross-attention costs: its weights beside those of one sequence, and its source's cache."""

import functools
from typing import NamedTuple

import torch

from explainers.attention import masks
from explainers.attention.cross import cross_attention, hide_padding, read_source
from explainers.attention.encoder_block import normalise
from explainers.chapters.cross_attention.alignment_view import TranslationView
from explainers.messages import N_
from explainers.translation import weights_file
from explainers.translation.model import D_MODEL, NUM_LAYERS
from explainers.translation.translator import Translator
from explainers.translations import _
from explainers.ui.figure.chart import show_chart
from explainers.ui.provenance import formula
from explainers.ui.text.numbers import bound_rounding

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
