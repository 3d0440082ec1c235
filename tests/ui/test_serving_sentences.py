"""What the picture of serving calls a difference: rounding only where the server says so."""

import json

import pytest

from explainers.translations import load_sections
from tests.support.scripts import SCRIPTS, run_script

RUN = """
globalThis.DOMParser = class {{ parseFromString() {{ return {{ body: {{}} }}; }} }};
const {{ {view} }} = await import("{file}");
const view = Object.create({view}.prototype, Object.fromEntries(
  Object.entries({given}).map(([name, value]) => [name, {{ value }}])));
const {{ name, classes }} = view.sentence();
console.log(JSON.stringify([name, classes.gap ?? ""]));
"""
FOLDER = SCRIPTS / "picture" / "heroes"


def name_sentence(view, file, given):
    script = RUN.format(view=view, file=(FOLDER / file).as_uri(), given=json.dumps(given))
    return json.loads(run_script(script))


@pytest.mark.parametrize(
    ("mask", "kind", "named"),
    [
        ("tree", "rounding", ["hero_drafts", ""]),
        ("tree", "exact", ["hero_drafts_exact", ""]),
        ("tree", "real", ["hero_drafts_real", "wrong"]),
        ("causal", "real", ["hero_drafts_causal", "wrong"]),
        ("counted", "rounding", ["hero_drafts_counted", ""]),
    ],
)
def test_drafts(mask, kind, named):
    tree = {"drafts": ["a"], "right": [0], "largest": "37.7"}
    way = {"cells": ["1"], "gap": "15.3", "kind": kind}
    given = {"hero": {"data": {"drafts": tree}, "choices": {"draft_mask": mask}}, "way": way}
    assert name_sentence("DraftsView", "serving_drafts.js", given) == named


@pytest.mark.parametrize(
    ("kind", "named"),
    [
        ("rounding", ["hero_chunks", ""]),
        ("exact", ["hero_chunks_exact", ""]),
        ("real", ["hero_chunks_real", "wrong"]),
    ],
)
def test_chunks(kind, named):
    chunked = {"size": 8, "passes": 4, "weights": 192, "gap": "2.1", "kind": kind}
    hero = {"data": {"chunks": {"largest": "28.9"}}}
    given = {"hero": hero, "chunked": chunked, "whole": {**chunked, "size": 25}}
    assert name_sentence("ChunksView", "serving_chunks.js", given) == named


@pytest.mark.parametrize(
    ("kind", "is_same", "named"),
    [
        ("exact", True, "hero_shared"),
        ("rounding", True, "hero_shared"),
        ("rounding", False, "hero_shared_other"),
        ("real", True, "hero_shared_real"),
        ("real", False, "hero_shared_real"),
    ],
)
def test_shared_beginnings(kind, is_same, named):
    change = {"shared": 2, "blocks": 1, "moved": ["001"], "gap": "2.1", "next": "The"}
    change |= {"kind": kind, "isSame": is_same}
    data = {"others": [" a", " b"], "tokens": [["x"], ["x"]], "block": 2}
    hero = {"data": data, "changed": -1, "change": change}
    given = {"hero": hero, "texts": {"second": ["a", "b", "c"]}, "reused": 2}
    assert name_sentence("PrefixView", "serving_prefix.js", given)[0] == named


def test_the_page_promises_no_more_than_equality_up_to_rounding():
    """Where two tokens are nearly equally probable, the picture says that rounding decides."""
    sections = load_sections("15_serving")
    for name in ("question", "next_question", "one_sentence"):
        assert "rounding" in sections[name]
    assert not [name for name, words in sections.items() if "without changing" in words]
