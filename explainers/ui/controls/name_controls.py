"""Controls whose values are words: buttons, lists of names, lines of text."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from explainers.messages import N_
from explainers.toys.sentence import write_running_sentence
from explainers.translations import _, get_language
from explainers.ui.controls.control import Control, describe_options, find_among

LONGEST_NAME = 300
"""Of a model's name that a reader types."""


@dataclass(frozen=True)
class SentenceText(Control):
    """The reader's sentence; without one, the running sentence in the visitor's language."""

    @property
    def unchosen(self) -> str:
        return write_running_sentence(get_language())


def _ask_for_one(
    control: Control,
    widget: Callable[..., Any],
    options: Sequence[str],
    usual: str,
    **settings: Any,
) -> str:
    def fit(chosen: Any) -> Any:
        return chosen if chosen in options else usual  # chosen among others, or None

    settings |= {"words": options, "options": options, "usual": usual}
    value: str = control.ask(widget, describe_options(options), fit, **settings)
    return value


def _look_for_one(control: Control, options: Sequence[str], usual: str) -> str:
    value: str = control.look(
        find_among(options),
        describe_options(options),
        usual,
        lambda chosen: chosen if chosen in options else usual,
    )
    return value


@dataclass(frozen=True)
class Choice(Control):
    """One of a few named options, all of them in sight."""

    options: tuple[str, ...] = ()
    old_names: tuple[tuple[str, str], ...] = ()
    """What links said once, and what it is called now."""

    def __call__(self, options: Sequence[str] = ()) -> str:
        """Offer the control's own options, or those that a page finds in a registry."""
        self._rename()
        options = options or self.options
        usual = self.default if self.default in options else options[-1]
        value = _ask_for_one(
            self, st.segmented_control, options, usual, default=usual, required=True
        )
        if st.session_state[self.key] is None:  # an empty value in a link: Streamlit obeys it
            st.rerun()
        return value

    def read(self) -> str:
        """What is chosen of its own options, where a picture offers them instead of a widget."""
        self._rename()
        return _look_for_one(self, self.options, self.default)

    def _rename(self) -> None:
        new_name = dict(self.old_names).get(st.query_params.get(self.key, ""))
        if new_name:
            st.query_params[self.key] = st.session_state[self.key] = new_name


@dataclass(frozen=True)
class NameList(Control):
    """One of a list of names that depends on the page; the list can be searched."""

    width: int = field(default=150, kw_only=True)

    def __call__(self, names: Sequence[str], default: str) -> str:
        place = names.index(default)
        return _ask_for_one(self, st.selectbox, names, default, index=place, width=self.width)

    def read_unseen(self, names: Sequence[str], default: str) -> str:
        """What is chosen or linked while the list is not drawn."""
        return _look_for_one(self, names, default)


@dataclass(frozen=True)
class TextLine(Control):
    """A line of text of at most `most` characters; an empty one stands for the default."""

    most: int

    def __call__(self, is_named: bool = True) -> str:
        """Above a picture there may be no room for its name."""
        typed_text: str = self.ask(
            st.text_input,
            N_("a text of at most {most} characters", most=self.most),
            value=self.default,
            max_chars=self.most,
            label_visibility="visible" if is_named else "collapsed",
        )
        return typed_text.strip() or str(self.default)


@dataclass(frozen=True)
class ModelName(Control):
    """One of a list of models, or another one whose name the reader types."""

    def __call__(self, names: Sequence[str], is_named: bool = True) -> str:
        """Above a picture there is no room for its name."""
        other_name = self.read_request() or st.session_state.get(self.key)
        names = [*names, other_name] if other_name and other_name not in names else list(names)
        value: str = self.ask(
            st.selectbox,
            N_("owner/name of a model, or a folder where the server reads them"),
            options=names,
            index=names.index(self.default),
            accept_new_options=True,
            width=380,
            label_visibility="visible" if is_named else "collapsed",
        )
        return (value or self.default)[:LONGEST_NAME]


