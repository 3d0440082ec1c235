"""The reader's choices. Each control is defined once; its key is its name in the URL.

A link may hold anything. What a control does not allow, it answers with its default, says so in a
line of its own, and leaves the other choices alone.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from explainers.sentence import MAX_CHARACTERS, PRESETS, SENTENCE, Sentence, read_sentence
from explainers.ui.plain import escaped, shortened

URL = "query-params"
_NOTICES = "notices of links"
_PRESET = "preset"


@dataclass(frozen=True)
class Whole:
    """A slider over whole numbers."""

    key: str
    label: str
    low: int
    high: int
    default: int
    help: str | None = None

    def __call__(self) -> int:
        asked = _asked(self.key)
        value = st.slider(
            self.label, self.low, self.high, self.default, key=self.key, bind=URL, help=self.help
        )
        _say(self.key, asked, value, f"a whole number from {self.low} to {self.high}")
        return value


@dataclass(frozen=True)
class Counter:
    """A number to count up and down, whose range may depend on the sentence."""

    key: str
    label: str
    default: int
    help: str | None = None

    def __call__(self, low: int, high: int) -> int:
        asked = _asked(self.key)
        kept = st.session_state.get(self.key)
        if kept is not None and not low <= kept <= high:
            st.session_state[self.key] = min(max(kept, low), high)
        default = min(max(self.default, low), high)
        value = st.number_input(
            self.label, low, high, default, key=self.key, bind=URL, help=self.help, width=160
        )
        _say(self.key, asked, value, f"a whole number from {low} to {high}")
        return int(value)


@dataclass(frozen=True)
class Ladder:
    """A slider over chosen values, such as powers of two."""

    key: str
    label: str
    steps: tuple[float, ...]
    default: float
    help: str | None = None

    def __call__(self) -> Any:
        asked = _asked(self.key)
        value = st.select_slider(
            self.label, self.steps, self.default, key=self.key, bind=URL, help=self.help
        )
        _say(self.key, asked, value, "one of " + ", ".join(map(str, self.steps)))
        return value


@dataclass(frozen=True)
class Choice:
    """One of a few named options, all of them in sight."""

    key: str
    label: str
    options: tuple[str, ...]
    default: str
    help: str | None = None

    def __call__(self) -> str:
        asked = _asked(self.key)
        value = st.segmented_control(
            self.label,
            self.options,
            default=self.default,
            key=self.key,
            bind=URL,
            required=True,
            help=self.help,
        )
        _say(self.key, asked, value, "one of " + ", ".join(self.options))
        return value


@dataclass(frozen=True)
class Switch:
    """On or off."""

    key: str
    label: str
    default: bool
    help: str | None = None

    def __call__(self) -> bool:
        asked = _asked(self.key)
        value = st.toggle(self.label, self.default, key=self.key, bind=URL, help=self.help)
        _say(self.key, asked, value, "true or false")
        return value


@dataclass(frozen=True)
class Listed:
    """One of a list of names that depends on the page."""

    key: str
    label: str
    default: str = ""

    def __call__(self, names: Sequence[str], default: str) -> str:
        asked = _asked(self.key)
        if st.session_state.get(self.key, default) not in names:
            st.session_state[self.key] = default
        value = st.selectbox(
            self.label, names, names.index(default), key=self.key, bind=URL, width=160
        )
        _say(self.key, asked, value, "one of " + ", ".join(names))
        return value


d_model = Ladder("d_model", "d_model: numbers per token", (4, 8, 16, 32, 64, 128), 8)
head_dim = Whole("d_k", "d_k: numbers per query and key", 2, 128, 4)
value_dim = Whole("d_v", "d_v: numbers per value", 2, 128, 4)
seed = Whole("seed", "Seed of the random numbers", 0, 99, 0)
mask = Choice("mask", "Mask", ("full", "causal"), "full", "Who may look at whom.")
predict_first = Switch("predict", "Predict first", True, "Ask before a picture is shown.")
queries_down = Choice(
    "queries",
    "Queries run",
    ("down", "across"),
    "down",
    "Most code has queries down the side; some lectures draw them along the top.",
)
matrix = Listed("matrix", "Matrix")
row = Counter("row", "Row (from 0)", 2)
column = Counter("column", "Column (from 0)", 1)


def sentence() -> Sentence:
    """The text that all pages look at: typed, chosen or from a link."""
    asked = _asked("text")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        raw = st.text_input("Sentence", SENTENCE, max_chars=MAX_CHARACTERS, key="text", bind=URL)
        st.selectbox(
            "Or choose one",
            list(PRESETS),
            index=None,
            key=_PRESET,
            placeholder="Examples",
            on_change=_take_preset,
            width=200,
        )
    read = read_sentence(raw if asked is None or len(asked) <= MAX_CHARACTERS else asked)
    for note in read.notes:
        st.info(escaped(note), icon=":material/info:")
    return read


def reset() -> None:
    """Every choice back to its default; a callback, to run before the page does."""
    for control in ALL:
        st.session_state[control.key] = control.default
    st.session_state["text"] = SENTENCE
    for key in list(st.session_state):
        if str(key).startswith(GUESS):
            st.session_state[key] = None
    st.session_state.pop(_NOTICES, None)


GUESS = "guess_"
"""Keys of the answers to questions begin with this."""
ALL = (d_model, head_dim, value_dim, seed, mask, predict_first, queries_down, matrix, row, column)


def _take_preset() -> None:
    chosen = st.session_state[_PRESET]
    if chosen:
        st.session_state["text"] = PRESETS[chosen]


def _asked(key: str) -> str | None:
    """What the link wants, if this visitor has not touched the control yet."""
    return None if key in st.session_state else st.query_params.get(key)


def _say(key: str, asked: str | None, value: object, allowed: str) -> None:
    """Tell once, and until the choice is touched, that a link asked for what cannot be."""
    notices = st.session_state.setdefault(_NOTICES, {})
    if asked is not None and not _means(asked, value):
        notices[key] = (asked, value)
    told, at = notices.get(key, (None, None))
    if told is None:
        return
    if at != value:
        del notices[key]
        return
    st.info(
        f"The link asks for {key} = “{escaped(shortened(told))}”. Allowed is {escaped(allowed)}; "
        f"this is {escaped(str(value))}.",
        icon=":material/link_off:",
    )


def _means(asked: str, value: object) -> bool:
    if isinstance(value, bool):
        return asked.lower() == str(value).lower()
    if isinstance(value, int | float):
        try:
            return math.isclose(float(asked), value)
        except ValueError:
            return False
    return asked == value


def options(sequence: Sequence[str]) -> Callable[[int], str]:
    """Print numbered options whose texts come from readers."""
    return lambda position: f"{position}: {escaped(shortened(sequence[position], 24))}"
