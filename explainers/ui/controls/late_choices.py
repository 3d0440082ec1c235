"""What stands in the browser's address, and no run has heard of.

A picture changes in the browser, which writes the choice into the address and asks for no run. What
asks for one afterwards, whatever it is, brings the address along. What that says is taken up before
anything else of the message is obeyed: so no choice is lost, and none comes back that was taken
away since.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol
from urllib.parse import parse_qs

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_run_context import ThreadState
from streamlit.runtime.state.query_params import sanitize_query_string

from explainers.ui.controls.control import Control
from explainers.ui.session import ASKED_WITH, PAGE_DRAWN, PICTURED, visitor

ANY_CHOICE = "any"
Texts = tuple[str, ...]
"""How an address has a choice: a text for each time that it is named, none where it is usual."""


class Pictured(Protocol):
    """A choice of a picture: `figure/hero.py`."""

    @property
    def control(self) -> Control: ...
    @property
    def values(self) -> Sequence[Any]: ...
    @property
    def value(self) -> Any: ...
    def accepts(self, value: object) -> bool: ...


@dataclass(frozen=True)
class Written:
    """A choice that the browser may write: as a run has it, and what the address leaves out."""

    choice: Pictured
    drawn: Texts
    usual: Texts

    def read(self, texts: Texts) -> Any:
        """The value of which an address speaks; None if there is none."""
        wanted, control = texts or self.usual, self.choice.control
        if self.choice.values:
            found = (v for v in self.choice.values if _split(control.format_for_url(v)) == wanted)
            return next(found, None)
        is_one = len(wanted) == 1 and isinstance(self.choice.value, str)
        return wanted[0] if is_one and self.choice.accepts(wanted[0]) else None


class Drawn(NamedTuple):
    """What the pictures of a visit let their reader choose."""

    visit: int
    place: str
    choices: dict[str, Written]
    following: dict[str, tuple[str | None, frozenset[str]]]
    """What shows choices, by its name: the part of the page that is run for it, and the choices."""

    def list_following(self, names: Collection[str]) -> set[str]:
        """The parts of the page that show one of these choices."""
        shows = list(self.following.values())  # a run may be adding to them, in another thread
        return {part or "" for part, some in shows if not some.isdisjoint({*names, ANY_CHOICE})}


def note_choices(choices: Sequence[Pictured]) -> dict[str, dict[str, Any]]:
    """Remember what a picture is drawn with; by name, how a browser writes each choice.

    A choice that is written by others, or not at all, is none of them.
    """
    visit, said = visitor().visit, read_address()
    drawn: Drawn | None = st.session_state.get(PICTURED)
    if drawn is None or drawn.visit != visit:
        place = st.session_state.get(PAGE_DRAWN, "")
        drawn = st.session_state[PICTURED] = Drawn(visit, place, {}, {})
    ways = {}
    for choice in choices:
        control = choice.control
        written_in, text, usual = visitor().written.get(control.key, (None, None, None))
        if written_in != visit:
            continue
        drawn.choices[control.key] = Written(choice, _split(text), _split(usual))
        way: dict[str, Any] = {"usual": _split(usual)}
        if control.key in said:
            way["said"] = said[control.key]
        if control.link_form:
            way["form"] = control.link_form
        ways[control.key] = way
    return ways


def note_part(part: str, names: Collection[str]) -> None:
    """Remember that what is drawn now shows these choices of the pictures above."""
    drawn: Drawn | None = st.session_state.get(PICTURED)
    if drawn and drawn.visit == visitor().visit:
        fragment = ThreadState.get().fragment_id if get_script_run_ctx() else None
        drawn.following[part] = fragment, frozenset(names)


def take_up(late: Mapping[str, Texts]) -> None:
    """Take up what the browser has chosen by itself, before any callback of this run."""
    context = get_script_run_ctx()
    st.session_state[ASKED_WITH] = context.query_string if context else ""
    drawn: Drawn | None = st.session_state.get(PICTURED)
    for name, texts in late.items():
        written = drawn.choices.get(name) if drawn else None
        if drawn is None or written is None or (value := written.read(texts)) is None:
            continue  # nonsense: the control says so when it is drawn
        control = written.choice.control
        control.put(value)
        _visit, _text, usual = visitor().written[name]
        text = control.format_for_url(value) if texts else None
        visitor().written[name] = drawn.visit, text, usual
        drawn.choices[name] = replace(written, drawn=texts)


def read_address() -> dict[str, Texts]:
    """What the address said with which this run was asked for; what it writes itself is later."""
    context = get_script_run_ctx()
    return split_query(st.session_state.get(ASKED_WITH, context.query_string if context else ""))


def split_query(query: str) -> dict[str, Texts]:
    """By name, the texts of a query; nothing of one that is too long."""
    said = parse_qs(sanitize_query_string(query), keep_blank_values=True)
    return {name: tuple(texts) for name, texts in said.items()}


def _split(text: str | list[str] | None) -> Texts:
    return () if text is None else (text,) if isinstance(text, str) else tuple(text)
