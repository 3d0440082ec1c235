"""Cross-attention against one long sequence: what it costs to look at another text or picture."""

import torch

from explainers.chapters.long_sequences import takeaway as taken
from explainers.chapters.long_sequences.matrix_sizes import cells
from explainers.chapters.long_sequences.sparse_masks import by_way
from explainers.messages import N_
from explainers.translations import _
from explainers.ui.figure.chart import show_chart
from explainers.ui.page import Prose
from explainers.ui.predict import revealed
from explainers.ui.provenance import formula
from explainers.ui.source import show_source


def times(q_len: int, kv_len: int) -> str:
    """How many times as many cells the joined sequence has."""
    cross, joined = by_way(q_len, kv_len).values()
    return times_in_words(joined / cross)


def times_in_words(number: float) -> str:
    """A factor, in words."""
    return N_("{number:,.1f} times", number=number)


def show_two(text: Prose, q_len: int, kv_len: int) -> None:
    """Guess, then both counts as bars."""
    q, kv, both = (f"{count:,}" for count in (q_len, kv_len, q_len + kv_len))
    answer = times(q_len, kv_len)
    options = [times_in_words(number) for number in (1, 2, (q_len + kv_len) / kv_len)]
    if not revealed(text, "two", options, answer, q=q, kv=kv, sum=both):
        return
    from explainers.charts.bars import (  # the page needs no altair to start
        draw_bars,
        make_amount_rows,
    )

    taken.two(q_len, kv_len)
    amounts = [(_(way), count) for way, count in by_way(q_len, kv_len).items()]
    counts = ", ".join(f"{name} {count:,}" for name, count in amounts)
    alt = _("Cells: {counts}", counts=counts)
    origin = formula(_("cells of one head and layer"), torch.device("cpu"))
    show_chart(
        draw_bars, make_amount_rows(amounts), alt, "two", origin, length=2, x_title=N_("cells")
    )
    text("two_seen", q=q, kv=kv)
    show_source(cells)
