"""What the picture of serving calls a difference: rounding only where the server says so."""

import json

from tests.support.scripts import SCRIPTS, run_script

RUN = """
globalThis.DOMParser = class { parseFromString() { return { body: {} }; } };
const named = [];
for (const [name, file, given] of CASES) {
  const view = (await import(file))[name];
  const properties = Object.entries(given).map(([key, value]) => [key, { value }]);
  const told = Object.create(view.prototype, Object.fromEntries(properties)).sentence();
  named.push([told.name, told.classes.gap ?? ""]);
}
console.log(JSON.stringify(named));
"""
FOLDER = SCRIPTS / "picture" / "heroes"


def drafts(mask, kind):
    tree = {"drafts": ["a"], "right": [0], "largest": "37.7"}
    way = {"cells": ["1"], "gap": "15.3", "kind": kind}
    return {"hero": {"data": {"drafts": tree}, "choices": {"draft_mask": mask}}, "way": way}


def chunks(kind):
    chunked = {"size": 8, "passes": 4, "weights": 192, "gap": "2.1", "kind": kind}
    hero = {"data": {"chunks": {"largest": "28.9"}}}
    return {"hero": hero, "chunked": chunked, "whole": {**chunked, "size": 25}}


def shared(kind, is_same):
    change = {"shared": 2, "blocks": 1, "moved": ["001"], "gap": "2.1", "next": "The"}
    change |= {"kind": kind, "isSame": is_same}
    data = {"others": [" a", " b"], "tokens": [["x"], ["x"]], "block": 2}
    hero = {"data": data, "changed": -1, "change": change}
    return {"hero": hero, "texts": {"second": ["a", "b", "c"]}, "reused": 2}


DRAFTS, CHUNKS, PREFIX = (
    (f"{name}View", (FOLDER / f"serving_{name.lower()}.js").as_uri())
    for name in ("Drafts", "Chunks", "Prefix")
)
CASES = [
    (DRAFTS, drafts("tree", "rounding"), ["hero_drafts", ""]),
    (DRAFTS, drafts("tree", "exact"), ["hero_drafts_exact", ""]),
    (DRAFTS, drafts("tree", "real"), ["hero_drafts_real", "wrong"]),
    (DRAFTS, drafts("causal", "real"), ["hero_drafts_causal", "wrong"]),
    (DRAFTS, drafts("counted", "rounding"), ["hero_drafts_counted", ""]),
    (CHUNKS, chunks("rounding"), ["hero_chunks", ""]),
    (CHUNKS, chunks("exact"), ["hero_chunks_exact", ""]),
    (CHUNKS, chunks("real"), ["hero_chunks_real", "wrong"]),
    *((PREFIX, shared(kind, True), ["hero_shared", ""]) for kind in ("exact", "rounding")),
    (PREFIX, shared("rounding", False), ["hero_shared_other", ""]),
    *((PREFIX, shared("real", is_same), ["hero_shared_real", ""]) for is_same in (True, False)),
]


def test_each_kind_of_difference_has_its_sentence():
    given = json.dumps([[*view, given] for view, given, _ in CASES])
    named = json.loads(run_script(RUN.replace("CASES", given)))
    assert named == [expected for *_, expected in CASES]