@dataclass(frozen=True)
class MultiChoice(Control):
    """Any number of named options at once; a link repeats the control's name for each.

    Up to `most` of many stand in a list that can be searched, in the order in which they were
    chosen.
    """

    most: int | None = None

    link_form = "apart"

    def __call__(self, options: Sequence[str]) -> tuple[str, ...]:
        """Offer the options; one that the page no longer has is dropped."""
        asked = self.read_url() if self.read_request() is not None else None
        chosen, default = st.session_state.get(self.key) or (), list(self.default)
        if self.most and any(asked or ()):  # Streamlit raises if there are more than there may be
            st.session_state[self.key] = self._fit(asked or (), options) or default
        elif not set(chosen) <= set(options):  # it raises if one is no option any more
            st.session_state[self.key] = [one for one in chosen if one in options]
        widget: Callable[..., Any] = st.multiselect if self.most else st.pills
        kind: dict[str, Any] = {"selection_mode": "multi"}
        if self.most:
            kind = {"max_selections": self.most}
        selection: list[str] = self.draw(
            widget,
            options,
            default,
            lambda names: [one for one in names if one in options],
            options=options,
            default=default,
            **kind,
        )
        self._report(asked, selection, options)
        return tuple(selection)

    def read(self, options: Sequence[str]) -> list[str]:
        """What is chosen of the options, or linked, also while the control is out of sight."""

        def find(asked: Sequence[str]) -> list[str] | None:
            """An empty name asks for none; only names that nobody offers ask for nothing."""
            return self._fit(asked, options) or (None if any(asked) else [])

        self.read_request()  # takes up what was chosen on another page
        asked, chosen = self.read_link(find)
        value = self._fit(chosen, options)
        st.session_state[self.key] = value  # Streamlit forgets the choice of a control that is gone
        self.keep(value)
        self.write(value)
        self._report(asked, value, options)
        return value

    def offer(self, options: Sequence[str]) -> list[str]:
        """Offer what `read` reads; who changes it here wants the page to be drawn again."""
        return st.pills(
            options=options,
            selection_mode="multi",
            key=self.key,
            format_func=_,
            on_change=self._note_change,
            **self.label_and_help,
        )

    def add(self, option: str) -> None:
        """Choose one more, before the control is drawn."""
        if option not in self.read_selection():
            self.put([*self.read_selection(), option])

    def read_selection(self) -> list[str]:
        """What is chosen, or linked, before the control is drawn."""
        linked = st.query_params.get_all(self.key) if self.read_request() is not None else []
        return [*st.session_state.get(self.key, linked)]

    def read_url(self) -> list[str] | None:
        """The names in the URL; an empty one is what stands there when all were taken away."""
        return st.query_params.get_all(self.key) or None

    def format_for_url(self, value: Any) -> list[str]:
        """How the URL has it."""
        return list(value) or [""]

    def is_said(self, said: Any, value: Any) -> bool:
        """Does what stands in the URL mean this value?"""
        return bool(said == self.format_for_url(value))

    def _fit(self, chosen: Sequence[str], options: Sequence[str]) -> list[str]:
        """Those that are offered; where their order is the reader's, as many as there may be."""
        if self.most:
            return list(dict.fromkeys(one for one in chosen if one in options))[: self.most]
        return [one for one in options if one in chosen]

    def _report(
        self, asked: Sequence[str] | None, shown: Sequence[str], options: Sequence[str]
    ) -> None:
        """Say if a link asked for what cannot be."""
        allowed = describe_options(options)
        if self.most:
            allowed = N_("up to {most} of those that the list names", most=self.most)
        wanted = [one for one in asked or () if one]
        request = ", ".join(wanted) if wanted and {*wanted} != {*shown} else None
        self.report_bad_link(request, ", ".join(shown) or _("none"), allowed)
