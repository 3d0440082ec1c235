"""What stands in the browser's address, and no run has heard of.

A picture changes in the browser, which writes the choice into the address and asks for no run. What
asks for one afterwards, whatever it is, brings the address along. What that says is taken up before
anything else of the message is obeyed: so no choice is lost, and none comes back that was taken
away since.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple
from urllib.parse import parse_qs

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_run_context import ThreadState
from streamlit.runtime.state.query_params import sanitize_query_string

from explainers.toys.sentence import MAX_CHARACTERS
from explainers.ui.controls.control import Control
from explainers.ui.session import ASKED_WITH, PAGE_DRAWN, PICTURED, visitor

ANY_CHOICE = "any"
Texts = tuple[str, ...]
"""How an address has a choice: a text for each time that it is named, none where it is usual."""


def is_among(value: object, values: Iterable[object]) -> bool:
    """Unlike `in`: 1 is not True, and 1.0 is not 1."""
    return any(value == one and type(value) is type(one) for one in values)


@dataclass(frozen=True)
class HeroChoice:
    """A choice of a picture: its control, what may be chosen, and what is chosen now."""

    control: Control
    values: Sequence[Any]
    """All that may be chosen; none where any short text may be."""
    value: Any
    labels: Sequence[str] = ()
    """What the values are called, where the picture offers them as a row of buttons."""
    is_elsewhere: bool = False
    """Only the server can draw what is chosen."""
    fitting: Sequence[Any] | None = None
    """Those that a link may ask for beside the other choices of now, where these are fewer."""

    @classmethod
    def read(
        cls,
        control: Control,
        values: Sequence[Any],
        labels: Sequence[str] = (),
        opening: Any = None,
        is_elsewhere: bool = False,
    ) -> "HeroChoice":
        """What the session or the link chooses; where that is nothing, `opening` or the usual."""
        return cls(control, values, control.resolve_among(values, opening), labels, is_elsewhere)

    @property
    def usual(self) -> Any:
        """What is chosen where nobody has chosen, as far as that can be drawn."""
        return self.control.unchosen if self.accepts(self.control.unchosen) else self.value

    def accepts(self, value: object) -> bool:
        """May a browser ask for this?"""
        if not self.values:
            return isinstance(value, str) and len(value) <= MAX_CHARACTERS
        return is_among(value, self.values)


@dataclass(frozen=True)
class Written:
    """A choice that the browser may write: as a run has it, and what the address leaves out."""

    choice: HeroChoice
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


def note_choices(choices: Sequence[HeroChoice]) -> dict[str, dict[str, Any]]:
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
