"""The base of all controls: its name in the URL, its words on screen, its value in the session.

There is one way for all. What the session or the link says is read before anything is drawn, made
possible here, kept for other pages and written back; then a widget draws it, or a picture does. A
link that asks for what cannot be is told so: a reader who followed it would see another picture and
not know it. So no widget is bound to the URL by Streamlit, which ignores what it does not allow.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from explainers.messages import N_
from explainers.translations import _, load_sections, translate_section
from explainers.ui.session import visitor
from explainers.ui.untrusted_text import shorten, verbatim

MOST_NAMES = 24
"""A message with more names than this is not read."""


@dataclass(frozen=True)
class Control:
    """A choice with its name in the URL, its words on screen and its value without a link."""

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

    def keep(self, value: Any) -> None:
        """Remember a choice for the other pages."""
        known = visitor()
        known.kept[self.key] = known.visit, value

    def resolve(
        self,
        find: Callable[[Any], Any],
        allowed: str,
        usual: Any = None,
        fit: Callable[[Any], Any] = lambda value: value,
        widget: Callable[..., Any] | None = None,
        is_drawn: bool = True,
        **settings: Any,
    ) -> Any:
        """What is chosen, here or on another page, or linked; without all of these, `usual`.

        `find` reads a link, and gives None for what cannot be. `fit` makes possible here what was
        chosen elsewhere. A `widget` of Streamlit's shows it, and lets it be changed; what is not
        drawn a picture offers, or another place.
        """
        usual = self.default if usual is None else usual
        request, value = self._read(find, usual)
        value = fit(usual if value is None else value)
        self.keep(value)
        self.write(value, usual)
        if widget and is_drawn:
            self.draw(widget, value, **settings)
        if request is not None and (missed := self.find_missed(request, value)) is not None:
            visitor().notices[self.key] = missed, value
        self.tell_bad_link(value, allowed)
        return value

    def resolve_among(
        self,
        values: Sequence[Any],
        usual: Any = None,
        widget: Callable[..., Any] | None = None,
        **settings: Any,
    ) -> Any:
        """The same where only these values are possible, and `usual` stands in for any other."""
        usual = self.default if usual is None else usual

        def fit(value: Any) -> Any:
            return value if value in values else usual

        find, allowed = find_among(values), describe_options(values)
        return self.resolve(find, allowed, usual, fit, widget, options=values, **settings)

    def _read(self, find: Callable[[Any], Any], usual: Any) -> tuple[Any, Any]:
        """What the link wants, if it is to be obeyed, and the choice."""
        request, known = self.read_url(), visitor()
        kept_in, kept = known.kept.get(self.key, (known.visit, None))
        if request is None and kept_in != known.visit and self.key not in st.session_state:
            st.session_state[self.key] = kept  # the widget of another page is gone
        written_in, text, _usual = known.written.get(self.key, (None, None, None))
        is_put = known.put.pop(self.key, None) == known.visit
        if self.key not in st.session_state:
            is_asked = True
        elif written_in != known.visit:  # the link with which the page was opened, if it names this
            is_asked = request is not None and not is_put
        else:  # any other address is older than the session: what was written is on its way there
            is_asked = comes_back() and text != request
        if is_asked:
            wanted = None if request is None else find(request)
            st.session_state[self.key] = usual if wanted is None else wanted
            known.notices.pop(self.key, None)  # it was of another link
        return request if is_asked else None, st.session_state[self.key]

    def draw(self, widget: Callable[..., Any], value: Any, **settings: Any) -> Any:
        """A widget that shows the value; what it says then is what the next run reads."""
        # On another page it is another widget, though the session reads it by the same name. Where
        # it shows the value already, it is not put: what was clicked since would be taken back.
        known = visitor()
        if st.session_state.get(self.key) != value or known.drawn.get(self.key) != known.visit:
            st.session_state[self.key] = value
        known.drawn[self.key] = known.visit
        if "options" in settings:
            settings = {"format_func": self.speak(settings["options"]), **settings}
        settings |= {"key": self.key, **self.label_and_help}
        return widget(**settings)

    def name(self, value: Any) -> str:
        """What is said of a value that a link did not ask for."""
        return write_option(value)

    def speak(self, options: Sequence[Any]) -> Callable[[Any], str]:
        """What says each option in the visitor's language.

        Words are found by their English, as links have it: what is put together from slots has
        only that.
        """
        translated = {one: _(one) if isinstance(one, str) else str(one) for one in options}
        return lambda one: translated.get(one, str(one))

    def find_missed(self, request: Any, value: Any) -> str | None:
        """What a link asks for, if it is not this value."""
        return None if is_value(request, value) else request

    def tell_bad_link(self, value: Any, allowed: str) -> None:
        """Until the choice is touched, say that a link asked for what cannot be."""
        notices = visitor().notices
        wanted, instead = notices.get(self.key, (None, None))
        if wanted is not None and instead != value:
            del notices[self.key]
        elif wanted is not None:
            notice = _(
                "The link asks for {name} = {wanted}. Use {allowed}; the page shows {value}.",
                name=self.key,
                wanted=verbatim(shorten(wanted)),
                allowed=allowed,
                value=verbatim(self.name(value)),
            )
            st.info(notice, icon=":material/link_off:")

    def refuse_typed(self, typed_text: str, allowed: str, instead: int) -> None:
        """Say that a number was typed that cannot be."""
        notice = _(
            "{name} = {written} is not allowed. Use {allowed}; the page shows {instead:,}.",
            name=self.key,
            written=verbatim(shorten(typed_text)),
            allowed=allowed,
            instead=instead,
        )
        st.info(notice, icon=":material/edit_off:")

    def stay(self) -> None:
        """What was chosen on this page, whatever the browser says; before the widget.

        It draws no widget of a closed menu. So it does not learn what was put, and sends with the
        next click what the widget had shown last.
        """
        known = visitor()
        kept_in, kept = known.kept.get(self.key, (None, None))
        if kept_in == known.visit:
            st.session_state[self.key] = kept

    def put(self, value: Any) -> None:
        """Take over what the browser says; a callback."""
        st.session_state[self.key] = value
        self.keep(value)
        known = visitor()
        known.put[self.key] = known.visit

    def write(self, value: Any, default: Any = None) -> None:
        """Put the choice into the URL, or take it out if it is the default."""
        default = self.default if default is None else default
        usual = None if default is None else self.format_for_url(default)
        said, text = self.read_url(), None if value == default else self.format_for_url(value)
        if isinstance(said, str) and text is not None and is_value(said, value):
            text = said  # in other words: true is 1
        if text != said:  # most are as they were, and each message costs time
            if text is None:
                st.query_params.pop(self.key, None)
            else:
                st.query_params[self.key] = text
        known = visitor()
        known.written[self.key] = known.visit, text, usual

    def read_url(self) -> Any:
        """What stands in the URL."""
        return st.query_params.get(self.key)

    def format_for_url(self, value: Any) -> Any:
        """How the URL has it."""
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        return f"{value:g}" if isinstance(value, bool | float) else value


def comes_back() -> bool:
    """Is this the run of a reader who goes through the history, or as through it to a link?"""
    context = get_script_run_ctx()
    return context is not None and context.is_history_navigation


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


def write_option(value: Any) -> str:
    """As a link may have it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def describe_options(values: Sequence[Any]) -> str:
    """What a link may ask for, in words."""
    if len(values) > MOST_NAMES:
        return N_("one of the {count} that the list offers", count=len(values))
    return N_("one of {names}", names=", ".join(map(write_option, values)))


def describe_range(low: int, high: int) -> str:
    """The same where every whole number between two may be asked for."""
    return N_("a whole number from {low} to {high}", low=low, high=high)


def find_among(values: Sequence[Any]) -> Callable[[Any], Any]:
    """How a link is read where only these values are possible."""
    return lambda request: next((one for one in values if is_value(request, one)), None)
