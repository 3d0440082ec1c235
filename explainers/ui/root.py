"""The experiment on √d_k: thousands of random queries and keys, measured once and kept."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from explainers.attention.scaling import measure, random_scores
from explainers.charts.matrix import Matrix
from explainers.charts.theme import KEY_AXIS, QUERY_AXIS
from explainers.examples import generator
from explainers.ui import controls
from explainers.ui.matrices import Panel, Slider, show_matrices
from explainers.ui.picture import show_chart, theme
from explainers.ui.prose import Prose

if TYPE_CHECKING:
    import pandas as pd

DRAWS = 2_000
KEYS = 7
"""As many as the running sentence has tokens."""
SERIES = ("without the root", "with the root")
THEORY = "theory: variance = d_k"
BINS = 20
ROWS_SHOWN = 7


@dataclass(frozen=True)
class Measurement:
    """What the draws at one d_k gave, each number without and with the root."""

    head_dim: int
    variance: tuple[float, float]
    gradient: tuple[float, float]
    average: tuple[float, float]
    above_99: tuple[float, float]
    shares: tuple[list[float], list[float]]
    rows: tuple[list[list[float]], list[list[float]]]


@st.cache_data(show_spinner="Drawing thousands of random queries and keys …", max_entries=20)
def measurements(seed: int) -> list[Measurement]:
    """One measurement for every d_k that the slider offers."""
    return [_measurement(int(head_dim), seed) for head_dim in controls.root_head_dim.steps]


def _measurement(head_dim: int, seed: int) -> Measurement:
    measured = measure(head_dim, KEYS, DRAWS, generator("root", seed, head_dim))
    shown = random_scores(head_dim, KEYS, ROWS_SHOWN, generator("rows", seed, head_dim))
    largest = measured.largest
    return Measurement(
        head_dim,
        measured.variance,
        measured.gradient,
        (largest[0].mean().item(), largest[1].mean().item()),
        ((largest[0] > 0.99).float().mean().item(), (largest[1] > 0.99).float().mean().item()),
        (
            (largest[0].histc(BINS, 0, 1) / DRAWS).tolist(),
            (largest[1].histc(BINS, 0, 1) / DRAWS).tolist(),
        ),
        (shown.products.softmax(dim=-1).tolist(), shown.scores.softmax(dim=-1).tolist()),
    )


def show(text: Prose, measured: list[Measurement]) -> None:
    """Rows under the finger, and what all draws have in common at the chosen d_k."""
    from explainers.charts.curve import Axis, curve  # the first page needs no altair
    from explainers.charts.distribution import histogram

    chosen = _show_rows(measured)
    text("root_rows")
    d_k, spread = Axis("d_k", logarithmic=True), Axis("variance of the scores", logarithmic=True)
    learning = Axis("size of the gradient")
    without, with_root = (f"{share:.3f}" for share in chosen.average)
    left, right = st.columns(2)
    with left:
        text("root_variance")
        rows = _curve_rows(measured, "variance", chosen, THEORY)
        alt = "Variance of the scores: without the root on the line y = d_k, with it at 1."
        show_chart(curve, rows, alt, "variance", x=d_k, y=spread, series=(*SERIES, THEORY))
    with right:
        text("root_gradient")
        rows = _curve_rows(measured, "gradient", chosen)
        alt = "Size of the softmax's gradient against d_k: without the root it falls, with it not."
        show_chart(curve, rows, alt, "gradient", x=d_k, y=learning, series=SERIES)
    text("root_largest", d_k=f"{chosen.head_dim:,}", without=without, with_root=with_root)
    alt = f"Largest of 7 weights over the draws: mean {without} without the root, {with_root} with."
    rows = _histogram_rows(chosen)
    show_chart(histogram, rows, alt, "largest", x_title="largest weight", series=SERIES)


def _show_rows(measured: list[Measurement]) -> Measurement:
    """Rows of weights without and with the root; returns what was measured at the chosen d_k."""
    control = controls.root_head_dim
    place = control()
    panels = [_panel(series, tuple(m.rows[series] for m in measured), place) for series in (0, 1)]
    labels = [f"d_k = {m.head_dim}" for m in measured]
    slider = Slider(control.label, labels, place, control.put)
    show_matrices(panels, None, theme(), "picture rows", lambda _: None, slider=slider)
    return measured[place]


def _panel(series: int, frames: tuple[list[list[float]], ...], place: int) -> Panel:
    matrix = Matrix(
        f"weights {SERIES[series]}",
        "softmax(q · k)" if series == 0 else "softmax(q · k ÷ √d_k)",
        frames[place],
        [f"draw {n + 1}" for n in range(ROWS_SHOWN)],
        [f"key {n}" for n in range(KEYS)],
        QUERY_AXIS,
        KEY_AXIS,
        kind="weights",
    )
    return Panel(SERIES[series], matrix, frames=frames)


def _curve_rows(
    measured: list[Measurement], name: str, chosen: Measurement, theory: str = ""
) -> "pd.DataFrame":
    """A measured quantity against d_k for `charts.curve`; `theory` names the line y = x."""
    import pandas as pd

    points = [
        (m.head_dim, getattr(m, name)[series], SERIES[series], False, m == chosen)
        for series in (0, 1)
        for m in measured
    ]
    if theory:
        points += [(m.head_dim, m.head_dim, theory, True, False) for m in measured]
    return pd.DataFrame(points, columns=["x", "y", "series", "reference", "current"])


def _histogram_rows(chosen: Measurement) -> "pd.DataFrame":
    """How often the largest weight fell into each twentieth, for `charts.histogram`."""
    import pandas as pd

    return pd.DataFrame(
        [
            (n / BINS, (n + 1) / BINS, share, SERIES[series])
            for series in (0, 1)
            for n, share in enumerate(chosen.shares[series])
        ],
        columns=["start", "end", "share", "series"],
    )
