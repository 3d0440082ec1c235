"""Controls whose values are numbers, or on and off: switches, sliders, counters, number fields."""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from explainers.local_numbers import write_value
from explainers.messages import N_
from explainers.translations import _, get_language
from explainers.ui.controls.control import (
    Control,
    choose_or_type,
    describe_options,
    describe_range,
    is_value,
)
from explainers.ui.session import OPENED_WITH, OUT_OF_RANGE
from explainers.ui.untrusted_text import shorten, verbatim

_DIGITS = re.compile(r"[0-9]{1,18}|[0-9]{1,3}(,[0-9]{3}){1,5}|[1-9][0-9]{0,2}(\.[0-9]{3}){1,5}")
"""Thousands apart as in any language: a whole number has no decimals.

Python refuses to read the longest numbers, and reads digits of other scripts.
"""


@dataclass(frozen=True)
class Switch(Control):
    """On or off."""

    def __call__(self) -> bool:
        request = self.read_request()
        value = st.toggle(value=self.default, **self.tie(), **self.label_and_help)
        return self.settle(request, value, N_("true or false"))


@dataclass(frozen=True)
class WholeNumber(Control):
    """A whole number between two, by a slider."""

    low: int
    high: int

    def __call__(self) -> int:
        limits = {"min_value": self.low, "max_value": self.high}
        return _slide(self, st.slider, describe_range(self.low, self.high), limits)


@dataclass(frozen=True)
class StepSlider(Control):
    """One of some numbers, such as powers of two, by a slider."""

    steps: tuple[float, ...]

    def __call__(self) -> Any:
        return _slide(self, st.select_slider, describe_options(self.steps), {"options": self.steps})


def _slide(
    control: Control, slider: Callable[..., Any], allowed: str, limits: dict[str, Any]
) -> Any:
    request = control.read_request()
    value = slider(value=control.default, **limits, **control.tie(), **control.label_and_help)
    return control.settle(request, value, allowed)


def _read_whole(text: str, low: int, high: int) -> int | None:
    """The whole number that a link asks for, if it is among those that there are."""
    try:
        number = float(text)
    except ValueError:
        return None
    return int(number) if low <= number <= high and number.is_integer() else None


@dataclass(frozen=True)
class Counter(Control):
    """A number to count up and down, whose range may depend on the sentence.

    For one that was chosen when there was more room the nearest stands in until there is again.
    """

    def __call__(self, low: int, high: int) -> int:
        request, out_of_range = self.read_request(), st.session_state.setdefault(OUT_OF_RANGE, {})
        wanted, instead = out_of_range.pop(self.key, (None, None))
        current = st.session_state.get(self.key)
        if wanted is None or current != instead:  # the reader has chosen another one since
            wanted = current
        if wanted is not None and current != min(max(wanted, low), high):
            st.session_state[self.key] = min(max(wanted, low), high)
        default, allowed = min(max(self.default, low), high), describe_range(low, high)
        if request and (is_value(request, math.inf) or is_value(request, -math.inf)):
            st.query_params.pop(self.key)  # Streamlit would raise: no int is infinite
            self.report_bad_link(request, default, allowed)
            st.rerun()
        limits = {"min_value": low, "max_value": high, "value": default}
        value = st.number_input(width=150, **limits, **self.tie(default), **self.label_and_help)
        if wanted is None:
            wanted = value if request and is_value(request, value) else self.default
        if wanted != value:
            out_of_range[self.key] = wanted, value
        self.keep(wanted)
        return self.report_bad_link(request, value, allowed)

    def read_unseen(self, low: int, high: int) -> int:
        """What is chosen or linked while the field is not drawn."""
        self.read_request()  # takes up what was chosen on another page
        default = min(max(self.default, low), high)
        request, value = self.read_link(lambda asked: _read_whole(asked, low, high), default)
        self.settle(request, value, describe_range(low, high))
        self.write(value, default)
        return min(max(value, low), high)

    def choose_by_name(self, names: Sequence[str]) -> int:
        """The same number, chosen from a list of what it counts: the words of a sentence.

        Streamlit tells options apart by their names, so a word that comes twice has its place.
        """
        if not isinstance(st.session_state.get(self.key, 0), int):  # none yet, or a forged one
            del st.session_state[self.key]
        number = self.read_unseen(0, len(names) - 1)
        if st.session_state.get(self.key) != number:
            st.session_state[self.key] = number
        labels = [
            name if names.count(name) == 1 else f"{name} ({place + 1})"
            for place, name in enumerate(names)
        ]
        st.selectbox(
            options=range(len(names)),
            key=self.key,
            format_func=lambda place: labels[place],
            on_change=self._note_change,
            width=180,
            **self.label_and_help,
        )
        return number

    def put(self, value: int) -> None:
        """Take over a number that was clicked; a callback."""
        super().put(value)
        st.session_state.get(OUT_OF_RANGE, {}).pop(self.key, None)


