"""Many square matrices of weights in one picture: every head of a model, or of a layer.

The numbers travel as bytes and are packed; above 64 tokens nothing else would be quick enough.
"""

import hashlib
from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from explainers.charts.theme import parse_colour
from explainers.translations import _, get_language
from explainers.ui import browser_files
from explainers.ui.figure.chart import offer_files, read_theme
from explainers.ui.lecture.screens import screen

if TYPE_CHECKING:  # pandas takes most of a second to import
    import pandas as pd

_SCRIPTS = browser_files.list_scripts("tiles", "common")
_component = browser_files.make_component("tiles/tiles.js", "tiles")
STEPS, HIDDEN = 10_000, 65_535
"""A weight is so many steps of 16 bits, four places and no more; and what stands for a blank."""


@dataclass(frozen=True)
class Tiles:
    """Square matrices, one for each name `across` and each name `down`, all of the same tokens.

    `planes` holds, packed by zlib, first the low byte of every number's steps and then every high
    byte, a tile after the other, down first. A tile grows when it is clicked, and is zoomed into.
    """

    planes: bytes
    tokens: Sequence[str]
    across: Sequence[str]
    down: Sequence[str]
    alt: str


def show_tiles(tiles: Tiles, origin: str, key: str, table: "Callable[[], pd.DataFrame]") -> None:
    """Draw them."""
    theme, name = read_theme(), f"tiles {key}"
    # Changes with everything that the picture is built from anew.
    names = [[*tiles.tokens], [*tiles.across], [*tiles.down], get_language()]
    digest = hashlib.sha256(tiles.planes + repr(names).encode()).hexdigest()
    with screen("picture", name):
        result = _component(
            key=name,
            data={
                "planes": b64encode(tiles.planes).decode(),
                "digest": digest,
                "tokens": list(tiles.tokens),
                "across": [_(name) for name in tiles.across],
                "down": [_(name) for name in tiles.down],
                "words": browser_files.translate_scripts(_SCRIPTS),
                "alt": _(tiles.alt),
                "ramp": [list(parse_colour(colour)) for colour in theme.weight_ramp],
                "background": parse_colour(theme.background),
                "highlight": theme.highlight,
            },
            on_theme_change=lambda: None,
        )
    if result.theme:
        st.rerun()
    offer_files(key, origin, table, drawn=name)
