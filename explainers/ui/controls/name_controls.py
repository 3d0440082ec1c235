"""Controls whose values are words: buttons, lists of names, lines of text."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from explainers.messages import N_
from explainers.toys.sentence import write_running_sentence
from explainers.translations import _, get_language
from explainers.ui.controls.control import Control, describe_options, find_among, fit_among

LONGEST_NAME = 300
"""Of a model's name that a reader types."""


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
        return _choose_one(self, options, usual, is_drawn, st.segmented_control, required=True)

    def read_url(self) -> Any:
        """What stands in the URL, as it is called now."""
        said = super().read_url()
        return dict(self.old_names).get(said, said)


@dataclass(frozen=True)
class NameList(Control):
    """One of a list of names that depends on the page; the list can be searched."""

    width: int = field(default=150, kw_only=True)

    def __call__(self, names: Sequence[str], usual: str, is_drawn: bool = True) -> str:
        return _choose_one(self, names, usual, is_drawn, st.selectbox, width=self.width)


def _choose_one(
    control: Control,
    options: Sequence[str],
    usual: str,
    is_drawn: bool,
    widget: Callable[..., Any],
    **settings: Any,
) -> str:
    """One of some names; not drawn, what a picture or another place offers."""
    find, fit, allowed = find_among(options), fit_among(options, usual), describe_options(options)
    settings |= {"widget": widget if is_drawn else None, "options": options}
    value: str = control.resolve(find, allowed, usual, fit, **settings)
    return value


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

        def fit(chosen: Sequence[str]) -> list[str]:
            """Where their order is the reader's, as many as there may be."""
            if self.most:
                return list(dict.fromkeys(one for one in chosen if one in options))[: self.most]
            return [one for one in options if one in chosen]

        def find(asked: Sequence[str]) -> list[str] | None:
            """An empty name asks for none; only names that nobody offers ask for nothing."""
            return fit(asked) or (None if any(asked) else [])

        drawn = {**drawn, "options": options} if is_drawn else {}
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
