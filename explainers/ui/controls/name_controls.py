"""Controls whose values are words: buttons, lists of names, lines of text."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from explainers.messages import N_
from explainers.toys.sentence import write_running_sentence
from explainers.translations import _, get_language
from explainers.ui.controls.control import Control, choose_or_type, describe_options

LONGEST_NAME = 300
"""Of a model's name that a reader types."""


@dataclass(frozen=True)
class SentenceText(Control):
    """The reader's sentence; without one, the running sentence in the visitor's language."""

    @property
    def unchosen(self) -> str:
        return write_running_sentence(get_language())


@dataclass(frozen=True)
class Choice(Control):
    """One of a few named options, all of them in sight."""

    options: tuple[str, ...] = ()
    old_names: tuple[tuple[str, str], ...] = ()
    """What links said once, and what it is called now."""

    def __call__(self, options: Sequence[str] = ()) -> str:
        """Offer the control's own options, or those that a page finds in a registry."""
        new_name = dict(self.old_names).get(st.query_params.get(self.key, ""))
        if new_name:
            st.query_params[self.key] = st.session_state[self.key] = new_name
        options = options or self.options
        default = self.default if self.default in options else options[-1]
        settings = {"default": default, "required": True}
        value = _choose(self, st.segmented_control, options, default, settings)
        if st.session_state[self.key] is None:  # an empty value in a link: Streamlit obeys it
            st.rerun()
        return value

    def read(self) -> str:
        """What is chosen of its own options, where a picture offers them instead of a widget."""
        self.read_request()  # takes up what was chosen on another page
        new_names = dict(self.old_names)
        request, value = self.read_link(
            lambda asked: self.select_possible(new_names.get(asked, asked), self.options)
        )
        value = value if value in self.options else self.default
        self.settle(new_names.get(request, request), value, describe_options(self.options))
        self.write(value)
        return value


@dataclass(frozen=True)
class NameList(Control):
    """One of a list of names that depends on the page; the list can be searched."""

    width: int = field(default=150, kw_only=True)

    def __call__(self, names: Sequence[str], default: str) -> str:
        settings = {"index": names.index(default), "width": self.width}
        return _choose(self, st.selectbox, names, default, settings)

    def read_unseen(self, names: Sequence[str], default: str) -> str:
        """What is chosen or linked while the list is not drawn."""
        self.read_request()  # takes up what was chosen on another page
        request, value = self.read_link(lambda asked: self.select_possible(asked, names), default)
        value = value if value in names else default
        self.settle(request, value, describe_options(names))
        self.write(value, default)
        return str(value)


def _choose(
    control: Control,
    widget: Callable[..., str | None],
    options: Sequence[str],
    default: str,
    settings: dict[str, Any],
) -> str:
    request = control.read_request()
    if st.session_state.get(control.key, default) not in options:  # chosen among others, or None
        st.session_state[control.key] = default
    binding = control.bind(options, default)
    value = widget(options=options, **settings, **control.label_and_help, **binding) or default
    control.save(value, options, default)
    return control.report_bad_link(request, value, describe_options(options))


@dataclass(frozen=True)
class TextLine(Control):
    """A line of text of at most `most` characters; an empty one stands for the default."""

    most: int

    def __call__(self, is_named: bool = True) -> str:
        """Above a picture there may be no room for its name."""
        request = self.read_request()
        typed_text = st.text_input(
            value=self.default,
            max_chars=self.most,
            label_visibility="visible" if is_named else "collapsed",
            **self.tie(),
            **self.label_and_help,
        )
        allowed = N_("a text of at most {most} characters", most=self.most)
        return self.settle(request, typed_text or "", allowed).strip() or self.default


@dataclass(frozen=True)
class ModelName(Control):
    """One of a list of models, or another one whose name the reader types."""

    def __call__(self, names: Sequence[str], is_named: bool = True) -> str:
        """Above a picture there is no room for its name."""
        request = self.read_request()
        other_name = st.session_state.get(self.key) or request
        names = [*names, other_name] if other_name and other_name not in names else list(names)
        value = choose_or_type(self, names, 380, is_named)
        allowed = N_("owner/name of a model, or a folder where the server reads them")
        self.settle(request, value, allowed)
        return (value or self.default)[:LONGEST_NAME]


