"""Every picture read back from its specification: what is drawn, where, and in which colour.

Can it be read? Contrast by WCAG 2.2, and colours as colour-blind readers see them.
"""

import base64
import html
import io
import json
import re
import tomllib
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from itertools import combinations, pairwise
from math import dist
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch
import vl_convert
from PIL import Image

from explainers.charts.bars import (
    draw_bars,
    draw_histogram,
    draw_layer_bars,
    make_amount_rows,
    make_layer_rows,
)
from explainers.charts.curves import Axis, draw_curve, draw_growth
from explainers.charts.heatmap import draw_heatmap, draw_heatmaps, draw_product
from explainers.charts.line_drawings import draw_two_orders, make_order_rows
from explainers.charts.matrix import Matrix, share_domain
from explainers.charts.theme import LIGHT, MAX_MARKS_SIDE, THEMES, parse_colour

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
TOLD_APART = 25
"""Distance in CIELAB: about ten times the smallest difference that can be seen (2.3)."""
TOKENS = ("the", "kỷ", "the", "👩‍👩‍👧", 'a"b')
CAUSAL = [[0.3 / (i + 1) if j <= i else None for j in range(5)] for i in range(5)]
WEIGHTS = Matrix("weights", "softmax", CAUSAL, TOKENS, TOKENS, "query", "key", kind="weights")
TURNED = [[3.0, -4.0, 0.0, 5.0], [0.0, 5.0, -3.0, -4.0]]
PLANES = ("1 rad", "1 rad", "0.1 rad", "0.1 rad")
ARROWS = ("query of a", "key of b")
DIALS = Matrix("turned", "", TURNED, ARROWS, PLANES, "vector", "plane", kind="arrows", limit=5.0)
WEAK: list[list[float | None]] = [[0.7, 0.01, 0.29], [None, None, None]]
TIES = Matrix(
    "who", "", WEAK, ["kỷ", "lục"], TOKENS[:3], "syllable", "word", "ties", ringed_cells=[(1, 2)]
)
SERIES = ("without", "with", "theory")


def signed(rows, columns, largest=2.0):
    """From −largest at the upper left to nearly largest at the lower right."""
    count = rows * columns
    values = [
        [2 * largest * (i * columns + j) / count - largest for j in range(columns)]
        for i in range(rows)
    ]
    names = [str(j) for j in range(columns)]
    return Matrix("X", "", values, [f"t{i}" for i in range(rows)], names, "token", "dimension")


def frame(columns, *rows):
    return pd.DataFrame(rows, columns=columns.split())


ORDER = torch.arange(20.0).reshape(-1, 4) - 7
# Shown with `ui.figure.chart.show_chart`, which builds the specification once and sends only rows.
FROM_ROWS: dict[str, tuple[Callable[..., Any], pd.DataFrame]] = {
    "two orders": (
        partial(draw_two_orders, words=5),
        make_order_rows(TOKENS, [4, 3, 2, 1, 0], ORDER.tolist(), ORDER.flip(0).tolist()),
    ),
    "histogram": (
        partial(draw_histogram, x_title="largest weight", series=SERIES[:2]),
        frame("start end share series", (0, 0.5, 0.75, "without"), (0.5, 1, 0.25, "with")),
    ),
    "amounts": (
        partial(draw_bars, length=2, x_title="numbers kept"),
        make_amount_rows([("one way", 896), ("another", 448)]),
    ),
    "layers": (draw_layer_bars, make_layer_rows([("with", 0, 2**30), ("without", 7, 2**20)])),
    "growth": (
        partial(draw_growth, ticks=(1, 16, 256)),
        frame(
            "model place tokens bytes gib limit",
            *(("one", 0, 4**n, 2**20, 2**-10, False) for n in range(3)),
            *(("memory", 1, tokens, 2**34, 16.0, True) for tokens in (1, 64)),
        ),
    ),
    "curve": (
        partial(draw_curve, x=Axis("d_k", is_logarithmic=True), y=Axis("y"), series=SERIES),
        frame("x y series reference", (1, 1e4, "without", False), (2, 0.5, "theory", True)),
    ),
}
PICTURES = {
    "heat map": partial(draw_heatmap, WEIGHTS),
    "heat map of many cells": partial(draw_heatmap, signed(65, 3)),
    "heat maps": partial(draw_heatmaps, [WEIGHTS, signed(5, 4)]),
    "dials": partial(draw_heatmap, DIALS),
    "ties": partial(draw_heatmap, TIES),
    "product": partial(draw_product, signed(3, 4), signed(4, 5), signed(3, 5), 1, 2),
    **{name: partial(draw, rows) for name, (draw, rows) in FROM_ROWS.items()},
}
each_theme = pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)


def read(chart):
    """A chart as it is sent to the browser."""
    return json.loads(json.dumps(chart.to_dict(), allow_nan=False))


