"""Applies the theme to an Altair chart."""

import altair as alt

from explainers.charts.theme import Theme


def apply_theme(chart: alt.TopLevelMixin, theme: Theme) -> alt.TopLevelMixin:
    """Give a finished chart the theme's colours; the page gives its alt text and its title."""
    return (
        chart.configure(background=theme.background, font="Source Sans, sans-serif", aria=False)
        .configure_axis(
            labelColor=theme.text,
            titleColor=theme.text,
            gridColor=theme.grid,
            domainColor=theme.muted,
            tickColor=theme.muted,
            labelFontSize=13,
            titleFontSize=14,
        )
        .configure_legend(
            labelColor=theme.text, titleColor=theme.text, labelFontSize=13, titleFontSize=13
        )
        .configure_title(color=theme.text, fontSize=14, anchor="start")
        .configure_view(stroke=None)
        .configure_mark(aria=False)  # the page names the whole picture in a sentence
    )
