"""Weights of any origin: the same picture, without torch or transformers; errors name shapes.

And what it is saved as.
"""

import csv
import json
import pickle
import re
import subprocess
import sys
import zlib
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
import torch
from PIL import Image
from streamlit.testing.v1 import AppTest

from explainers.models.registry import ModelError
from explainers.notebook import head_picture, packed_heads, still
from explainers.notebook.look import look, look_at_weights
from explainers.notebook.single_file import BROWSER
from tests.notebook.test_look import (
    HOSTILE,
    TEXT,
    TOKENIZER,
    assert_codes,
    assert_drawn,
    count_tags,
    data_of,
    eager_weights,
    ids_of,
    read_eagerly,
    unpack,
)
from tests.support.opening import ROOT
from tests.support.scripts import run_script
from tests.support.tiny_families import tiny

LAYERS, HEADS, Q_LEN, KV_LEN = 3, 6, 5, 7
QUERIES, KEYS = list("abcde"), list("tuvwxyz")
GIVEN = np.random.default_rng(0).dirichlet(np.full(KV_LEN, 0.3), (LAYERS, HEADS, Q_LEN))
SQUARE = np.random.default_rng(1).dirichlet(np.full(KV_LEN, 0.3), (LAYERS, HEADS, KV_LEN))
ALONE = """
import sys
from typing import Any
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("torch", "transformers", "pandas", "tokenizers", "altair"):
            raise ImportError(name)
sys.meta_path.insert(0, Refuse())
import numpy as np
from explainers import look
weights = np.random.default_rng(0).dirichlet(np.ones(7), (3, 6, 5)).astype("float32")
picture = look(weights=weights, tokens=list("abcde"), key_tokens=list("tuvwxyz"))
picture.save(sys.argv[1])
assert "<svg" in picture.still and "iframe" in picture._repr_html_()
"""


def drawn(*arguments, **options):
    """What the browser is sent."""
    return data_of(look_at_weights(*arguments, **options).page)


def test_neither_torch_nor_transformers_is_needed(tmp_path):
    """Nor pandas; the rest of the app's packages is not even asked for."""
    run = [sys.executable, "-c", ALONE, str(tmp_path / "heads.svg")]
    told = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert told.returncode == 0, told.stderr[-2000:]
    assert told.stdout == "Weights: 18 heads, 5 queries on 7 keys, 0.1 MB\n"
    assert (tmp_path / "heads.svg").read_text(encoding="utf-8").startswith("<svg")


FORMS = {
    "numpy": GIVEN,
    "half of numpy": GIVEN.astype(np.float16),
    "lists": GIVEN.tolist(),
    "torch": torch.tensor(GIVEN, requires_grad=True),
    "bfloat16": torch.tensor(GIVEN).bfloat16(),
    "a batch of one": torch.tensor(GIVEN)[:, None],
    "as transformers": tuple(torch.tensor(GIVEN)[:, None]),
}


@pytest.mark.parametrize("form", FORMS)
def test_each_byte_is_the_weight_that_was_given(form):
    data = drawn(FORMS[form], QUERIES, KEYS)
    assert (data["queries"], data["tokens"]) == (QUERIES, KEYS)
    stored = {"half of numpy": GIVEN.astype(np.float16), "bfloat16": FORMS["bfloat16"].float()}
    assert_drawn(data, stored.get(form, GIVEN))


def test_the_browser_puts_every_byte_where_it_belongs():
    """Of more keys than it takes at a time, and where not all is allowed."""
    rng = np.random.default_rng(2)
    weights = rng.random((1, 3, 70, 150)) * (rng.random((70, 150)) > 0.4)
    data = drawn(weights, [str(place) for place in range(70)], [str(place) for place in range(150)])
    script = f"""import {{ Heads }} from "{(BROWSER / "look" / "heads.js").as_uri()}";
    const heads = new Heads({json.dumps(data)});
    await heads.unpack();
    console.log(JSON.stringify([...heads.layers[0].planes.low]));"""
    placed = np.array(json.loads(run_script(script)), dtype=np.uint8).reshape(3, 70, 150)
    assert (placed == packed_heads.encode_weights(weights[0])).all()