@cache
def read_picture(name, theme):
    """Specifications are made slowly; nobody changes one."""
    return read(PICTURES[name](theme))


def parts(spec):
    """The specification's panels and layers, from the outside in."""
    yield spec
    for inner in [*spec.get("layer", ()), *spec.get("concat", ()), *spec.get("hconcat", ())]:
        yield from parts(inner)


def marks(spec, kind):
    return [part for part in parts(spec) if part.get("mark", {}).get("type") == kind]


def rows(spec):
    """All rows of all data sets."""
    return [row for dataset in spec["datasets"].values() for row in dataset]


def scales(spec, kind="rect"):
    """The colour scale of each mark of this kind that has one."""
    found = [mark["encoding"].get("color", {}).get("scale") for mark in marks(spec, kind)]
    return [scale for scale in found if scale]


def mixed(value, scale):
    """The colour of a value, interpolated between the stops of a scale."""
    stops = list(zip(scale["domain"], map(parse_colour, scale["range"]), strict=True))
    for (low, first), (high, last) in pairwise(stops):
        if value <= high:
            share = (value - low) / (high - low)
            return tuple(a + (b - a) * share for a, b in zip(first, last, strict=True))
    raise AssertionError(f"{value} lies outside of {scale['domain']}")


@each_theme
def test_colours_come_from_the_theme(theme):
    ramps = {*theme.weight_ramp, *theme.signed_ramp, *theme.series, *theme.lines}
    ours = {colour for colour in vars(theme).values() if isinstance(colour, str)} | ramps
    for name in PICTURES:
        spec = read_picture(name, theme)
        found = set(re.findall(r"#[0-9a-f]{3,8}\b", json.dumps(spec)))
        assert found <= ours | {"#000000", "#ffffff"}, name
        assert spec["config"]["background"] == theme.background, name


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_can_be_drawn_and_print_tokens_as_they_are_written(name):
    spec = read_picture(name, LIGHT)
    fluid = {"width": 700} if spec.get("width") == "container" else {}
    image = vl_convert.vegalite_to_svg(spec | fluid)
    printed = re.findall(r">([^<>]+)</text>", html.unescape(image))
    assert len(printed) > 1
    if name in ("heat map", "heat maps", "two orders"):
        assert set(TOKENS) <= set(printed)
        assert printed.count("the") >= 2


@pytest.mark.parametrize(("draw", "rows"), FROM_ROWS.values(), ids=FROM_ROWS)
def test_a_specification_does_not_depend_on_its_rows(draw, rows):
    all_of_them, fewer = read(draw(rows, LIGHT)), read(draw(rows.tail(1), LIGHT))
    assert all_of_them.pop("datasets") != fewer.pop("datasets")
    assert all_of_them.pop("data") != fewer.pop("data")
    assert all_of_them == fewer
    assert '"data"' not in json.dumps(fewer)


@each_theme
def test_weights_are_coloured_from_0_to_1_and_scores_alike_around_0(theme):
    (weights,) = scales(read(draw_heatmap(WEIGHTS, theme)))
    assert (weights["domain"], weights["range"]) == ([0, 1], list(theme.weight_ramp))
    (scores,) = scales(read(draw_heatmap(signed(3, 4, largest=2.5), theme)))
    assert (scores["domain"], scores["range"]) == ([-2.5, 0, 2.5], list(theme.signed_ramp))
    # The ink of the numbers is chosen for colours that are mixed so.
    assert weights["interpolate"] == scores["interpolate"] == "rgb"


def test_matrices_that_are_compared_share_their_colours():
    compared = share_domain(signed(3, 4, largest=2.5), signed(3, 4, largest=0.1))
    domains = [scale["domain"] for scale in scales(read(draw_heatmaps(compared, LIGHT)))]
    assert domains == [[-2.5, 0, 2.5]] * 2
    apart = read(draw_heatmaps([signed(3, 4, largest=2.5), signed(3, 4, largest=0.1)], LIGHT))
    assert scales(apart)[1]["domain"] == [-0.1, 0, 0.1]
    assert apart["resolve"] == {"scale": {"color": "independent"}}


def test_each_allowed_pair_has_its_own_cell_and_masked_pairs_none():
    spec = read(draw_heatmap(WEIGHTS, LIGHT))
    cells = {(row["y"], row["x"], row["y2"], row["x2"]): row["value"] for row in rows(spec)}
    assert cells == {
        (i, j, i + 1, j + 1): CAUSAL[i][j] for i in range(5) for j in range(5) if j <= i
    }
    repeated = [row for row in rows(spec) if row["row_label"] == row["column_label"] == "the"]
    assert {(row["row"], row["column"]) for row in repeated} == {(0, 0), (2, 0), (2, 2)}


