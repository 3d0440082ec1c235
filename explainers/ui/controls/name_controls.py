"""Controls whose values are words: buttons, lists of names, lines of text, a mask that is drawn."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from explainers.messages import N_
from explainers.toys.sentence import MOST_DRAWN, write_running_sentence
from explainers.translations import _, get_language
from explainers.ui import browser_files
from explainers.ui.controls.control import Control, describe_options

LONGEST_NAME = 300
"""Of a model's name that a reader types."""
_SCRIPTS = browser_files.list_scripts("picker", "common")
_list = browser_files.make_component("picker/picker.js", "picker")
Cells = list[list[bool]]
_ROWS = re.compile(r"[0-9a-f]{1,7}(\.[0-9a-f]{1,7})*")
CAUSAL, FULL = "causal", "full"
"""Drawings that have names, for any number of words."""


@dataclass(frozen=True)
class SentenceText(Control):
    """The reader's sentence; without one, the running sentence in the visitor's language."""

    @property
    def unchosen(self) -> str:
        return write_running_sentence(get_language())

    def tell_bad_link(self, value: Any, allowed: str) -> None:
        """Any text may be asked for; what is cut off is told below the field."""


@dataclass(frozen=True)
class Choice(Control):
    """One of a few named options, all of them in sight."""

    options: tuple[str, ...] = ()
    old_names: tuple[tuple[str, str], ...] = ()
    """What links said once, and what it is called now."""

    def __call__(self, options: Sequence[str] = (), is_drawn: bool = True) -> str:
        """The control's own options, or those that a page finds in a registry."""
        options = options or self.options
        usual = self.default if self.default in options else options[-1]
        settings = {"is_drawn": is_drawn, "required": True}
        return str(self.resolve_among(options, usual, st.segmented_control, **settings))

    def read_url(self) -> Any:
        """What stands in the URL, as it is called now."""
        said = super().read_url()
        return dict(self.old_names).get(said, said)


@dataclass(frozen=True)
class NameList(Control):
    """One of a list of names that depends on the page; the list can be searched."""

    width: int = field(default=150, kw_only=True)

    def __call__(self, names: Sequence[str], usual: str, is_drawn: bool = True) -> str:
        settings = {"is_drawn": is_drawn, "width": self.width}
        return str(self.resolve_among(names, usual, st.selectbox, **settings))


@dataclass(frozen=True)
class TextLine(Control):
    """A line of text of at most `most` characters; an empty one stands for the default."""

    most: int

    def __call__(self, is_named: bool = True) -> str:
        """Above a picture there may be no room for its name."""
        typed_text: str = self.resolve(
            lambda asked: asked if len(asked) <= self.most else None,
            N_("a text of at most {most} characters", most=self.most),
            widget=st.text_input,
            max_chars=self.most,
            label_visibility="visible" if is_named else "collapsed",
        )
        return typed_text.strip() or str(self.default)


@dataclass(frozen=True)
class ModelName(Control):
    """One of a list of models, or another one whose name the reader types."""

    def __call__(self, names: Sequence[str], is_named: bool = True) -> str:
        """Above a picture there is no room for its name."""
        other_name = st.session_state.get(self.key) or self.read_url()
        names = [*names, other_name] if other_name and other_name not in names else list(names)
        value: str = self.resolve(
            lambda asked: asked or None,
            N_("owner/name of a model, or a folder where the server reads them"),
            widget=st.selectbox,
            options=names,
            accept_new_options=True,
            width=380,
            label_visibility="visible" if is_named else "collapsed",
        )
        return value[:LONGEST_NAME]


@dataclass(frozen=True)
class MultiChoice(Control):
    """Any number of named options at once; a link repeats the control's name for each.

    Up to `most` of many stand in a list that can be searched, in the order in which they were
    chosen.
    """

    most: int | None = None

    link_form = "apart"

    def __call__(self, options: Sequence[str], is_drawn: bool = True) -> list[str]:
        """Those that are chosen; one that the page no longer has is dropped."""
        allowed = describe_options(options)
        drawn: dict[str, Any] = {"widget": st.pills, "selection_mode": "multi"}
        if self.most:
            allowed = N_("up to {most} of those that the list names", most=self.most)
            drawn = {"widget": st.multiselect, "max_selections": self.most}
        drawn |= {"is_drawn": is_drawn, "options": options}

        def fit(chosen: Sequence[str]) -> list[str]:
            """Where their order is the reader's, as many as there may be."""
            if self.most:
                return list(dict.fromkeys(one for one in chosen if one in options))[: self.most]
            return [one for one in options if one in chosen]

        def find(asked: Sequence[str]) -> list[str] | None:
            """An empty name asks for none; only names that nobody offers ask for nothing."""
            return fit(asked) or (None if any(asked) else [])

        value: list[str] = self.resolve(find, allowed, list(self.default), fit, **drawn)
        return value

    def add(self, option: str) -> bool:
        """Choose one more, on a page that has drawn the control; was it chosen by nobody yet?"""
        chosen = st.session_state.get(self.key, self.read_url()) or ()
        if is_new := option not in chosen:
            self.put([*chosen, option])
        return is_new

    def read_url(self) -> list[str] | None:
        """The names in the URL; an empty one is what stands there when all were taken away."""
        return st.query_params.get_all(self.key) or None

    def format_for_url(self, value: Any) -> list[str]:
        """How the URL has it."""
        return list(value) or [""]

    def find_missed(self, request: Sequence[str], value: Any) -> str | None:
        """The order in a link is the reader's, and an empty name is none."""
        wanted = [one for one in request if one]
        return ", ".join(wanted) if wanted and {*wanted} != {*value} else None

    def name(self, value: Any) -> str:
        """What is said of a selection."""
        return ", ".join(value) or _("none")


def pick_name(control: NameList, names: Sequence[str]) -> str:
    """One of many names, in a list that the browser alone draws and searches.

    Streamlit builds its own list of seventy names anew whenever one is chosen, before it says so.
    """
    name = control(names, control.default, is_drawn=False)
    _draw_list(control, names, [name], 1, control.width)
    return name


def pick_names(control: MultiChoice, names: Sequence[str]) -> list[str]:
    """The same: as many of the names as the control allows."""
    chosen = control(names, is_drawn=False)
    _draw_list(control, names, chosen, control.most or len(names), "stretch")
    return chosen


def _draw_list(
    control: Control, names: Sequence[str], chosen: Sequence[str], most: int, width: int | str
) -> None:
    key, words = f"pick {control.key}", control.label_and_help

    def take() -> None:
        told = st.session_state[key].names
        if accepts(told, names, most):
            control.put(told[0] if most == 1 else told)

    _list(
        key=key,
        data={
            "key": control.key,
            "label": words["label"],
            "help": words["help"] or "",
            "choices": list(names),
            "others": {name: _(name) for name in names if _(name) != name},
            "chosen": list(chosen),
            "most": most,
            "words": browser_files.translate_scripts(_SCRIPTS),
        },
        width=width,
        on_names_change=take,
    )


def accepts(told: Any, names: Sequence[str], most: int) -> bool:
    """May a browser ask for this? For some of the names, each once; of a single one, for one."""
    if not isinstance(told, list) or not all(isinstance(one, str) for one in told):
        return False
    is_count = len(told) == 1 if most == 1 else len(told) <= most
    return is_count and len(set(told)) == len(told) and set(told) <= set(names)


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
