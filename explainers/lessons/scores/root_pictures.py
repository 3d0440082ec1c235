"""The pictures of the experiment on √d_k."""

from typing import TYPE_CHECKING

import streamlit as st
import torch

from explainers.charts.matrix import Matrix
from explainers.charts.theme import KEY_AXIS
from explainers.lessons.scores.root import BINS, KEYS, ROWS_SHOWN, SEED, Measurement
from explainers.ui import controls
from explainers.ui.figure import show_figure
from explainers.ui.language import said
from explainers.ui.panels import Figure, Panel, Slider
from explainers.ui.picture import show_chart
from explainers.ui.prose import Prose
from explainers.ui.provenance import random_weights

if TYPE_CHECKING:
    import pandas as pd

# Drawn on the CPU, where generators give the same numbers on every machine.
CPU = torch.device("cpu")


def show_root(text: Prose, measured: list[Measurement]) -> None:
    """What happens to the draws at a d_k, under the finger; then what holds for every d_k."""
    from explainers.charts.curve import Axis, curve  # the first page needs no altair

    _at_one_d_k(text, measured)
    origin, series = random_weights(SEED, CPU), _series()
    theory = said("theory: variance = d_k")
    d_k = Axis("d_k", logarithmic=True)
    spread = Axis(said("variance of the scores"), logarithmic=True)
    learning = Axis(said("size of the gradient"))
    left, right = st.columns(2)
    with left:
        text("root_variance")
        rows = _curve_rows(measured, "variance", theory)
        alt = said("Variance of the scores: without the root on the line y = d_k, with it at 1.")
        show_chart(curve, rows, alt, "variance", origin, x=d_k, y=spread, series=(*series, theory))
    with right:
        text("root_gradient")
        rows = _curve_rows(measured, "gradient")
        alt = said(
            "Size of the softmax's gradient against d_k: without the root it falls, with it not."
        )
        show_chart(curve, rows, alt, "gradient", origin, x=d_k, y=learning, series=series)


@st.fragment
def _at_one_d_k(text: Prose, measured: list[Measurement]) -> None:
    """A fragment of its own: the curves for every d_k need not be drawn again."""
    from explainers.charts.distribution import histogram

    origin = random_weights(SEED, CPU)
    chosen = _show_rows(measured, origin)
    text("root_rows")
    without, with_root = (f"{share:.3f}" for share in chosen.average)
    text(
        "root_largest",
        d_k=f"{chosen.head_dim:,}",
        without=without,
        with_root=with_root,
        at_1024=f"{measured[-1].average[0]:.2f}",
    )
    alt = said(
        "Largest of 7 weights over the draws: mean {without} without the root, {with_root} with.",
        without=without,
        with_root=with_root,
    )
    rows, title = _histogram_rows(chosen), said("largest weight")
    show_chart(histogram, rows, alt, "largest", origin, x_title=title, series=_series())


def _series() -> tuple[str, str]:
    return said("without the root"), said("with the root")


def _show_rows(measured: list[Measurement], origin: str) -> Measurement:
    """Rows of weights without and with the root; returns what was measured at the chosen d_k."""
    control = controls.root_head_dim
    place = control()
    panels = [_panel(series, tuple(m.rows[series] for m in measured), place) for series in (0, 1)]
    labels = [f"d_k = {m.head_dim}" for m in measured]
    slider = Slider(control.label, labels, place, lambda n: control.put(measured[n].head_dim))
    alt = said("Rows of weights of a few draws, without and with the root, at the slider's d_k.")
    show_figure(Figure(panels, alt, slider=slider), origin, "rows")
    return measured[place]


def _panel(series: int, frames: tuple[list[list[float]], ...], place: int) -> Panel:
    matrix = Matrix(
        said("weights {kind}", kind=_series()[series]),
        "softmax(q · k)" if series == 0 else "softmax(q · k ÷ √d_k)",
        frames[place],
        [str(n + 1) for n in range(ROWS_SHOWN)],
        [str(n) for n in range(KEYS)],
        said("draw"),
        KEY_AXIS,
        kind="weights",
    )
    return Panel(("without the root", "with the root")[series], matrix, frames=frames)


def _curve_rows(measured: list[Measurement], name: str, theory: str = "") -> "pd.DataFrame":
    """A measured quantity against d_k for `charts.curve`; `theory` names the line y = x."""
    import pandas as pd

    points = [
        (m.head_dim, getattr(m, name)[place], series, False)
        for place, series in enumerate(_series())
        for m in measured
    ]
    if theory:
        points += [(m.head_dim, m.head_dim, theory, True) for m in measured]
    return pd.DataFrame(points, columns=["x", "y", "series", "reference"])


def _histogram_rows(chosen: Measurement) -> "pd.DataFrame":
    """How often the largest weight fell into each twentieth, for `charts.histogram`."""
    import pandas as pd

    return pd.DataFrame(
        [
            (n / BINS, (n + 1) / BINS, share, series)
            for place, series in enumerate(_series())
            for n, share in enumerate(chosen.shares[place])
        ],
        columns=["start", "end", "share", "series"],
    )
