"""The sentences of all pictures: what they leave open is filled in by the script or the data."""

import re

import pytest

from tests.golden.kept import read_kept
from tests.support.opening import PAGES, ROOT

FOLDER = ROOT / "explainers" / "ui" / "browser" / "picture" / "heroes"
VIEWS = "as it opens", "Vietnamese"
PUT_TOGETHER = {"own_nowhere", "own_elsewhere", "own_itself"}
"""Names that the script of idle heads makes of two parts."""


def read_heroes(page):
    """What was recorded of the pictures at the top of a page, in both languages."""
    kept = read_kept(page)
    sent = [one.get("data") for view in VIEWS for _name, one in kept[view][1] if "component" in one]
    return [one for one in sent if isinstance(one, dict) and "looks" in one]


def names_in(value):
    """Every name in the data."""
    if isinstance(value, dict):
        yield from value
    if isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from names_in(one)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_picture_fills_every_slot_of_its_sentences(page):
    for sent in read_heroes(page):
        files = [FOLDER / f"{sent['kind']}.js", *FOLDER.glob(f"{sent['kind']}_*.js")]
        script = "\n".join(file.read_text(encoding="utf-8") for file in files)
        filled = set(re.findall(r"\b(\w+)(?:[:,]| *})", script)) | set(names_in(sent))
        for name, template in sent["texts"].items():
            assert template, name
            assert set(re.findall(r"\{\{(\w+)\}\}", template)) <= filled | PUT_TOGETHER, name
