"""The kinds of controls whose values are numbers, or on and off."""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from explainers.messages import N_
from explainers.translations import _
from explainers.ui.controls.base import URL, Control, choose_or_type, means, one_of, whole
from explainers.ui.session import OPENED_WITH, OUT_OF_RANGE
from explainers.ui.untrusted_text import shortened, verbatim

_DIGITS = re.compile(r"[0-9]{1,18}|[0-9]{1,3}(,[0-9]{3}){1,5}")
"""Python refuses to read the longest numbers, and reads digits of other scripts."""


@dataclass(frozen=True)
class Switch(Control):
    """On or off."""

    def __call__(self) -> bool:
        asked = self.asked()
        value = st.toggle(value=self.default, key=self.key, bind=URL, **self.words)
        return self.settle(asked, value, N_("true or false"))


@dataclass(frozen=True)
class Whole(Control):
    """A whole number between two, by a slider."""

    low: int
    high: int

    def __call__(self, fixed: int | None = None) -> int:
        """A `fixed` number is shown and cannot be changed; the reader's own comes back later."""
        numbers, limits = (
            range(self.low, self.high + 1),
            {"min_value": self.low, "max_value": self.high},
        )
        return _slide(self, st.slider, fixed, numbers, whole(self.low, self.high), limits)


@dataclass(frozen=True)
class Ladder(Control):
    """One of some numbers, such as powers of two, by a slider."""

    steps: tuple[float, ...]

    def __call__(self, fixed: float | None = None) -> Any:
        """A `fixed` value is shown and cannot be changed; the reader's own comes back later."""
        limits = {"options": self.steps}
        return _slide(self, st.select_slider, fixed, self.steps, one_of(self.steps), limits)


def _slide(
    control: Control,
    slider: Callable[..., Any],
    fixed: float | None,
    possible: Iterable[float],
    allowed: str,
    limits: dict[str, Any],
) -> Any:
    if fixed is not None:
        control.set_aside(possible, allowed)
        return slider(value=fixed, disabled=True, **limits, **control.words)
    asked = control.asked()
    value = slider(value=control.default, key=control.key, bind=URL, **limits, **control.words)
    return control.settle(asked, value, allowed)


@dataclass(frozen=True)
class RestrictedSlider(Control):
    """A whole number of which a page may offer only some: not every size has trained weights."""

    low: int
    high: int

    def __call__(self, offered: Sequence[int] = (), opens_with: int | None = None) -> int:
        """A choice that is not offered becomes the nearest one that is.

        `opens_with` is shown until the reader chooses, also where another page opens with another
        number.
        """
        asked, opened = self.asked(), OPENED_WITH.format(self.key)
        options = list(offered or range(self.low, self.high + 1))
        default = self.default if opens_with is None else opens_with
        wanted = self._wanted(asked, default)
        if wanted == st.session_state.get(opened) and asked is None:
            wanted = default
        nearest = min(options, key=lambda one: abs(one - wanted))
        if asked is not None or nearest != st.session_state.get(self.key, default):
            st.session_state[self.key] = nearest
        st.session_state[opened] = default
        value = st.select_slider(
            options=options, value=default, key=self.key, bind=URL, **self.words
        )
        allowed = one_of(options) if offered else whole(self.low, self.high)
        return self.settle(asked, value, allowed)

    def _wanted(self, asked: str | None, default: int) -> int:
        """The number that is asked for by a link, or was chosen, whether it is offered or not."""
        if asked is None:
            return st.session_state.get(self.key, default)
        possible = range(self.low, self.high + 1)
        return next((number for number in possible if means(asked, number)), default)


@dataclass(frozen=True)
class Counter(Control):
    """A number to count up and down, whose range may depend on the sentence.

    For one that was chosen when there was more room the nearest stands in until there is again.
    """

    def __call__(self, low: int, high: int) -> int:
        asked, beyond = self.asked(), st.session_state.setdefault(OUT_OF_RANGE, {})
        wanted, instead = beyond.pop(self.key, (None, None))
        kept = st.session_state.get(self.key)
        if wanted is None or kept != instead:  # the reader has chosen another one since
            wanted = kept
        if wanted is not None and kept != min(max(wanted, low), high):
            st.session_state[self.key] = min(max(wanted, low), high)
        default, allowed = min(max(self.default, low), high), whole(low, high)
        if asked and (means(asked, math.inf) or means(asked, -math.inf)):
            st.query_params.pop(self.key)  # Streamlit would raise: no int is infinite
            self.report_bad_link(asked, default, allowed)
            st.rerun()
        limits = {"min_value": low, "max_value": high, "value": default}
        value = st.number_input(key=self.key, bind=URL, width=150, **limits, **self.words)
        if wanted is None:
            wanted = value if asked and means(asked, value) else self.default
        if wanted != value:
            beyond[self.key] = wanted, value
        self.keep(wanted)
        return self.report_bad_link(asked, value, allowed)

    def put(self, value: int) -> None:
        """Take over a number that was clicked; a callback."""
        st.session_state[self.key] = value
        st.session_state.get(OUT_OF_RANGE, {}).pop(self.key, None)


@dataclass(frozen=True)
class TypedNumber(Control):
    """A whole number from 1 to `largest`, chosen from a list of `usual` ones or typed."""

    usual: Sequence[int]
    largest: int

    def __call__(self) -> int:
        asked = self.asked()
        allowed = N_("a whole number from 1 to {largest:,}, in digits", largest=self.largest)
        written = choose_or_type(self, [f"{number:,}" for number in self.usual], width=130)
        self.settle(asked, written, allowed)
        number = self.read(written or "")
        if number is not None:
            return number
        instead = self.read(self.default) or 1
        notice = _(
            "{name} = {written} cannot be. Allowed is {allowed}; this is {instead:,}.",
            name=self.key,
            written=verbatim(shortened(written or "")),
            allowed=allowed,
            instead=instead,
        )
        st.info(notice, icon=":material/edit_off:")
        return instead

    def read(self, written: str) -> int | None:
        """1000 or 1,000, but not 1,0; nothing if it is no such number."""
        if not _DIGITS.fullmatch(written.strip()):
            return None
        number = int(written.replace(",", ""))
        return number if 1 <= number <= self.largest else None


@dataclass(frozen=True)
class Live(Control):
    """A slider that a component moves in the browser, without waiting for the server."""

    steps: tuple[float, ...]

    def __call__(self, steps: Sequence[float] = ()) -> int:
        """The place of the chosen step among `steps`, by default the control's own."""
        steps = steps or self.steps
        asked, value = self.read_link(lambda text: next((s for s in steps if means(text, s)), None))
        self.report_bad_link(asked, value, one_of(steps))
        self.write(value)
        return min(range(len(steps)), key=lambda place: abs(steps[place] - value))