@dataclass(frozen=True)
class MultiChoice(Control):
    """Any number of named options at once; a link repeats the control's name for each."""

    def __call__(self, options: Sequence[str]) -> tuple[str, ...]:
        """Offer the options; one that the page no longer has is dropped."""
        request, wanted = self._start(options)
        default = list(self.default)
        selection = st.pills(
            options=options,
            selection_mode="multi",
            default=default,
            **self.label_and_help,
            **self.bind(options, default),
        )
        is_disobeyed = request is not None and set(wanted) != set(selection)
        return self._finish(
            wanted if is_disobeyed else None, selection, options, describe_options(options)
        )

    def read(self, options: Sequence[str]) -> list[str]:
        """What is chosen of the options, or linked, also while the control is out of sight."""
        self.read_request()  # takes up what was chosen on another page
        request, value = self.read_link(lambda asked: self.select_possible(asked, options))
        value = [one for one in options if one in value]
        st.session_state[self.key] = value  # Streamlit forgets the choice of a control that is gone
        wanted = [one for one in request or [] if one]
        is_disobeyed = set(wanted) != set(value)
        self._finish(
            wanted if wanted and is_disobeyed else None, value, options, describe_options(options)
        )
        self.write(value)
        return value

    def offer(self, options: Sequence[str]) -> list[str]:
        """Offer what `read` reads; who changes it here wants the page to be drawn again."""
        words = self.label_and_help
        return st.pills(
            options=options,
            selection_mode="multi",
            key=self.key,
            format_func=_,
            on_change=self._note_change,
            **words,
        )

    def read_selection(self) -> list[str]:
        """What is chosen, or linked, before the control is drawn."""
        linked = st.query_params.get_all(self.key) if self.read_request() is not None else []
        return [*st.session_state.get(self.key, linked)]

    def add(self, option: str) -> None:
        """Choose one more, before the control is drawn."""
        if option not in self.read_selection():
            self.put([*self.read_selection(), option])

    def read_url(self) -> list[str] | None:
        """The names in the URL; an empty one is what stands there when all were taken away."""
        return st.query_params.get_all(self.key) or None

    def format_for_url(self, value: Any) -> list[str]:
        """How the URL has it."""
        return list(value) or [""]

    def _is_said(self, said: Any, value: Any) -> bool:
        return bool(said == self.format_for_url(value))

    def select_possible(self, request: Any, options: Sequence[str]) -> Any:
        """Those of a link that are offered."""
        return [one for one in request if one in options]

    def _start(self, options: Sequence[str]) -> tuple[str | None, list[str]]:
        request = self.read_request()
        # An empty value is what Streamlit writes when all were taken away.
        wanted = [one for one in st.query_params.get_all(self.key) if one] if request else []
        previous = st.session_state.get(self.key) or []
        if not set(previous) <= set(
            options
        ):  # Streamlit raises if what it keeps is no option any more
            st.session_state[self.key] = [one for one in previous if one in options]
        return request, wanted

    def _finish(
        self,
        wanted: list[str] | None,
        selection: Sequence[str],
        options: Sequence[str],
        allowed: str,
    ) -> tuple[str, ...]:
        self.save(list(selection), options, list(self.default))
        request = None if wanted is None else ", ".join(wanted)
        self.report_bad_link(request, ", ".join(selection) or _("none"), allowed)
        return tuple(selection)


@dataclass(frozen=True)
class SearchableMultiChoice(MultiChoice):
    """Up to `most` of many names, in a list that can be searched."""

    most: int

    def __call__(self, options: Sequence[str]) -> tuple[str, ...]:
        """Offer the options; of those that a link asks for, as many as there may be are taken."""
        request, wanted = self._start(options)
        if wanted:
            # Streamlit raises if a link asks for more than there may be.
            possible = list(dict.fromkeys(one for one in wanted if one in options))[: self.most]
            st.session_state[self.key] = possible or list(self.default)
        default = list(self.default)
        selection = st.multiselect(
            options=options,
            default=default,
            max_selections=self.most,
            **self.label_and_help,
            **self.bind(options, default),
        )
        is_disobeyed = request is not None and wanted != list(selection)
        allowed = N_("up to {most} of those that the list names", most=self.most)
        return self._finish(wanted if is_disobeyed else None, selection, options, allowed)

    def read(self, options: Sequence[str]) -> list[str]:
        """What is chosen, in the order in which it was; of a link, as many as there may be."""
        self.read_request()  # takes up what was chosen on another page
        request, chosen = self.read_link(lambda asked: self._select_some(asked, options))
        value = list(dict.fromkeys(one for one in chosen if one in options))[: self.most]
        st.session_state[self.key] = value  # Streamlit forgets the choice of a control that is gone
        wanted = [one for one in request or [] if one]
        allowed = N_("up to {most} of those that the list names", most=self.most)
        self._finish(wanted if wanted and wanted != value else None, value, options, allowed)
        self.write(value)
        return value

    def _select_some(self, asked: list[str], options: Sequence[str]) -> list[str] | None:
        """An empty name asks for none; only names that nobody offers ask for nothing."""
        return self.select_possible(asked, options) or (None if any(asked) else [])
