"""Pictures of cells that are counted: of longer texts, of sparse masks, of two sequences."""

import streamlit as st
import torch

from explainers.attention.tiled import tile_cells
from explainers.chapters.long_sequences import takeaway as taken
from explainers.chapters.long_sequences.matrix_sizes import (
    CELL_BYTES,
    LONG,
    SIDE,
    TOKENS,
    by_way,
    cells,
    count_skipped_tiles,
    per_tokens,
    row_bytes,
    sparse_rules,
    weight_bytes,
)
from explainers.charts.matrix import Matrix
from explainers.charts.theme import KEY_AXIS, QUERY_AXIS
from explainers.memory.sizes import format_size
from explainers.messages import N_
from explainers.translations import _
from explainers.ui.figure.chart import show_chart
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Figure, Panel, orient_panels
from explainers.ui.page import Prose
from explainers.ui.prediction import revealed
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
    taken.take_cells(TOKENS)
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


SHARES = {
    N_("none"): 0.0,
    N_("about a quarter"): 0.125,
    N_("almost half"): 0.375,
    N_("more than half"): 0.5,
}
"""Answers, and the least share of the tiles that each means."""


@st.cache_data(show_spinner=False)
def tiles_of() -> dict[str, list[list[int]]]:
    """How many cells of each tile of a long text each mask allows."""
    sizes = LONG, LONG, SIDE, SIDE
    return {name: tile_cells(rule, *sizes).tolist() for name, rule in sparse_rules().items()}


def show_skipped_tiles(text: Prose, queries_down: bool) -> None:
    """Guess what causal tiles spare, then every mask as its tiles, and a table."""
    tokens, found = f"{LONG:,}", tiles_of()
    text("spared", tokens=tokens, side=SIDE)
    _unused, _unused, skipped, count = count_skipped_tiles(found["causal"])
    answer = next(name for name, least in reversed(SHARES.items()) if skipped >= least * count)
    rest = f"{1 - skipped / count:.1%}"
    if not revealed(text, "spared", list(SHARES), answer, skipped=skipped, count=count, rest=rest):
        return
    taken.take_masks(LONG, {str(name): count_skipped_tiles(tiles) for name, tiles in found.items()})
    panels = [_map(name, tiles) for name, tiles in found.items()]
    alt = _("Masks of a long text, a cell per tile: filled where it is computed.")
    origin = formula(_("masks of {tokens} tokens", tokens=tokens), torch.device("cpu"))
    show_figure(Figure(orient_panels(panels, queries_down), alt), origin, "spared")
    rows = []
    for name, tiles in found.items():
        allowed, computed, left, of_all = count_skipped_tiles(tiles)
        spared_tiles = _("{count:,} of {all:,}", count=left, all=of_all)
        rows.append(
            f"| {_(name)} | {allowed:,} ({allowed / LONG**2:.1%}) "
            f"| {computed:,} ({computed / LONG**2:.1%}) "
            f"| {spared_tiles} |"
        )
    text("spared_seen", rows="\n".join(rows), side=SIDE)
    show_source(tile_cells)


def _map(name: str, tiles: list[list[int]]) -> Panel:
    """A 1 for each tile that is computed; blank where it is skipped."""
    computed = [[1.0 if count else None for count in line] for line in tiles]
    numbers = [str(place) for place in range(len(tiles))]
    _unused, _unused, skipped, count = count_skipped_tiles(tiles)
    axes = numbers, numbers, QUERY_AXIS, KEY_AXIS
    left = _("{left} of {all} tiles", left=count - skipped, all=count)
    matrix = Matrix(name, left, computed, *axes, kind="weights", blank=N_("skipped"), decimals=0)
    return Panel(name, matrix, small=True)


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

    taken.take_two_sequences(q_len, kv_len)
    amounts = [(_(way), count) for way, count in by_way(q_len, kv_len).items()]
    counts = ", ".join(f"{name} {count:,}" for name, count in amounts)
    alt = _("Cells: {counts}", counts=counts)
    origin = formula(_("cells of one head and layer"), torch.device("cpu"))
    show_chart(
        draw_bars, make_amount_rows(amounts), alt, "two", origin, length=2, x_title=N_("cells")
    )
    text("two_seen", q=q, kv=kv)
    show_source(cells)
