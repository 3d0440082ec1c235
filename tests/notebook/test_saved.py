"""A picture as a file: whole, as a figure for a paper, and as numbers."""

import csv
import re
import zlib
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from streamlit.testing.v1 import AppTest

from explainers.models.registry import ModelError
from explainers.notebook import head_picture, still
from explainers.notebook.look import look_at_weights
from tests.notebook.test_given_weights import GIVEN, KEYS, QUERIES, SQUARE

PICTURE = look_at_weights(GIVEN, QUERIES, KEYS, "mine")
CAUSAL = np.tril(SQUARE)
SVG = "{http://www.w3.org/2000/svg}"


def show_in_streamlit():
    """A script of somebody else's app."""
    import streamlit as st

    from tests.notebook.test_saved import PICTURE

    st.components.v1.html(PICTURE.page, height=700)


def test_an_app_of_streamlits_takes_the_page():
    [frame] = AppTest.from_function(show_in_streamlit).run().main.children.values()
    assert frame.proto.srcdoc == PICTURE.page


def saved(folder, name, picture=PICTURE, **options):
    return picture.save(folder / name, **options)


def test_the_whole_picture(tmp_path):
    assert saved(tmp_path, "heads.HTML").read_text(encoding="utf-8") == PICTURE.page


def test_in_an_svg_text_is_text_and_a_cell_has_the_colour_of_its_weight(tmp_path):
    file = saved(tmp_path, "heads.svg", heads=[(0, 1), (2, 5)])
    root = ElementTree.fromstring(file.read_text(encoding="utf-8"))
    written = [node.text for node in root.iter(f"{SVG}text")]
    assert {"layer 0, head 1", "layer 2, head 5", *QUERIES, *KEYS} <= set(written)
    fills = [node.get("fill", "") for node in root.iter(f"{SVG}rect")]
    cells = [one for one in fills if re.fullmatch("#[0-9a-f]{6}", one)]
    roots = np.sqrt(np.concatenate([GIVEN[0, 1].ravel(), GIVEN[2, 5].ravel()]))
    greens = [int(one[3:5], 16) for one in cells if one != still.MASKED][1:]  # the ground
    assert np.abs(np.array(greens) - 255 * (1 - roots)).max() <= 1.6


def test_a_pdf_keeps_its_text_and_a_png_has_pixels(tmp_path):
    pdf = saved(tmp_path, "heads.pdf").read_bytes()
    assert pdf.startswith(b"%PDF")
    streams = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", pdf, re.DOTALL)
    assert any(b"/ToUnicode" in one or b"begincmap" in _inflate(one) for one in [pdf, *streams])
    with Image.open(saved(tmp_path, "heads.png")) as image:
        assert image.width > 400


def _inflate(stream):
    try:
        return zlib.decompress(stream)
    except zlib.error:
        return b""


def test_a_large_matrix_is_an_image_with_the_largest_of_what_a_pixel_covers():
    numbers = np.zeros((90, 80), dtype=np.float32)
    numbers[40, 70] = 1
    panel = still.Panel("one", numbers, np.tri(90, 80, dtype=bool), ["q"] * 90, ["k"] * 80)
    drawn = still.draw_svg("", [panel])
    assert drawn.count("<rect") < 10
    assert "data:image/png;base64," in drawn
    image = still.write_png(np.array([[0, 1, 255]]), still._list_colours())
    assert zlib.crc32(b"IEND") == int.from_bytes(image[-4:])


def test_tables_have_a_row_for_each_weight_that_is_allowed(tmp_path):
    picture = look_at_weights(CAUSAL, KEYS)
    file = saved(tmp_path, "heads.csv", picture, heads=[(1, 2)])
    with file.open(encoding="utf-8", newline="") as opened:
        rows = list(csv.DictReader(opened))
    assert len(rows) == 7 * 8 // 2
    last = {
        "layer": "1",
        "head": "2",
        "query": "6",
        "key": "5",
        "query_token": "z",
        "key_token": "y",
    }
    [found] = [row for row in rows if (row["query"], row["key"]) == ("6", "5")]
    assert last.items() <= found.items()
    assert float(found["weight"]) == pytest.approx(CAUSAL[1, 2, 6, 5], abs=1e-6)
    table = pd.read_parquet(saved(tmp_path, "heads.parquet", picture))
    assert len(table) == 3 * 6 * len(rows)
    assert float(table["weight"].sum()) == pytest.approx(CAUSAL.sum(), rel=1e-5)


def test_arrays_are_the_weights(tmp_path):
    whole = np.load(saved(tmp_path, "heads.npy"), allow_pickle=False)
    np.testing.assert_allclose(whole, GIVEN, atol=1e-6)
    with np.load(saved(tmp_path, "heads.npz", heads=[(2, 3)]), allow_pickle=False) as arrays:
        assert arrays.files == ["layer2_head3"]
        np.testing.assert_allclose(arrays["layer2_head3"], GIVEN[2, 3], atol=1e-6)


REFUSED = {
    "another kind": ("heads.gif", {}, "saved as .html, .svg, .pdf, .png, .csv, .parquet, .npy"),
    "no such head": ("heads.svg", {"heads": [(0, 9)]}, "Layer 0, head 9 is not in this picture"),
    "too many": ("heads.svg", {"heads": [*PICTURE.weights]}, "at most 12 heads side by side"),
    "too long": ("heads.csv", {}, "at most 100 rows; these weights would be 630"),
    "no array": ("heads.npy", {"heads": [(1, 0)]}, "here layers [1] have [1] heads"),
}


@pytest.mark.parametrize(("name", "options", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_saved_is_said_and_leaves_no_file(
    name, options, reason, tmp_path, monkeypatch
):
    monkeypatch.setattr(head_picture, "MOST_ROWS", 100)
    with pytest.raises(ModelError, match=re.escape(reason)):
        saved(tmp_path, name, **options)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "missing"), [("a.pdf", "vl_convert"), ("a.png", "vl_convert"), ("a.parquet", "pandas")]
)
def test_a_package_that_is_missing_is_named(name, missing, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, missing, None)
    with pytest.raises(ModelError, match=missing.replace("_", "-")):
        saved(tmp_path, name)