def test_queries_go_down_and_keys_along_the_top():
    x, y = (marks(read(draw_heatmap(WEIGHTS, LIGHT)), "rect")[0]["encoding"][way] for way in "xy")
    assert (x["title"], x["axis"]["orient"], x["scale"]["domain"]) == ("key", "top", [0, 5])
    assert (y["title"], y["axis"]["orient"], y["scale"]["domain"]) == ("query", "left", [5, 0])
    turned = marks(read(draw_heatmap(WEIGHTS.transposed(), LIGHT)), "rect")[0]["encoding"]
    assert (turned["x"]["title"], turned["y"]["title"]) == ("query", "key")


@each_theme
@pytest.mark.parametrize("kind", ["weights", "signed"])
def test_numbers_stand_out_from_their_cells(kind, theme):
    matrix = signed(13, 8, largest=1.0)
    if kind == "weights":
        halves = [[(number + 1) / 2 for number in line] for line in matrix.values]
        matrix = replace(matrix, values=halves, kind=kind)
    spec = read(draw_heatmap(matrix, theme))
    (scale,) = scales(spec)
    assert len(rows(spec)) == 104
    for row in rows(spec):
        assert contrast(parse_colour(row["ink"]), mixed(row["value"], scale)) >= 4.5


@each_theme
@pytest.mark.parametrize("shape", [(MAX_MARKS_SIDE + 1, 3), (2, MAX_MARKS_SIDE + 1)])
def test_more_cells_than_can_be_marked_are_one_image(shape, theme):
    matrix = signed(*shape)
    matrix.values[1][1] = None
    spec = read(draw_heatmap(matrix, theme))
    assert not marks(spec, "rect")
    (mark,) = marks(spec, "image")
    (row,) = rows(spec)
    png = base64.b64decode(row["uri"].removeprefix("data:image/png;base64,"))
    image = Image.open(io.BytesIO(png))
    assert image.size == (mark["mark"]["width"], mark["mark"]["height"])
    scale = {"domain": [-2, 0, 2], "range": theme.signed_ramp}
    for i, line in enumerate(matrix.values):
        for j, value in enumerate(line):
            x, y = (j + 0.5) * image.width / shape[1], (i + 0.5) * image.height / shape[0]
            expected = parse_colour(theme.background) if value is None else mixed(value, scale)
            assert image.getpixel((int(x), int(y))) == pytest.approx(expected, abs=0.51)


def test_a_product_frames_its_row_its_column_and_its_cell():
    spec = read(draw_product(signed(3, 4), signed(4, 5), signed(3, 5), 1, 2, LIGHT))
    framed = [row for row in rows(spec) if "value" not in row]
    frames = [[row[side] for side in ("y", "y2", "x", "x2")] for row in framed]
    assert frames == [[1, 2, 0, 4], [0, 4, 2, 3], [1, 2, 2, 3]]
    assert spec["resolve"] == {"scale": {"color": "independent"}}
    titles = [panel["title"]["text"] for panel in spec["hconcat"]]
    assert titles == ["X  (3 × 4)", "X  (4 × 5)", "X  (3 × 5)"]


def test_a_vector_is_an_arrow_in_each_of_its_planes():
    spec = read(draw_heatmap(DIALS, LIGHT))
    arrows = [row for row in rows(spec) if "x2" in row and "row" in row]
    lengths = [(arrow["x2"] - arrow["x"], arrow["y2"] - arrow["y"]) for arrow in arrows]
    pairs = [pair for line in TURNED for pair in zip(line[::2], line[1::2], strict=True)]
    assert lengths == [pytest.approx((x / 5, y / 5)) for x, y in pairs]
    assert {arrow["row"] for arrow in arrows} == set(ARROWS)
    [colours] = scales(spec, "rule")
    assert colours == {"domain": list(ARROWS), "range": [LIGHT.query, LIGHT.key]}


def test_a_tie_is_as_thick_as_its_weight_and_gold_is_dotted():
    spec = read(draw_heatmap(TIES, LIGHT))
    found = [(r["y"], r["y2"], r["weight"]) for r in rows(spec) if "weight" in r]
    assert found == [(0.5 / 3, 0.25, 0.7), (2.5 / 3, 0.25, 0.29), (2.5 / 3, 0.75, 0.1)]
    assert {"kỷ", "lục", "the"} <= {row.get("name") for row in rows(spec)}


def test_a_ring_goes_round_the_cells_that_gold_names():
    ringed = replace(WEIGHTS, ringed_cells=[(3, 1)])
    for matrix, place in ((ringed, (3, 1)), (ringed.transposed(), (1, 3))):
        [ring] = [row for row in rows(read(draw_heatmap(matrix, LIGHT))) if "value" not in row]
        assert (ring["y"], ring["x"]) == place


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
