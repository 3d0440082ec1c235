"""Colours, domains and axis names of every picture: each is written here and nowhere else.

The three roles are after Okabe & Ito's palette, weights after ColorBrewer's Purples; signed numbers
run from rose to blue, which are no role's. Readers with red or green blindness can tell all apart.
"""

from dataclasses import dataclass
from typing import Any

from explainers.messages import N_

QUERY_AXIS, KEY_AXIS, TOKEN_AXIS = N_("query"), N_("key"), N_("token")
FEATURE_AXIS, POSITION_AXIS = N_("dimension"), N_("position")
HEAD_AXIS, LAYER_AXIS = N_("head"), N_("layer")
TARGET_AXIS, SOURCE_AXIS = N_("syllable"), N_("word")
"""Queries of one sequence, keys of another: token 3 of one is not token 3 of the other."""
BLOCK_AXIS, RUNNING_AXIS = N_("block read"), N_("kept")
WEIGHT_DOMAIN = (0.0, 1.0)


@dataclass(frozen=True)
class Theme:
    """The colours of all pictures in one mode, light or dark."""

    name: str
    background: str
    text: str
    muted: str
    grid: str
    band: str
    query: str
    key: str
    value: str
    highlight: str
    series: tuple[str, str, str]
    lines: tuple[str, str, str, str, str, str]
    weight_bar: str
    weight_ramp: tuple[str, str]
    signed_ramp: tuple[str, str, str]
    input: tuple[str, str]
    """Above and below 0, of what a token is made of."""
    below: str
    """Below 0 of queries, keys and values, whose own colours are for what is above."""
    heads: tuple[str, ...]
    """The weights of each head; the first also stands for weights at all."""

    def role(self, name: str) -> str:
        """The colour of Q, K or V, and plain text colour for anything else."""
        return {"query": self.query, "key": self.key, "value": self.value}.get(name, self.text)

    def describe_look(self) -> dict[str, Any]:
        """The colours as a picture in the browser reads them."""
        return {
            "query": self.query,
            "key": self.key,
            "value": self.value,
            "input": self.input[0],
            "inputBelow": self.input[1],
            "below": self.below,
            "wrong": self.highlight,
            "deep": self.weight_ramp[1],
            "heads": list(self.heads),
        }


LIGHT = Theme(
    name="light",
    background="#ffffff",
    text="#1a1d21",
    muted="#565d66",
    grid="#dfe3e8",
    band="#cfe3f3",
    query="#0067a3",
    key="#b34e00",
    value="#00735a",
    highlight="#c2185b",
    series=("#b35900", "#5b21b6", "#6b7280"),
    lines=("#0067a3", "#b34e00", "#00735a", "#5b21b6", "#6b5d00", "#565d66"),
    weight_bar="#6a4fb3",
    weight_ramp=("#ffffff", "#3f007d"),
    signed_ramp=("#a63350", "#ffffff", "#2b5f93"),
    input=("#33608f", "#b0405a"),
    below="#6b7280",
    heads=(
        *("#6a4fb3", "#c2185b", "#7a6a00", "#0f766e"),
        *("#9a3412", "#1d4ed8", "#86198f", "#4d7c0f"),
    ),
)
DARK = Theme(
    name="dark",
    background="#0f1216",
    text="#e8eaed",
    muted="#a4abb5",
    grid="#343a42",
    band="#1f4a68",
    query="#62b8f0",
    key="#f2a33a",
    value="#3fcfa8",
    highlight="#ff7eb6",
    series=("#ffc857", "#8f7bff", "#d5dae0"),
    lines=("#62b8f0", "#f2a33a", "#3fcfa8", "#b09cff", "#e6d84a", "#c3c9d1"),
    weight_bar="#a592e6",
    weight_ramp=("#0f1216", "#cbb7ff"),
    signed_ramp=("#f0909c", "#0f1216", "#86b4e6"),
    input=("#86b4e6", "#f0909c"),
    below="#8b93a0",
    heads=(
        *("#a592e6", "#ff7eb6", "#d6c64a", "#5fd0c5"),
        *("#ff9d6e", "#8fb4ff", "#e58af0", "#b3d95a"),
    ),
)
THEMES = {theme.name: theme for theme in (LIGHT, DARK)}


def parse_colour(colour: str) -> tuple[int, int, int]:
    """Red, green and blue, 0 to 255, of a colour written #rrggbb."""
    red, green, blue = bytes.fromhex(colour[1:])
    return red, green, blue


def finish(chart: Any, theme: Theme, height: Any) -> Any:
    """Give an Altair chart the theme's colours, a height in pixels or steps, and all of the width.

    The page gives its alt text and title.
    """
    return (
        chart.properties(width="container", height=height)
        .configure(background=theme.background, font="Source Sans, sans-serif", aria=False)
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
