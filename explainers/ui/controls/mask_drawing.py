"""The control for a mask that the reader draws cell by cell: a short text in the URL."""

import re
from dataclasses import dataclass

import streamlit as st

from explainers.messages import N_
from explainers.toys.sentence import MOST_DRAWN
from explainers.ui.controls.control import Control

Cells = list[list[bool]]
_ROWS = re.compile(r"[0-9a-f]{1,7}(\.[0-9a-f]{1,7})*")
CAUSAL, FULL = "causal", "full"


@dataclass(frozen=True)
class MaskDrawing(Control):
    """Which cells of a square are set: "causal", "full", or a hexadecimal number per row.

    The lowest bit of a row is its first cell: 1.3.7 is the causal mask of three words.
    """

    def __call__(self, side: int) -> Cells:
        """The cells for a text of `side` words."""
        example = write_cells(read_cells(CAUSAL, 3))
        allowed = N_("causal, full, or a number per row: {example}", example=example)
        value = self.resolve(lambda text: text if is_drawing(text) else None, allowed)
        return read_cells(value, side)

    def list_cells(self, side: int) -> Cells:
        """The cells for a text of `side` words, after the drawing was read."""
        return read_cells(self.drawing, side)

    @property
    def drawing(self) -> str:
        """The drawing as the link has it, after it was read."""
        return str(st.session_state[self.key])

    def count_words(self, side: int) -> int:
        """For how many words the drawing was made; the two that are named are for any number."""
        value = self.drawing
        return side if value in (CAUSAL, FULL) else len(value.split("."))


def is_drawing(text: str) -> bool:
    """Is this what `write_cells` could have written?"""
    if text in (CAUSAL, FULL):
        return True
    if not _ROWS.fullmatch(text):
        return False
    rows = [int(row, 16) for row in text.split(".")]
    side = len(rows)
    return side <= MOST_DRAWN and max(rows) < 2**side and text == _write_rows(rows)


def read_cells(text: str, side: int) -> Cells:
    """A drawing for so many words: one for fewer goes on causally, one for more is cut."""
    rows = [] if text in (CAUSAL, FULL) else [int(row, 16) for row in text.split(".")]
    drawn_side = len(rows)
    return [
        [
            text == FULL
            or (bool(rows[i] >> j & 1) if i < drawn_side and j < drawn_side else j <= i)
            for j in range(side)
        ]
        for i in range(side)
    ]


def write_cells(cells: Cells) -> str:
    """The drawing as it stands in a link."""
    return _write_rows([sum(cell << j for j, cell in enumerate(line)) for line in cells])


def _write_rows(rows: list[int]) -> str:
    return ".".join(f"{number:x}" for number in rows)
