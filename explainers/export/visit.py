"""A page as a visitor gets it, drawn by Python alone: its elements, and its notes for a file."""

import functools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.pages_manager import PagesManager
from streamlit.testing.v1 import AppTest, app_test

from explainers.folders import ROOT
from explainers.translations import set_language
from explainers.ui.export_mode import exporting

PAGES = {path.stem.partition("_")[2]: path for path in sorted(ROOT.glob("pages/*.py"))}
"""By their places in the address."""
START = "start"
LIMIT = 300
"""Seconds of a page."""
PICTURE = "picture-picture"


@dataclass(frozen=True)
class Visit:
    """What a page sent, and what it noted, by kind and name."""

    test: AppTest
    notes: dict[tuple[str, str], Any]
    date: str
    """When it was drawn."""

    def noted(self, kind: str) -> dict[str, Any]:
        """The notes of a kind, by their names."""
        return {name: what for (one, name), what in self.notes.items() if one == kind}

    @property
    def title(self) -> str:
        """What the page is called, in the language of the visit."""
        return next(one.value for one in list_elements(self.test.main) if one.type == "title")


@functools.cache
def prepare() -> None:
    """A server knows from its first visitor on that `contents.py` lists the pages; Streamlit's
    tests, by which pages are drawn here, forget it before every run, and search all packages."""
    PagesManager.uses_pages_directory = False
    served = type("Served", (PagesManager,), {"uses_pages_directory": False})
    app_test.PagesManager = served  # type: ignore[misc,assignment] # it is asked for by its name
    scan = functools.cache(manifest_scanner.scan_component_manifests)
    manifest_scanner.scan_component_manifests = scan


def visit(
    page: str,
    link: Mapping[str, str],
    language: str = "en",
    theme: str = "light",
    is_whole: bool = False,
) -> Visit:
    """A new visitor follows a link; `is_whole` with all that is open to be opened."""
    prepare()
    test = AppTest.from_file(str(ROOT / "contents.py"), default_timeout=LIMIT)
    if page != START:
        test.switch_page(PAGES[page].relative_to(ROOT).as_posix())
    for key, value in {"predict": "false", "lang": language, **link}.items():
        test.query_params[key] = value
    with exporting(theme, is_whole) as written:
        test.run()
    if test.exception:
        raise RuntimeError(f"{page} {dict(link)}: {test.exception[0].value}")
    set_language(language)  # the page set it for a thread of its own
    return Visit(test, written.notes, written.date)


def list_elements(block: Any) -> Iterator[Any]:
    """Everything in a block, in the order in which it is read."""
    for child in getattr(block, "children", {}).values():
        yield child
        yield from list_elements(child)


def read_data(element: Any) -> Any:
    """What was sent to a component; pictures of a file leave it to the file to write its link."""
    data = json.loads(element.proto.bytes or b"null")
    return {**data, "link": {}} if isinstance(data, dict) and "link" in data else data


def find_picture(test: AppTest) -> dict[str, Any]:
    """What is sent for the page's first picture."""
    for one in list_elements(test.main):
        if one.type == "bidi_component" and one.proto.component_name.endswith(PICTURE):
            data: dict[str, Any] = read_data(one)
            return data
    raise LookupError("the page has no first picture")
