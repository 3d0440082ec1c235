"""What a page must say, so that a choice of its picture can be told late: what shows it.

A picture is sent with all that its reader can choose in it. The browser shows it and asks for no
run, but for the parts of the page that are marked as following the choice.
"""

import json
import subprocess
from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from explainers.ui.figure import hero
from explainers.ui.figure.hero import ANY_CHOICE, Hero, HeroChoice
from tests.golden.kept import load_models
from tests.golden.sent import _read_element
from tests.support.opening import PAGES, opened
from tests.support.scripts import DENO

SPELL = Path(__file__).with_name("spell.js")
FOLLOWS, OF = "follows ", " of "
ITS_OWN = {"choices", "link", "usual"}
"""What a picture is sent of what is chosen now."""
OF_FIRST_RUNS = {"value", "raw_values"}
"""Of a widget, if it got its value in a run before: a page runs twice where a model comes late."""
PICTURE = "picture-picture"
FILES = "takeaway"
"""The row of files, which the browser takes for a part that follows all choices."""
BAD_LINK = ":material/link_off:"
MOST_TRIED = 3
"""Values of a choice."""


def read_parts(block: Any, following: frozenset[str] = frozenset()) -> Iterator[tuple[Any, str]]:
    """Each element, by the choices that it is marked to follow, and what is sent of it.

    A mark itself is an element as well: where there is none yet, a browser can look for nothing.
    """
    for child in getattr(block, "children", {}).values():
        name = getattr(child, "key", None) or ""
        names = {*name.rpartition(OF)[2].split()} if name.startswith(FOLLOWS) else set()
        if names:
            yield following, name
        if name == FILES:
            names = {ANY_CHOICE}
        if getattr(child, "icon", "") == BAD_LINK:
            continue  # the browser offers nothing that a link could not ask for
        if getattr(child, "proto", None) is not None and not hasattr(child, "children"):
            yield following, json.dumps(strip(_read_element(child)), sort_keys=True)
        yield from read_parts(child, following | names)


def strip(sent: Any) -> Any:
    """Without what a picture is told of the choices of now, and a widget in its first runs."""
    if PICTURE not in sent.get("component", ""):
        return {name: one for name, one in sent.items() if name not in OF_FIRST_RUNS}
    data = {name: one for name, one in sent["data"].items() if name not in ITS_OWN}
    return sent | {"data": data}


def see(page: Path, link: dict[str, Any]) -> tuple[list[Hero], list[tuple[Any, str]]]:
    """The pictures of a page under a link, and all that it shows."""
    shown: list[Hero] = []
    draw = hero._draw_picture

    def note(text: Any, picture: Hero, *more: Any) -> None:
        shown.append(picture)
        draw(text, picture, *more)

    with mock.patch.object(hero, "_draw_picture", note):
        visit = opened(page, link)
    return shown, list(read_parts(visit.main))


def spell_in_browser(choices: list[HeroChoice]) -> list[list[str]]:
    """How `common/address.js` writes each value of these choices, one after the other."""
    values = [[value, one.control.link_form] for one in choices for value in one.values]
    done = subprocess.run(
        [DENO, "run", "--quiet", "--no-config", "--allow-read", str(SPELL)],
        input=json.dumps(values),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    spelled: list[list[str]] = json.loads(done.stdout)
    return spelled


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_shows_a_choice_is_marked_and_the_picture_itself_has_all(page):
    load_models()
    [picture, *_more], usual = see(page, {})
    late = [one for one in picture.choices if not one.is_elsewhere and None not in one.values]
    written = [one.control.format_for_url(value) for one in late for value in one.values]
    assert spell_in_browser(late) == [[one] if isinstance(one, str) else one for one in written]
    for choice in picture.choices:
        name = choice.control.key
        others = [one for one in choice.values if one != choice.value and one is not None]
        if choice.is_elsewhere or name.startswith("guess_"):
            continue
        for value in others[:: max(1, len(others) // MOST_TRIED)][:MOST_TRIED]:
            _shown, seen = see(page, {name: choice.control.format_for_url(value)})
            before, after = (
                [sent for follows, sent in parts if not {name, ANY_CHOICE} & follows]
                for parts in (usual, seen)
            )
            changed = list(unified_diff(before, after, n=0, lineterm=""))
            assert not changed, "\n".join([f"{name} = {value}", *changed])
