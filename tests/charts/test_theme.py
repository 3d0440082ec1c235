"""Can it be read? Contrast by WCAG 2.2, and colours as colour-blind readers see them."""

import tomllib
from itertools import combinations
from math import dist
from pathlib import Path

import pytest

from explainers.charts.theme import THEMES, parse_colour

CONFIG = Path(__file__).parents[2] / ".streamlit" / "config.toml"
each_theme = pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)

# Machado, Oliveira & Fernandes 2009, severity 1.0, on linear RGB.
SIGHT = {
    "all cones": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "no green cones": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "no red cones": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
}
TOLD_APART = 25
"""Distance in CIELAB: about ten times the smallest difference that can be seen (2.3)."""


def linear(colour):
    return [c / 255 / 12.92 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in colour]


def luminance(colour):
    return sum(a * b for a, b in zip((0.2126, 0.7152, 0.0722), linear(colour), strict=True))


def contrast(one, other):
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def seen(colour, cones):
    """A colour in CIELAB, as eyes with these cones see it."""
    red, green, blue = (
        min(max(sum(a * b for a, b in zip(row, linear(parse_colour(colour)), strict=True)), 0), 1)
        for row in cones
    )
    white = 0.9505, 1.0, 1.089
    x, y, z = (
        t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116
        for t in (
            (0.4124 * red + 0.3576 * green + 0.1805 * blue) / white[0],
            (0.2126 * red + 0.7152 * green + 0.0722 * blue) / white[1],
            (0.0193 * red + 0.1192 * green + 0.9505 * blue) / white[2],
        )
    )
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def test_contrast_of_black_and_white_is_21():
    assert contrast((0, 0, 0), (255, 255, 255)) == pytest.approx(21)


@each_theme
def test_what_is_written_can_be_read_and_bars_be_seen(theme):
    page, text = parse_colour(theme.background), parse_colour(theme.text)
    for name in ("text", "muted", "query", "key", "value", "highlight"):
        assert contrast(parse_colour(getattr(theme, name)), page) >= 4.5, name
    for below in (theme.grid, theme.band):
        assert contrast(text, parse_colour(below)) >= 4.5, below
    for colour in (theme.weight_bar, *theme.lines):
        assert contrast(parse_colour(colour), page) >= 3, colour


@each_theme
@pytest.mark.parametrize("cones", SIGHT.values(), ids=SIGHT)
def test_colours_that_stand_for_something_are_told_apart(cones, theme):
    roles = theme.query, theme.key, theme.value
    lines = theme.series
    ends = theme.signed_ramp[0], theme.signed_ramp[2]
    for colours in (roles, lines, ends, theme.input, theme.weight_ramp):
        for one, other in combinations(colours, 2):
            assert dist(seen(one, cones), seen(other, cones)) >= TOLD_APART


@each_theme
def test_a_page_can_be_read_and_its_pictures_stand_on_its_colours(theme):
    page = tomllib.loads(CONFIG.read_text(encoding="utf-8"))["theme"][theme.name]
    for ground in page["backgroundColor"], page["secondaryBackgroundColor"]:
        for ink in page["textColor"], page["linkColor"], page["primaryColor"]:
            assert contrast(parse_colour(ink), parse_colour(ground)) >= 4.5
    assert (page["backgroundColor"], page["textColor"]) == (theme.background, theme.text)