@dataclass(frozen=True)
class TypedNumber(Control):
    """A whole number from 1 to `largest`, chosen from a list of `usual` ones or typed."""

    usual: Sequence[int]
    largest: int

    def __call__(self) -> int:
        request, usual = self.read_request(), [f"{number:,}" for number in self.usual]
        if (typed := st.session_state.get(self.key)) and typed != self.format_for_url(typed):
            st.session_state[self.key] = self.format_for_url(typed)  # in any language
        binding = self.bind(usual, self.default)
        if "format_func" in binding:  # a number that was typed has the language's marks as well
            spoken = get_language()
            binding["format_func"] = lambda text: (
                write_value(text, spoken) if self.read(text) else text
            )
        typed_text = choose_or_type(self, usual, width=130, binding=binding)
        self.save(typed_text or "", usual, self.default)
        return self._accept(request, typed_text)

    def read_unseen(self) -> int:
        """What is chosen or linked while the field is not drawn."""
        self.read_request()  # takes up what was chosen on another page
        request, typed_text = self.read_link(str)
        self.write(typed_text)
        return self._accept(request, typed_text)

    def _accept(self, request: str | None, typed_text: str | None) -> int:
        allowed = N_("a whole number from 1 to {largest:,}, in digits", largest=self.largest)
        self.settle(request, typed_text, allowed)
        number = self.read(typed_text or "")
        if number is not None:
            return number
        instead = self.unchosen
        notice = _(
            "{name} = {written} is not allowed. Use {allowed}; the page shows {instead:,}.",
            name=self.key,
            written=verbatim(shorten(typed_text or "")),
            allowed=allowed,
            instead=instead,
        )
        st.info(notice, icon=":material/edit_off:")
        return instead

    @property
    def unchosen(self) -> int:
        return self.read(self.default) or 1

    def put(self, value: int) -> None:
        """Take over a number that was clicked; a callback."""
        super().put(f"{value:,}")

    def select_possible(self, request: Any, options: Sequence[str]) -> Any:
        """Any number, also one that is not in the list."""
        return None if self.read(request) is None else request

    def format_for_url(self, value: Any) -> Any:
        """A link is the same in every language."""
        text = super().format_for_url(value)
        return text if self.read(text) is None else text.replace(".", ",")

    def read(self, typed_text: str) -> int | None:
        """1000, 1,000 or 1.000, but not 1,0; nothing if it is no such number."""
        if not _DIGITS.fullmatch(typed_text.strip()):
            return None
        number = int(re.sub("[.,]", "", typed_text))
        return number if 1 <= number <= self.largest else None


@dataclass(frozen=True)
class BrowserSlider(Control):
    """A slider that a component moves in the browser, without waiting for the server."""

    steps: tuple[float, ...]

    def __call__(self, steps: Sequence[float] = ()) -> int:
        """The index of the chosen step among `steps`, by default the control's own."""
        steps = steps or self.steps
        request, value = self.read_link(
            lambda text: next((s for s in steps if is_value(text, s)), None)
        )
        self.report_bad_link(request, value, describe_options(steps))
        self.write(value)
        return min(range(len(steps)), key=lambda index: abs(steps[index] - value))


@dataclass(frozen=True)
class RestrictedSlider(Control):
    """A whole number that a component moves as well; a page may offer only some of them.

    Not every size has trained weights.
    """

    low: int
    high: int

    @property
    def possible(self) -> range:
        """What may be chosen where nothing is trained."""
        return range(self.low, self.high + 1)

    def __call__(self, choices: Sequence[int] = (), opens_with: int | None = None) -> int:
        """A choice that is not offered becomes the nearest one that is.

        `opens_with` is shown until the reader chooses, also where another page opens with another
        number.
        """
        opened_key, default = OPENED_WITH.format(self.key), opens_with or self.default
        request, wanted = self.read_link(
            lambda text: next((one for one in self.possible if is_value(text, one)), None), default
        )
        if wanted == st.session_state.get(opened_key) and request is None:
            wanted = default
        st.session_state[opened_key] = default
        nearest = st.session_state[self.key] = min(
            choices or self.possible, key=lambda one: abs(one - wanted)
        )
        self.write(nearest, default)
        allowed = describe_options(choices) if choices else describe_range(self.low, self.high)
        return int(self.report_bad_link(request, nearest, allowed))
