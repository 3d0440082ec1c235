"""The base of all controls: its name in the URL, its words on screen, its value in the session.

Streamlit ignores a value in the URL that a widget does not allow; a reader who followed the link
would see another picture and not know it. Every control therefore says what it shows instead.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import streamlit as st

from explainers.messages import N_
from explainers.translations import ENGLISH, _, get_language, load_sections, translate_section
from explainers.ui.session import CHANGED_IN_BROWSER, HELD, KEPT_CHOICES, LAST_WRITE, NOTICES, VISIT
from explainers.ui.untrusted_text import shorten, verbatim

URL_BINDING: Final = "query-params"
MOST_NAMES = 24
"""A message with more names than this is not read."""


@dataclass(frozen=True)
class Control:
    """A choice with its name in the URL, its words on screen and its value without a link.

    A widget of Streamlit's is bound to the URL by Streamlit: `ask`. A choice that is made in a
    component writes its own place there: `look`, `put`.
    """

    key: str
    label: str
    default: Any
    link_form: ClassVar[str] = ""
    """How a browser writes a value that is no plain text or number: `common/address.js`."""

    @property
    def unchosen(self) -> Any:
        """What is chosen where nobody has chosen."""
        return self.default

    @property
    def label_and_help(self) -> dict[str, Any]:
        """What a widget of Streamlit's says of itself, in the visitor's language."""
        is_explained = self.key in load_sections("controls")
        words = translate_section("controls", self.key) if is_explained else None
        return {"label": _(self.label), "help": words}

    def read_request(self) -> str | None:
        """What the link wants, if this visitor has not touched the control yet.

        On a page that was just opened without a link the control takes up what was chosen on
        another one: Streamlit gives a bound control its default where the URL is silent.
        """
        url_value = st.query_params.get(self.key)
        visit, kept_choice = st.session_state.get(KEPT_CHOICES, {}).get(self.key, (None, None))
        if url_value is None and visit not in (None, st.session_state.get(VISIT)):
            st.session_state[self.key] = kept_choice
        return None if self.key in st.session_state else url_value

    def keep(self, value: Any) -> None:
        """Remember a choice for the other pages."""
        visit = st.session_state.get(VISIT)
        st.session_state.setdefault(KEPT_CHOICES, {})[self.key] = visit, value

    def set_aside(self, possible: Sequence[Any]) -> None:
        """Keep the choice, or what a link asks for, while the control is out of sight."""
        request = self.read_request()
        linked = None if request is None else find_among(possible)(request)
        value = st.session_state.get(self.key, self.default if linked is None else linked)
        st.session_state[self.key] = value  # Streamlit forgets the choice of a control that is gone
        self.settle(request, value, describe_options(possible))

    def ask(
        self,
        widget: Callable[..., Any],
        allowed: str,
        fit: Callable[[Any], Any] = lambda value: value,
        **settings: Any,
    ) -> Any:
        """What a widget says; `fit` makes it possible here if it was chosen on another page."""
        request = self.read_request()
        if self.key in st.session_state:
            now = st.session_state[self.key]
            if (fitted := fit(now)) != now:
                st.session_state[self.key] = fitted
        return self.report_bad_link(request, self.draw(widget, **settings), allowed)

    def draw(
        self,
        widget: Callable[..., Any],
        words: Sequence[str] = (),
        usual: Any = None,
        find: Callable[[Any], Any] | None = None,
        **settings: Any,
    ) -> Any:
        """What a widget of Streamlit's says; it stands in the URL and is kept for other pages.

        Streamlit writes into the URL what stands on the screen, so a widget whose `words` are
        others than those of links is not bound. `find` is how a link is read then; `usual` stands
        there without one.
        """
        usual = self.default if usual is None else usual
        settings |= {"key": self.key, **self.label_and_help}
        is_own = get_language() != ENGLISH and any(_(word) != word for word in words)
        if is_own:
            self.read_link(find or find_among(words), usual)
            settings |= {"format_func": self.speak(words), "on_change": self._note_change}
        else:
            self._say_again(usual)
            settings["bind"] = URL_BINDING
        value = widget(**settings)
        value = usual if value is None else value
        self.keep(value)
        if is_own:
            self.write(value, usual)
        return value

    def _say_again(self, usual: Any) -> None:
        """Have Streamlit write the choice into the URL where it does not stand there.

        A run that moves a widget to another place of the page has the browser forget that it is
        bound, and what is chosen next would stay out of the address. Streamlit writes what is put.
        """
        value, said = st.session_state.get(self.key), self.read_url()
        if value is None:
            return
        is_said = value == usual if said is None else self.is_said(said, value)
        if not is_said:
            st.session_state[self.key] = value

    def is_said(self, said: Any, value: Any) -> bool:
        """Does what stands in the URL mean this value?"""
        return is_value(said, value)

    def speak(self, words: Sequence[str]) -> Callable[[str], str]:
        """What says each of the words in the visitor's language.

        They are found by their English, as links have it: what is put together from slots has only
        that.
        """
        translated = {word: _(word) for word in words}
        return lambda word: translated.get(word, word)

    def look(
        self,
        find: Callable[[Any], Any],
        allowed: str,
        usual: Any = None,
        fit: Callable[[Any], Any] = lambda value: value,
    ) -> Any:
        """What is chosen, here or on another page, or linked, where no widget is drawn."""
        self.read_request()  # takes up what was chosen on another page
        request, value = self.read_link(find, usual)
        value = fit(value)
        self.settle(request, value, allowed)
        self.write(value, usual)
        return value

    def settle(self, request: str | None, value: Any, allowed: str) -> Any:
        """Keep a choice for other pages, and say if a link asked for another; returns it."""
        self.keep(value)
        return self.report_bad_link(request, value, allowed)

    def report_bad_link(self, request: str | None, value: Any, allowed: str) -> Any:
        """Return the value; until it is touched, say that a link asked for what cannot be."""
        notices = st.session_state.setdefault(NOTICES, {})
        if request is not None and not is_value(request, value):
            notices[self.key] = (request, value)
        wanted, instead = notices.get(self.key, (None, None))
        if wanted is not None and instead != value:
            del notices[self.key]
        elif wanted is not None:
            notice = _(
                "The link asks for {name} = {wanted}. Use {allowed}; the page shows {value}.",
                name=self.key,
                wanted=verbatim(shorten(wanted)),
                allowed=allowed,
                value=verbatim(str(value)),
            )
            st.info(notice, icon=":material/link_off:")
        return value

    def read_link(self, read: Callable[[Any], Any], default: Any = None) -> tuple[Any, Any]:
        """What the link wants, if it is to be obeyed, and the choice; `read` gives None for no."""
        default = self.default if default is None else default
        request = self.read_url()
        last_write = st.session_state.get(LAST_WRITE.format(self.key))
        is_new = self.key not in st.session_state
        is_elsewhere = (
            last_write and last_write[0] == st.session_state.get(VISIT) and last_write[1] != request
        )
        # At a click, the browser's address may still lag behind what was written after the last.
        is_late = st.session_state.pop(CHANGED_IN_BROWSER.format(self.key), False)
        if is_new or (is_elsewhere and not is_late):
            # A link, or the browser's Back. A page that is opened again has lost its place there.
            wanted = None if request is None else read(request)
            st.session_state[self.key] = default if wanted is None else wanted
        else:
            request = None
        return request, st.session_state[self.key]

    def hold(self, is_open: bool) -> None:
        """Keep the choice while the menu that the control is in is closed; before the widget.

        The browser draws no widget of a closed menu. So it does not learn what was put, and sends
        with the next click what the widget had shown last.
        """
        now, visit = st.session_state.get(self.key), st.session_state.get(VISIT)
        held_visit, was_open, held = st.session_state.get(HELD.format(self.key), (None, True, None))
        if held_visit == visit and not was_open and held is not None and now != held:
            now = st.session_state[self.key] = held
        st.session_state[HELD.format(self.key)] = visit, is_open, now

    def release(self, value: Any = None) -> None:
        """Another choice than the one that is held was made without the widget, or may be."""
        if held := st.session_state.get(HELD.format(self.key)):
            st.session_state[HELD.format(self.key)] = *held[:2], value

    def put(self, value: Any) -> None:
        """Take over what the browser says; a callback."""
        st.session_state[self.key] = value
        self.release(value)
        self._note_change()

    def write(self, value: Any, default: Any = None) -> None:
        """Put the choice into the URL, or take it out if it is the default."""
        default = self.default if default is None else default
        usual = None if default is None else self.format_for_url(default)
        text = None if value == default else self.format_for_url(value)
        if text != self.read_url():  # most are as they were, and each message costs time
            if text is None:
                st.query_params.pop(self.key, None)
            else:
                st.query_params[self.key] = text
        st.session_state[LAST_WRITE.format(self.key)] = st.session_state.get(VISIT), text, usual

    def read_url(self) -> Any:
        """What stands in the URL."""
        return st.query_params.get(self.key)

    def format_for_url(self, value: Any) -> Any:
        """How the URL has it."""
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        return f"{value:g}" if isinstance(value, bool | float) else value

    def _note_change(self) -> None:
        st.session_state[CHANGED_IN_BROWSER.format(self.key)] = True


def is_value(request: str, value: Any) -> bool:
    """Is a text in a link this value?"""
    if isinstance(value, bool):
        return request.lower() in ({"true", "1"} if value else {"false", "0"})
    if isinstance(value, int | float):
        try:
            return math.isclose(float(request), value)
        except ValueError:
            return False
    return request == value


def describe_options(values: Sequence[Any]) -> str:
    """What a link may ask for, in words."""
    if len(values) > MOST_NAMES:
        return N_("one of the {count} that the list offers", count=len(values))
    return N_("one of {names}", names=", ".join(map(str, values)))


def describe_range(low: int, high: int) -> str:
    """The same where every whole number between two may be asked for."""
    return N_("a whole number from {low} to {high}", low=low, high=high)


def find_among(values: Sequence[Any]) -> Callable[[Any], Any]:
    """How a link is read where only these values are possible."""
    return lambda request: next((one for one in values if is_value(request, one)), None)
