"""The weight matrix of long texts: n² cells against all that goes in and comes out."""

import torch

from explainers.chapters.long_sequences import takeaway as taken
from explainers.chapters.long_sequences.matrix_sizes import (
    CELL_BYTES,
    TOKENS,
    per_tokens,
    row_bytes,
    weight_bytes,
)
from explainers.memory.sizes import format_size
from explainers.messages import N_
from explainers.translations import _
from explainers.ui.figure.chart import show_chart
from explainers.ui.page import Prose
from explainers.ui.predict import revealed
from explainers.ui.provenance import formula
from explainers.ui.source import show_source

ASKED = 131_072
HEAD_DIM = 128
"""Of most models that run today."""
SERIES = (N_("n² weights"), N_("Q, K, V, output"))
CPU = torch.device("cpu")


def show_squares(text: Prose) -> None:
    """Guess the bytes of a long text's weights, then see how they grow."""
    text("squares")
    answer = format_size(weight_bytes(ASKED))
    options = [
        format_size(weight_bytes(ASKED) // 1024),
        format_size(weight_bytes(ASKED) // 32),
        answer,
    ]
    tokens = f"{ASKED:,}"
    numbers = per_tokens()
    cells = next(f"{count:,}" for n, count, _unused in numbers if n == ASKED)
    if not revealed(text, "squares", options, answer, tokens=tokens, each=CELL_BYTES, cells=cells):
        return
    rows = [f"| {n:,} | {count:,} | {format_size(held)} |" for n, count, held in numbers]
    text("squares_table", rows="\n".join(rows), each=CELL_BYTES)
    taken.cells(TOKENS)
    _show_growth(text)
    show_source(weight_bytes, row_bytes)


def _show_growth(text: Prose) -> None:
    import pandas as pd

    from explainers.charts.curves import Axis, draw_curve

    lengths = [2**power for power in range(8, 21, 2)]
    points = [(n, weight_bytes(n) / 2**20, SERIES[0], False) for n in lengths]
    points += [(n, row_bytes(n, HEAD_DIM) / 2**20, SERIES[1], False) for n in lengths]
    rows = pd.DataFrame(points, columns=["x", "y", "series", "reference"])
    meet = 4 * HEAD_DIM  # n · n = 4 · n · d_k
    text("squares_seen", meet=meet, d_k=HEAD_DIM)
    alt = _("MiB against tokens, both axes in powers of 2: the weights' line is twice as steep.")
    axes = {"x": Axis(N_("tokens n"), is_logarithmic=True), "y": Axis("MiB", is_logarithmic=True)}
    origin = formula(_("n · n · {count} bytes", count=CELL_BYTES), CPU)
    show_chart(draw_curve, rows, alt, "growth", origin, series=SERIES, **axes)
