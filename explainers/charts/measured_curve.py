"""Measured points, and the line that theory draws through them."""

from dataclasses import dataclass

import altair as alt
import pandas as pd

from explainers.charts.chart_theme import apply_theme
from explainers.charts.theme import Theme
from explainers.translations import _


@dataclass(frozen=True)
class Axis:
    """What an axis measures, whether its steps are equal ratios, and where its ticks stand."""

    title: str
    is_logarithmic: bool = False
    ticks: tuple[float, ...] = ()

    @property
    def scale(self) -> alt.Scale:
        """Powers of two are the ticks of a logarithmic axis, as head sizes are powers of two."""
        return alt.Scale(type="log", base=2) if self.is_logarithmic else alt.Scale(type="linear")

    @property
    def axis(self) -> alt.Axis:
        """Vega drops labels of given ticks unless it is told how many there are.

        Of powers that would overlap it leaves out every second one, never only the last.
        """
        if not self.ticks:
            return alt.Axis(labelOverlap="parity") if self.is_logarithmic else alt.Axis()
        return alt.Axis(values=list(self.ticks), tickCount=len(self.ticks))


def draw_curve(
    rows: pd.DataFrame, theme: Theme, x: Axis, y: Axis, series: tuple[str, ...]
) -> alt.TopLevelMixin:
    """Columns x, y, series and reference (True for theory's line).

    `series` names the measured ones and then, if there is one, the theory.
    """
    base = alt.Chart(rows).encode(
        alt.X("x:Q").scale(x.scale).axis(x.axis).title(_(x.title)),
        alt.Y("y:Q").scale(y.scale).axis(y.axis).title(_(y.title)),
        alt.Color("series:N")
        .scale(domain=[_(name) for name in series], range=list(theme.series[: len(series)]))
        .legend(orient="top", title=None, columns=2, labelLimit=300),
        tooltip=[
            alt.Tooltip("series:N", title=_("series")),
            alt.Tooltip("x:Q", title=_(x.title)),
            alt.Tooltip("y:Q", format=".4f", title=_("y")),
        ],
    )
    theory = base.transform_filter("datum.reference").mark_line(strokeDash=[6, 4])
    measurements = base.transform_filter("!datum.reference").mark_line(point=True)
    figure = (measurements + theory).properties(width="container", height=260)
    return apply_theme(figure, theme)
