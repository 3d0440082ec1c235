"""Lines on two axes: measured points beside theory, and amounts that grow with a text."""

from dataclasses import dataclass

import altair as alt
import pandas as pd

from explainers.charts.theme import Theme, apply_theme
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


def draw_work(
    rows: pd.DataFrame, theme: Theme, x: Axis, y: Axis, series: tuple[str, ...]
) -> alt.TopLevelMixin:
    """Columns x, y, series: two pairs of lines, in each without a cache and with it.

    The first pair is solid; what is computed again has the colour of what is wrong.
    """
    colours, dashes = [theme.highlight, theme.text] * 2, [[1, 0], [1, 0], [6, 4], [6, 4]]
    powers_of_ten = alt.Scale(type="log", base=10)
    legend = alt.Legend(
        orient="top", title=None, columns=2, labelLimit=300, symbolType="stroke", symbolSize=700
    )
    chart = (
        alt.Chart(rows)
        .mark_line(point=alt.OverlayMarkDef(size=30), strokeWidth=2.5)
        .encode(
            alt.X("x:Q").scale(x.scale).axis(x.axis).title(_(x.title)),
            alt.Y("y:Q").scale(powers_of_ten).axis(format="~s", tickCount=6).title(_(y.title)),
            alt.Color("series:N", sort=None)
            .scale(domain=list(series), range=colours)
            .legend(legend),
            alt.StrokeDash("series:N", sort=None).scale(domain=list(series), range=dashes),
            tooltip=[
                alt.Tooltip("series:N", title=_("series")),
                alt.Tooltip("x:Q", title=_(x.title)),
                alt.Tooltip("y:Q", format=",", title=_(y.title)),
            ],
        )
        .properties(width="container", height=320)
    )
    return apply_theme(chart, theme)


def draw_dots(rows: pd.DataFrame, theme: Theme, x: Axis, y: Axis) -> alt.TopLevelMixin:
    """Columns x (a name), y in percent: a dot per measurement, and a line through the means."""
    across = alt.X("x:N", sort=None).title(_(x.title)).axis(labelAngle=0, labelFontSize=14)
    base = alt.Chart(rows).encode(
        across,
        alt.Y("y:Q").scale(domain=[0, 100]).title(_(y.title)),
        tooltip=[alt.Tooltip("x:N", title=_(x.title)), alt.Tooltip("y:Q", format=".0f")],
    )
    dots = base.mark_circle(size=110, color=theme.weight_bar, opacity=0.7)
    means = base.mark_line(color=theme.weight_bar, strokeWidth=2).encode(y="mean(y):Q")
    return apply_theme((means + dots).properties(width="container", height=260), theme)


def draw_dot_rows(rows: pd.DataFrame, theme: Theme, x: Axis) -> alt.TopLevelMixin:
    """Columns name, x in percent: a row of dots for each name, and a stroke at their mean."""
    down = alt.Y("name:N", sort=None).title(None).axis(labelFontSize=14, labelLimit=220)
    across, base = alt.X("x:Q").scale(domain=[0, 100]).title(_(x.title)), alt.Chart(rows)
    pointed = [alt.Tooltip("name:N", title=_("name")), alt.Tooltip("x:Q", format=".0f")]
    dots = base.mark_circle(size=110, color=theme.weight_bar, opacity=0.6)
    means = base.mark_tick(color=theme.text, thickness=2, size=20).encode(down, x="mean(x):Q")
    dots = dots.encode(down, across, tooltip=pointed)
    height = alt.Step(30)
    return apply_theme((dots + means).properties(width="container", height=height), theme)


def draw_text_rises(rows: pd.DataFrame, theme: Theme, x: Axis) -> alt.TopLevelMixin:
    """Columns kind, x, low, high: a dot for each text; a row that has low is a mean, its error."""
    down = alt.Y("kind:N", sort=None).title(None).axis(labelFontSize=15, labelLimit=220)
    base, title = alt.Chart(rows).encode(down), _(x.title)
    dots = base.transform_filter("datum.low === null").mark_circle(
        size=90, color=theme.weight_bar, opacity=0.45
    )
    means = base.transform_filter("datum.low !== null")
    spans = means.mark_rule(color=theme.text, strokeWidth=2.5).encode(
        alt.X("low:Q").title(title).axis(tickCount=8), alt.X2("high:Q")
    )
    strokes = means.mark_tick(color=theme.text, thickness=4, size=24).encode(x="x:Q")
    zero = alt.Chart(rows).mark_rule(color=theme.muted, strokeDash=[4, 3]).encode(x=alt.datum(0))
    pointed = [alt.Tooltip("kind:N", title=_("name")), alt.Tooltip("x:Q", format="+.3f")]
    dots = dots.encode(alt.X("x:Q").title(title).axis(tickCount=8), tooltip=pointed)
    figure = (zero + dots + spans + strokes).properties(width="container", height=alt.Step(44))
    return apply_theme(figure, theme)


"""A dash pattern for each line, for readers who cannot tell all colours apart."""