def test_a_file_is_read_and_one_that_could_run_code_is_not(tmp_path):
    np.save(tmp_path / "weights.npy", GIVEN)
    assert_drawn(drawn(tmp_path / "weights.npy", QUERIES, KEYS), GIVEN)
    np.save(tmp_path / "objects.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    (tmp_path / "pickled.npy").write_bytes(pickle.dumps([1]))
    (tmp_path / "short.npy").write_bytes((tmp_path / "weights.npy").read_bytes()[:-1])
    for name, told in {
        "objects": "holds pickled objects, which could run code. np.save writes one of numbers",
        "pickled": "is no whole .npy file. np.save writes one of numbers: weights are (layers, ",
        "short": "is no whole .npy file. np.save writes one of numbers: weights are (layers, ",
        "missing": "cannot be read: No such file or directory.",
    }.items():
        with pytest.raises(ModelError, match=re.escape(f"{name}.npy {told}")) as refused:
            look(weights=str(tmp_path / f"{name}.npy"), tokens=QUERIES)
        assert "allow_pickle" not in str(refused.value)


def test_layers_may_have_other_numbers_of_heads():
    data = drawn([GIVEN[0], GIVEN[1, :2]], QUERIES, KEYS)
    assert [layer["heads"] for layer in data["layers"]] == [6, 2]


def test_fewer_queries_are_the_last_of_the_text():
    data = drawn(GIVEN, KEYS)
    assert (data["queries"], data["offset"], data["tokens"]) == (None, 2, KEYS)
    assert look_at_weights(GIVEN, KEYS).tokens == (KEYS[2:], KEYS)


def write_four(model, **options):
    """Four tokens behind the text, with what was looked at for each."""
    model.set_attn_implementation("eager")
    return model.generate(
        ids_of(TEXT),
        max_new_tokens=4,
        do_sample=False,
        output_attentions=True,
        return_dict_in_generate=True,
        **options,
    )


@pytest.mark.parametrize("cache", [None, "static"])
def test_a_growing_cache_is_one_square(cache):
    """What `generate` returned step by step is what one pass over the whole text says."""
    model = tiny("Llama")
    written = write_four(model, cache_implementation=cache)
    tokens = TOKENIZER.convert_ids_to_tokens(written.sequences[0])
    assert len(tokens) == 15, "the model stopped early"
    data = drawn(written.attentions, tokens)
    assert data["tokens"] == tokens[:-1], "the last one was written, and never read"
    assert_drawn(data, eager_weights(model, " ".join(tokens[:-1])))


def test_what_a_decoder_looked_at_step_by_step_is_one_rectangle():
    model = tiny("BART")
    written = write_four(model, num_beams=1)
    asking = TOKENIZER.convert_ids_to_tokens(written.sequences[0])[:-1]
    whole = read_eagerly(model, decoder_input_ids=written.sequences[:, :-1])
    data = drawn(written.cross_attentions, asking, TEXT.split())
    assert_drawn(data, torch.cat(whole.cross_attentions))


def test_rows_that_add_up_to_something_else_are_said():
    assert "add up" not in drawn(GIVEN, QUERIES, KEYS)["unnamed"]
    assert drawn(GIVEN / 2, QUERIES, KEYS)["unnamed"].endswith("add up to 0.50 to 1.00, not to 1.")


def test_words_of_two_texts_are_merged_each_by_its_own():
    """By hand: three queries make two words, five keys make three."""
    weights = np.arange(15, dtype=np.float32).reshape(1, 3, 5)
    expected: Any = [
        [(0 + 1 + 5 + 6) / 2, (2 + 7) / 2, (3 + 4 + 8 + 9) / 2],
        [10 + 11, 12, 13 + 14],
    ]
    merged = packed_heads.merge_words(weights, (0, 0, 1), (0, 0, 1, 2, 2))
    np.testing.assert_allclose(merged[0], expected)


def test_mean_and_rollout_by_hand():
    assert_drawn(drawn(GIVEN, QUERIES, KEYS, show="mean"), GIVEN.mean(axis=1, keepdims=True))
    told = drawn(SQUARE, KEYS, show="rollout")
    assert "no measure of what the output depends on" in told["unnamed"]
    rolled = np.eye(KV_LEN)
    for layer, packed in zip(SQUARE, told["layers"], strict=True):
        rolled = (layer.mean(axis=0) + np.eye(KV_LEN)) / 2 @ rolled
        assert_codes(unpack(packed, told["masks"], 1)[0], torch.tensor(rolled))


def test_of_a_long_text_the_head_that_is_named_is_in_full(monkeypatch):
    """And by itself, where the whole layer would be too much."""
    monkeypatch.setattr(packed_heads, "MOST_IN_FULL", 4)
    monkeypatch.setattr(packed_heads, "OVERVIEW_SIDES", (3, 2))
    picture = look_at_weights(GIVEN, QUERIES, KEYS, layers=[(1, 4), 2])
    data = data_of(picture.page)
    assert data["masks"][data["layers"][0]["mask"]]["rows"] == 3
    assert {layer: full["only"] for layer, full in data["full"].items()} == {
        "1": [4],
        "2": [*range(HEADS)],
    }
    assert [*picture.weights] == [(1, 4), *((2, head) for head in range(HEADS))]
    np.testing.assert_allclose(picture.weights[1, 4], GIVEN[1, 4], atol=1e-6)
    assert_codes(unpack(data["full"]["1"], data["masks"], 1)[0], torch.tensor(GIVEN[1, 4]))
    monkeypatch.setattr(packed_heads, "MOST_WEIGHTS", 2 * Q_LEN * KV_LEN)
    [chosen] = data_of(look_at_weights(GIVEN, QUERIES, KEYS).page)["full"].values()
    assert len(chosen["only"]) == 2
    monkeypatch.setattr(packed_heads, "MOST_NAMED", 4 * Q_LEN * KV_LEN)
    with pytest.raises(ModelError, match="at most 140 weights in full: name fewer layers"):
        look_at_weights(GIVEN, QUERIES, KEYS, layers=[2])


RAGGED = [np.zeros((2, 3, 3)), np.zeros((2, 3, 4))]
REFUSED = {
    "three axes": ({"weights": GIVEN[0]}, "has the shape (6, 5, 7): weights are (layers, heads"),
    "no array": (
        {"weights": 7},
        "This has the shape (): weights are (layers, heads, q_len, kv_len)",
    ),
    "nothing": ({"weights": []}, "These are 0 layers: weights are"),
    "ragged lists": ({"weights": [[[1, 2], [3]]]}, "something else than numbers, or is ragged"),
    "a batch": ({"weights": [np.zeros((2, 6, 5, 7))]}, "shape (2, 6, 5, 7): a batch of several"),
    "two axes": ({"weights": [np.zeros((5, 7))]}, "Layer 0 has the shape (5, 7): weights are"),
    "no numbers": ({"weights": np.full(GIVEN.shape, "x")}, "Layer 0 holds no numbers: could not"),
    "other layers": ({"weights": RAGGED}, "keys: not (2, 3, 3), (2, 3, 4)."),
    "steps": (
        {"weights": [[GIVEN[0]], [GIVEN[0, :, :1]], [GIVEN[0, :, :1, :4]]]},
        "(6, 1, 4): keys",
    ),
    "steps of layers": ({"weights": [[GIVEN[0]], [*GIVEN]]}, "same layers; these have [1, 3]"),
    "scores": ({"weights": GIVEN * -3}, "Layer 0 has numbers from -2.2 to"),
    "too large": ({"weights": GIVEN * 3}, "of shape (6, 5, 7): weights are between 0 and 1"),
    "NaN": ({"weights": GIVEN * np.nan}, "Layer 0 has weights that are not numbers"),
    "a dict": ({"weights": {}}, "dict holds something else than numbers"),
    "one too many": ({"tokens": [*QUERIES, "f"]}, "(5, 7), for 6 tokens and 7 key_tokens"),
    "no tokens": ({"tokens": None}, "tokens is a list of texts"),
    "ids": ({"tokens": [1, 2]}, "this is list of int"),
    "a text": ({"tokens": "abcde"}, "this is str."),
    "too few": ({"tokens": KEYS[:3]}, "(q_len, kv_len) = (5, 7), for 3 tokens and 7 key_tokens"),
    "other keys": ({"key_tokens": KEYS[:3]}, "(5, 7), for 5 tokens and 3 key_tokens"),
    "one text": ({"key_tokens": None}, "(5, 7), for 5 tokens and no key_tokens"),
    "too long": ({"weights": np.zeros((1, 1, 1, 4_097))}, "at most 4,096 queries and keys"),
    "many layers": ({"weights": np.zeros((20_001, 1, 1, 1))}, "20001 layers: weights are"),
    "too many": ({"weights": np.zeros((1, 20_001, 1, 1))}, "have (20001, 1, 1)"),
    "a layer": ({"layers": [3]}, "Weights has layers 0 to 2: there is no layer 3"),
    "a head": ({"layers": [(1, 6)]}, "Layer 1 has heads 0 to 5: there is no head 6"),
    "show": ({"show": "sum"}, "show is one of heads, mean, rollout: not 'sum'"),
    "rollout": ({"show": "rollout"}, "this is of 5 queries and 7 keys"),
}


@pytest.mark.parametrize(("other", "reason"), REFUSED.values(), ids=REFUSED)
def test_an_error_names_shapes(other, reason):
    usual = {"weights": GIVEN, "tokens": QUERIES, "key_tokens": KEYS} | other
    with pytest.raises(ModelError, match=re.escape(reason)):
        look(**usual)


def test_tokens_and_titles_are_never_html():
    hostile = look_at_weights(SQUARE, [HOSTILE, "\x00\ud800", *KEYS[2:]], title=HOSTILE)
    harmless = look_at_weights(SQUARE, KEYS)
    assert count_tags(hostile.page) == count_tags(harmless.page)
    assert count_tags(hostile.still) == count_tags(harmless.still)
    assert count_tags(hostile._repr_html_()) == {"div": 2, "img": 1, "iframe": 1}
    ElementTree.fromstring(hostile.still)  # a sign that XML forbids would end it


PICTURE = look_at_weights(GIVEN, QUERIES, KEYS, "mine")
CAUSAL = np.tril(SQUARE)
SVG = "{http://www.w3.org/2000/svg}"


def show_in_streamlit():
    """A script of somebody else's app."""
    import streamlit as st

    from tests.notebook.test_given_weights import PICTURE

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


UNSAVED = {
    "another kind": ("heads.gif", {}, "saved as .html, .svg, .pdf, .png, .csv, .parquet, .npy"),
    "no such head": ("heads.svg", {"heads": [(0, 9)]}, "Layer 0, head 9 is not in this picture"),
    "too many": ("heads.svg", {"heads": [*PICTURE.weights]}, "at most 12 heads side by side"),
    "too long": ("heads.csv", {}, "at most 100 rows; these weights would be 630"),
    "no array": ("heads.npy", {"heads": [(1, 0)]}, "here layers [1] have [1] heads"),
}


@pytest.mark.parametrize(("name", "options", "reason"), UNSAVED.values(), ids=UNSAVED)
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
