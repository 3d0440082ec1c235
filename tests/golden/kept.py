"""The kept views of pages: a small file each, with each element once for all views that have it."""

import functools
import json
import lzma
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import streamlit as st

from explainers.models.load import is_on_disk, load_model
from explainers.models.registry import WHEEL_MODELS
from tests.golden.compare import AMPLIFIED, OF_ITSELF, Change, list_changes
from tests.golden.links import list_links
from tests.golden.sent import read_sent
from tests.support.opening import opened

FOLDER = Path(__file__).parent / "views"
FILES = {"18_head_gallery": {"as it opens", "Vietnamese", "card measures"}}
"""Pages whose file asks a real model for seconds: the links under which it is kept."""
Sent = list[tuple[str, Any]]
Views = dict[str, tuple[dict[str, str], Sent]]
"""By the link's name: the link, and what was sent."""


def take(page: Path) -> Views:
    """What the page sends now under each of its links; a visitor each, who clicks on nothing.

    No heads were measured on this machine before: it may have been, by another test.
    """
    load_models()
    st.cache_data.clear()
    st.cache_resource.clear()
    with mock.patch("explainers.chapters.common.measured_heads.read_scores", return_value=None):
        return {
            name: (link, see(page, link, has_file=name in FILES.get(page.stem, {name})))
            for name, link in list_links(page)
        }


@functools.cache
def load_models() -> None:
    """A page that a model joins while it is drawn would send another thing than the next time."""
    for known in WHEEL_MODELS:
        if is_on_disk(known.id):
            load_model(known.id)


def see(page: Path, link: dict[str, str], has_file: bool = True) -> Sent:
    """What a new visitor is sent, and no traceback is among it."""
    visit = opened(page, link)
    assert not visit.exception, f"{page.stem} {link}: {[one.value for one in visit.exception]}"
    # As it would come out of the file: no tuple, no number as a key.
    return [(name, json.loads(json.dumps(value))) for name, value in read_sent(visit, has_file)]


def read_kept(page: Path, folder: Path = FOLDER) -> Views:
    """What was recorded; nothing of a page that is new."""
    file = folder / f"{page.stem}.xz"
    if not file.exists():
        return {}
    told = json.loads(lzma.decompress(file.read_bytes()))
    elements = [tuple(one) for one in told["elements"]]
    return {
        name: (view["link"], [elements[place] for place in view["sent"]])
        for name, view in told["views"].items()
    }


def keep(page: Path, views: Views, folder: Path = FOLDER) -> None:
    """Write a page's file."""
    places: dict[str, int] = {}
    told = {
        name: {
            "link": link,
            "sent": [
                places.setdefault(json.dumps(one, ensure_ascii=False), len(places)) for one in sent
            ],
        }
        for name, (link, sent) in views.items()
    }
    text = json.dumps(
        {"views": told, "elements": [json.loads(one) for one in places]}, ensure_ascii=False
    )
    folder.mkdir(exist_ok=True)
    packed = lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME)
    (folder / f"{page.stem}.xz").write_bytes(packed)


def list_differences(page: Path, kept: Views, now: Views) -> Iterator[str]:
    """A line for each thing that is not as it was: link, element, way to it, then and now.

    The same change in many views is told once, with their number.
    """
    told: dict[str, list[str]] = {}
    for name in dict.fromkeys((*kept, *now)):
        if name not in kept or name not in now:
            told.setdefault("the link came" if name in now else "the link went", []).append(name)
            continue
        (link, old), (other, new) = kept[name], now[name]
        changes = list_changes(old, new, AMPLIFIED.get((page.stem, name), OF_ITSELF))
        if link != other:
            changes = [Change("the link", link, other), *changes]
        for change in changes:
            told.setdefault(str(change), []).append(name)
    for line, names in told.items():
        others = f" (and under {len(names) - 1} more links)" if len(names) > 1 else ""
        yield f"{names[0]}{others} · {line}"
