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
    describe_options,
    describe_range,
    find_among,
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
        is_on: bool = self.ask(st.toggle, N_("true or false"), value=self.default)
        return is_on


@dataclass(frozen=True)
class WholeNumber(Control):
    """A whole number between two, by a slider."""

    low: int
    high: int

    def __call__(self) -> int:
        ends = {"min_value": self.low, "max_value": self.high, "value": self.default}
        number: int = self.ask(st.slider, describe_range(self.low, self.high), **ends)
        return number


@dataclass(frozen=True)
class StepSlider(Control):
    """One of some numbers, such as powers of two, by a slider."""

    steps: tuple[float, ...]

    def __call__(self) -> Any:
        allowed = describe_options(self.steps)
        return self.ask(st.select_slider, allowed, options=self.steps, value=self.default)


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
        usual, allowed = min(max(self.default, low), high), describe_range(low, high)
        if request and (is_value(request, math.inf) or is_value(request, -math.inf)):
            st.query_params.pop(self.key)  # Streamlit would raise: no int is infinite
            self.report_bad_link(request, usual, allowed)
            st.rerun()
        value: int = self.ask(
            st.number_input,
            allowed,
            lambda now: now if wanted is None else min(max(wanted, low), high),
            usual=usual,
            value=usual,
            min_value=low,
            max_value=high,
            width=150,
        )
        if wanted is None:
            wanted = value if request and is_value(request, value) else self.default
        if wanted != value:
            out_of_range[self.key] = wanted, value
        self.keep(wanted)
        return value

    def read_unseen(self, low: int, high: int) -> int:
        """What is chosen or linked while the field is not drawn."""
        usual = min(max(self.default, low), high)
        value = self.look(
            lambda asked: _read_whole(asked, low, high), describe_range(low, high), usual
        )
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
    link_form = "grouped"

    def __call__(self) -> int:
        usual = [f"{number:,}" for number in self.usual]
        typed_text: str = self.ask(
            st.selectbox,
            self._describe(),
            lambda typed: self.format_for_url(typed) if typed else typed,  # in any language
            words=usual,
            find=lambda asked: None if self.read(asked) is None else asked,
            options=usual,
            index=usual.index(self.default),
            accept_new_options=True,
            width=130,
        )
        return self._accept(typed_text)

    def read_unseen(self) -> int:
        """What is chosen or linked while the field is not drawn."""
        return self._accept(self.look(str, self._describe()))

    def _describe(self) -> str:
        return N_("a whole number from 1 to {largest:,}, in digits", largest=self.largest)

    def _accept(self, typed_text: str) -> int:
        number = self.read(typed_text)
        if number is not None:
            return number
        notice = _(
            "{name} = {written} is not allowed. Use {allowed}; the page shows {instead:,}.",
            name=self.key,
            written=verbatim(shorten(typed_text)),
            allowed=self._describe(),
            instead=self.unchosen,
        )
        st.info(notice, icon=":material/edit_off:")
        return self.unchosen

    @property
    def unchosen(self) -> int:
        return self.read(self.default) or 1

    def put(self, value: int) -> None:
        """Take over a number that was clicked; a callback."""
        super().put(f"{value:,}")

    def speak(self, words: Sequence[str]) -> Callable[[str], str]:
        """What writes a number with the marks of the language, also one that was typed."""
        spoken = get_language()
        return lambda text: write_value(text, spoken) if self.read(text) else text

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
        request, value = self.read_link(find_among(steps))
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
        request, wanted = self.read_link(find_among(self.possible), default)
        if wanted == st.session_state.get(opened_key) and request is None:
            wanted = default
        st.session_state[opened_key] = default
        nearest = st.session_state[self.key] = min(
            choices or self.possible, key=lambda one: abs(one - wanted)
        )
        self.write(nearest, default)
        allowed = describe_options(choices) if choices else describe_range(self.low, self.high)
        return int(self.report_bad_link(request, nearest, allowed))
