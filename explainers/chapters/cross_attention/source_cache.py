"""What is kept while a translation is written: the source's keys and values, once."""

import torch

from explainers.attention.cross import cross_attention, hide_padding, read_source
from explainers.attention.encoder_block import normalised
from explainers.chapters.cross_attention.alignment_view import View
from explainers.translation.model import D_MODEL, NUM_LAYERS
from explainers.translation.translator import Translator
from explainers.translations import _
from explainers.ui.figure.chart import show_chart
from explainers.ui.page import Prose
from explainers.ui.predict import revealed
from explainers.ui.provenance import formula
from explainers.ui.source import show_source

FLOAT = 4
"""Bytes of a number."""


def gap(view: View, translator: Translator) -> float:
    """Largest difference of any output: each step alone on kept rows, against all steps at once."""
    worst, found = 0.0, view.found
    mask = hide_padding(torch.tensor([len(found.words) + 1]), len(found.words) + 1)[0]
    for block, done in zip(translator.model.decoder, found.decoder, strict=True):
        source = read_source(found.memory, block.cross)
        asking = normalised(done.after_own, block.norms[1])
        steps = [cross_attention(row[None], source, block.cross, mask).output for row in asking]
        worst = max(worst, (torch.cat(steps) - done.cross.output).abs().max().item())
    return worst


def show_kept(text: Prose, view: View, translator: Translator) -> None:
    """A guess how many rows the cache of the source grows by; then what it saves."""
    words, steps = len(view.found.words) + 1, view.syllables + 1
    text("kept")
    options = "0", "1", f"{words}"
    if not revealed(text, "kept", options, options[0], words=words):
        return
    from explainers.charts.bars import (  # the page needs no altair to start
        draw_bars,
        make_amount_rows,
    )

    once, again = words * NUM_LAYERS, words * NUM_LAYERS * steps
    rows = [(_("kept"), once), (_("computed again at each step"), again)]
    counts = ", ".join(f"{name} {count:,}" for name, count in rows)
    alt = _("Rows of the source's keys: {counts}", counts=counts)
    origin = formula(_("rows of keys that are computed"), torch.device("cpu"))
    show_chart(draw_bars, make_amount_rows(rows), alt, "kept", origin, length=2, x_title="rows")
    text(
        "kept_seen",
        words=words,
        layers=NUM_LAYERS,
        once=once,
        steps=steps,
        again=again,
        held=f"{2 * words * NUM_LAYERS * D_MODEL * FLOAT:,}",
        own=f"{2 * steps * NUM_LAYERS * D_MODEL * FLOAT:,}",
        difference=f"{gap(view, translator):.1g}",
    )
    show_source(read_source)
