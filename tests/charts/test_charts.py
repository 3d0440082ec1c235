"""Every picture read back from its specification: what is drawn, where, and in which colour.

Can it be read? Contrast by WCAG 2.2, and colours as colour-blind readers see them.
"""

import html
import json
import re
import tomllib
from collections.abc import Callable
from functools import cache, partial
from itertools import combinations
from math import dist
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch
import vl_convert

from explainers.charts import bars
from explainers.charts.curves import Axis, draw_curve, draw_two_orders, make_order_rows
from explainers.charts.matrix import Matrix, share_domain
from explainers.charts.theme import LIGHT, THEMES, parse_colour

CONFIG = Path(__file__).parents[2] / ".streamlit" / "config.toml"
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
TO_XYZ = (0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505)
WHITE = 0.9505, 1.0, 1.089
TOLD_APART = 25
"""Distance in CIELAB: about ten times the smallest difference that can be seen (2.3)."""
TOKENS = ("the", "kỷ", "the", "👩‍👩‍👧", 'a"b')
SERIES = ("without", "with", "theory")


def frame(columns, *rows):
    return pd.DataFrame(rows, columns=columns.split())


ORDER = torch.arange(20.0).reshape(-1, 4) - 7
# Shown with `ui.figure.chart.show_chart`, which builds the specification once and sends only rows.
FROM_ROWS: dict[str, tuple[Callable[..., Any], pd.DataFrame]] = {
    "two orders": (
        partial(draw_two_orders, words=5),
        make_order_rows(TOKENS, [4, 3, 2, 1, 0], ORDER.tolist(), ORDER.flip(0).tolist()),
    ),
    "amounts": (
        partial(bars.draw_bars, length=2, x_title="numbers kept"),
        bars.make_amount_rows([("one way", 896), ("another", 448)]),
    ),
    "layers": (
        bars.draw_layer_bars,
        bars.make_layer_rows([("with", 0, 2**30), ("without", 7, 2**20)]),
    ),
    "curve": (
        partial(draw_curve, x=Axis("d_k", is_logarithmic=True), y=Axis("y"), series=SERIES),
        frame("x y series reference", (1, 1e4, "without", False), (2, 0.5, "theory", True)),
    ),
}
each_theme = pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)


def read(chart):
    """A chart as it is sent to the browser."""
    return json.loads(json.dumps(chart.to_dict(), allow_nan=False))


@cache
def read_picture(name, theme):
    """Specifications are made slowly; nobody changes one."""
    draw, rows = FROM_ROWS[name]
    return read(draw(rows, theme))


@each_theme
def test_colours_come_from_the_theme(theme):
    ramps = {*theme.weight_ramp, *theme.signed_ramp, *theme.series, *theme.lines}
    ours = {colour for colour in vars(theme).values() if isinstance(colour, str)} | ramps
    for name in FROM_ROWS:
        spec = read_picture(name, theme)
        found = set(re.findall(r"#[0-9a-f]{3,8}\b", json.dumps(spec)))
        assert found <= ours | {"#000000", "#ffffff"}, name
        assert spec["config"]["background"] == theme.background, name


@pytest.mark.parametrize("name", FROM_ROWS)
def test_pictures_can_be_drawn_and_print_tokens_as_they_are_written(name):
    spec = read_picture(name, LIGHT)
    fluid = {"width": 700} if spec.get("width") == "container" else {}
    image = vl_convert.vegalite_to_svg(spec | fluid)
    printed = re.findall(r">([^<>]+)</text>", html.unescape(image))
    assert len(printed) > 1
    if name == "two orders":
        assert set(TOKENS) <= set(printed)
        assert printed.count("the") >= 2


@pytest.mark.parametrize(("draw", "rows"), FROM_ROWS.values(), ids=FROM_ROWS)
def test_a_specification_does_not_depend_on_its_rows(draw, rows):
    all_of_them, fewer = read(draw(rows, LIGHT)), read(draw(rows.tail(1), LIGHT))
    assert all_of_them.pop("datasets") != fewer.pop("datasets")
    assert all_of_them.pop("data") != fewer.pop("data")
    assert all_of_them == fewer
    assert '"data"' not in json.dumps(fewer)


def test_matrices_that_are_compared_share_their_colours():
    large, small = ([[largest, -0.1]] for largest in (2.5, 0.05))
    pair = [
        Matrix("X", "", values, ["t"], ["0", "1"], "token", "dimension")
        for values in (large, small)
    ]
    assert [one.domain for one in pair] == [(-2.5, 2.5), (-0.1, 0.1)]
    assert [one.domain for one in share_domain(*pair)] == [(-2.5, 2.5)] * 2


def linear(colour):
    return [c / 255 / 12.92 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in colour]


def luminance(colour):
    return sum(a * b for a, b in zip((0.2126, 0.7152, 0.0722), linear(colour), strict=True))


def contrast(one, other):
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def seen(colour, cones):
    """A colour in CIELAB, as eyes with these cones see it."""
    light = torch.tensor(cones).float() @ torch.tensor(linear(parse_colour(colour)))
    xyz = torch.tensor(TO_XYZ) @ light.clamp(0, 1) / torch.tensor(WHITE)
    bent = torch.where(xyz > 0.008856, xyz ** (1 / 3), 7.787 * xyz + 16 / 116)
    x, y, z = bent.tolist()
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


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
