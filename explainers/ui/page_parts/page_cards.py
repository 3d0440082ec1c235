"""Cards that lead to pages: a thumbnail, a title and a line each, as a wall or as a few doors."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from explainers.folders import ASSETS
from explainers.translations import _
from explainers.ui import browser_files
from explainers.ui.learning_path import Contents, read_question
from explainers.ui.lecture.screens import is_lecture
from explainers.ui.page import open_page

THUMBNAILS = ASSETS / "thumbnails"
"""`<page>-light.webp` and `<page>-dark.webp`, made by `make thumbnails`."""
_component = browser_files.make_component("cards/cards.js", "cards")


@dataclass(frozen=True)
class PageCard:
    """A link with a picture."""

    name: str
    """What the server is told when it is clicked."""
    address: str
    """For a new tab: relative to the start page, without the reader's choices."""
    thumbnail: str
    title: str
    line: str
    note: str = ""
    """Small, before the title: a page's number, or how long it takes."""


def show_cards(
    key: str,
    name: str,
    groups: Mapping[str, Sequence[PageCard]],
    before: Callable[[str], None] | None = None,
) -> str:
    """Draw cards in groups; the name of the card that was clicked, if one was.

    `before` is told of the click before the page runs again, when controls can still be set. The
    browser fetches the thumbnails of the reader's theme when they come near the window.
    """

    def tell() -> None:
        if before and (clicked := _read_click(key, groups)):
            before(clicked)

    _component(
        key=key,
        data={
            "kind": key,
            "name": name,
            "files": browser_files.serve_folder(THUMBNAILS),
            "groups": [
                {"title": title, "cards": [_describe(card) for card in cards]}
                for title, cards in groups.items()
            ],
        },
        on_opened_change=tell,
    )
    return _read_click(key, groups)


def _read_click(key: str, groups: Mapping[str, Sequence[PageCard]]) -> str:
    """The card that a browser says was clicked, if there is such a card; otherwise empty."""
    clicked = getattr(st.session_state.get(key), "opened", None)
    names = {card.name for cards in groups.values() for card in cards}
    return clicked if isinstance(clicked, str) and clicked in names else ""


def _describe(card: PageCard) -> dict[str, Any]:
    return {
        "id": card.name,
        "address": card.address,
        "thumbnail": card.thumbnail,
        "title": card.title,
        "line": card.line,
        "note": card.note,
        "alt": _("First picture of: {title}", title=card.title),
    }


def show_wall(contents: Contents) -> None:
    """Every page with its first picture and its question, in the order of the contents."""
    if is_lecture():
        return
    paths = [path for pages in contents.values() for path in pages]
    places = {path: f"{number}" for number, path in enumerate(paths, start=1)}
    groups = {
        _(part): [
            PageCard(
                path,
                _find_address(path),
                Path(path).stem,
                _(title),
                read_question(Path(path).stem).replace("**", ""),
                places[path],
            )
            for path, title in pages.items()
        ]
        for part, pages in contents.items()
    }
    heading = _("All {count} pages", count=len(paths))
    st.markdown(f"## {heading}")
    opened = show_cards("wall", heading, groups)
    _show_imprint()
    open_page(opened, step="")


def _show_imprint() -> None:
    """What somebody asks who wants to use the app for more than reading."""
    st.caption(
        _(
            "**Code**: every page prints the functions that it ran. "
            "**Cite**: as CITATION.cff says. "
            "**Offline**: `make run` starts the app on a laptop, without a network. "
            "**Licence**: Apache 2.0."
        )
    )


def _find_address(path: str) -> str:
    return Path(path).stem.partition("_")[2]
