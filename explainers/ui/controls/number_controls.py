"""Controls whose values are numbers, or on and off: switches, sliders, counters, number fields."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from explainers.messages import N_
from explainers.translations import get_language, write_value
from explainers.ui.controls.control import Control, describe_options, describe_range, find_among
from explainers.ui.session import OPENED_WITH, visitor

_DIGITS = re.compile(r"[0-9]{1,18}|[0-9]{1,3}(,[0-9]{3}){1,5}|[1-9][0-9]{0,2}(\.[0-9]{3}){1,5}")
"""Thousands apart as in any language: a whole number has no decimals.

Python refuses to read the longest numbers, and reads digits of other scripts.
"""


@dataclass(frozen=True)
class Switch(Control):
    """On or off."""

    def __call__(self) -> bool:
        return bool(self.resolve(find_among((True, False)), N_("true or false"), widget=st.toggle))


@dataclass(frozen=True)
class TourMode(Control):
    """Whether the reader takes the tour, as `tour=1` in a link."""

    def __call__(self, is_possible: bool) -> bool:
        """Read the link; in front of a class there is no tour."""
        if not is_possible:
            self.put(False)
        return bool(self.resolve(find_among((True, False)), N_("1 or nothing")))

    def turn(self, is_on: bool) -> None:
        """Begin or leave the tour; a callback.

        The page counts as opened anew, because the controls of the other parts come or go with it:
        a control takes up its value when its page is opened.
        """
        visitor().visit += 1
        self.put(is_on)


@dataclass(frozen=True)
class WholeNumber(Control):
    """A whole number between two, by a slider."""

    low: int
    high: int

    def __call__(self) -> int:
        find, allowed = find_whole(self.low, self.high), describe_range(self.low, self.high)
        number: int = self.resolve(
            find, allowed, widget=st.slider, min_value=self.low, max_value=self.high
        )
        return number


@dataclass(frozen=True)
class StepSlider(Control):
    """One of some numbers, such as powers of two, by a slider."""

    steps: tuple[float, ...]

    def __call__(self, is_drawn: bool = True) -> Any:
        return self.resolve_among(self.steps, None, st.select_slider, is_drawn=is_drawn)


def find_whole(low: int, high: int) -> Callable[[str], int | None]:
    """How a link is read where a whole number is asked for."""

    def find(asked: str) -> int | None:
        try:
            number = float(asked)
        except ValueError:
            return None
        return int(number) if low <= number <= high and number.is_integer() else None

    return find


@dataclass(frozen=True)
class Counter(Control):
    """A number to count up and down, whose range may depend on the sentence.

    For one that was chosen when there was more room the nearest stands in until there is again. For
    one that is typed and was never possible the nearest is taken, and that is said: Streamlit would
    leave it in the field, beside numbers of another one, if it knew the range.
    """

    def __call__(self, low: int, high: int, is_drawn: bool = True) -> int:
        out_of_range = visitor().out_of_range
        usual = min(max(self.default, low), high)
        wanted, instead = out_of_range.pop(self.key, (None, None))
        if wanted is not None and st.session_state.get(self.key) == instead:
            st.session_state[self.key] = wanted  # the reader has chosen no other one since
        said = st.session_state.get(self.key, usual)
        _visit, kept = visitor().kept.get(self.key, (None, said))
        is_typed = is_drawn and said != kept and not low <= said <= high

        def fit(number: int) -> int:
            """The nearest that there is."""
            near = min(max(number, low), high)
            if near != number and not is_typed:
                out_of_range[self.key] = number, near
            return near

        find, allowed = find_whole(low, high), describe_range(low, high)
        settings = {"step": 1, "width": 150}
        value: int = self.resolve(find, allowed, usual, fit, st.number_input, is_drawn, **settings)
        self.keep(out_of_range.get(self.key, (value, value))[0])
        if is_typed:
            self.refuse_typed(str(said), allowed, value)
        return value

    def choose_by_name(self, names: Sequence[str]) -> int:
        """The same number, chosen from a list of what it counts: the words of a sentence.

        Streamlit tells options apart by their names, so a word that comes twice has its place.
        """
        if not isinstance(st.session_state.get(self.key, 0), int):  # none yet, or a forged one
            del st.session_state[self.key]
        number = self(0, len(names) - 1, is_drawn=False)
        labels = [
            name if names.count(name) == 1 else f"{name} ({place + 1})"
            for place, name in enumerate(names)
        ]
        places = range(len(names))
        self.draw(st.selectbox, number, options=places, format_func=labels.__getitem__, width=180)
        return number

    def put(self, value: int) -> None:
        """Take over a number that was clicked; a callback."""
        super().put(value)
        visitor().out_of_range.pop(self.key, None)


@dataclass(frozen=True)
class TypedNumber(Control):
    """A whole number from 1 to `largest`, chosen from a list of `usual` ones or typed."""

    usual: Sequence[int]
    largest: int
    link_form = "grouped"

    def __call__(self, is_drawn: bool = True) -> int:
        allowed = N_("a whole number from 1 to {largest:,}, in digits", largest=self.largest)
        typed_text: str = self.resolve(
            lambda asked: self.format_for_url(asked) if self.read(asked) else None,
            allowed,
            fit=self.format_for_url,  # in any language
            widget=st.selectbox,
            is_drawn=is_drawn,
            options=[f"{number:,}" for number in self.usual],
            accept_new_options=True,
            width=130,
        )
        number = self.read(typed_text)
        if number is None:
            number = self.unchosen
            self.refuse_typed(typed_text, allowed, number)
        return number

    @property
    def unchosen(self) -> int:
        return self.read(self.default) or 1

    def put(self, value: int) -> None:
        """Take over a number that was clicked; a callback."""
        super().put(f"{value:,}")

    def speak(self, options: Sequence[Any]) -> Callable[[Any], str]:
        """What writes a number with the marks of the language, also one that was typed."""
        spoken = get_language()
        return lambda text: write_value(text, spoken) if self.read(text) else text

    def find_missed(self, request: Any, value: Any) -> str | None:
        """In a link, thousands may be apart as in any language."""
        return super().find_missed(self.format_for_url(request), value)

    def format_for_url(self, value: Any) -> Any:
        """A link is the same in every language."""
        text = f"{value:,}" if isinstance(value, int) else value
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
        value = self.resolve(find_among(steps), describe_options(steps))
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
        opened_with, usual = OPENED_WITH.format(self.key), opens_with or self.default
        if st.session_state.get(self.key) == st.session_state.get(opened_with):
            st.session_state[self.key] = usual  # nobody has chosen
            self.keep(usual)
        st.session_state[opened_with] = usual
        allowed = describe_options(choices) if choices else describe_range(self.low, self.high)

        def fit(wanted: int) -> int:
            return min(choices or self.possible, key=lambda one: abs(one - wanted))

        nearest: int = self.resolve(find_among(self.possible), allowed, usual, fit)
        st.session_state[self.key] = nearest
        return nearest
