"""What a link asks for, and what the reader is told when it cannot be.

Streamlit ignores a value in the URL that a widget does not allow; a reader who followed the link
would see another picture and not know it.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from explainers.phrase import phrase
from explainers.ui.text.language import said, translated
from explainers.ui.untrusted_text import shortened, verbatim

NOTICES, KEPT = "notices of links", "choices of this visitor"
MOST_NAMED = 24
"""A message with more names than this is not read."""
VISIT = "visit"
"""Counts the pages that were opened, in the session's state."""


@dataclass(frozen=True)
class Control:
    """A choice with its name in the URL, its words on screen and what it is without a link."""

    key: str
    label: str
    default: Any
    help: str | None = field(default=None, kw_only=True)

    @property
    def words(self) -> dict[str, Any]:
        """What a widget of Streamlit's says of itself, in the visitor's language."""
        return {"label": translated(self.label), "help": translated(self.help or "") or None}

    def asked(self) -> str | None:
        """What the link wants, if this visitor has not touched the control yet.

        On a page that was just opened without a link the control takes up what was chosen on
        another one: Streamlit gives a bound control its default where the URL is silent.
        """
        linked = st.query_params.get(self.key)
        visit, kept = st.session_state.get(KEPT, {}).get(self.key, (None, None))
        if linked is None and visit not in (None, st.session_state.get(VISIT)):
            st.session_state[self.key] = kept
        return None if self.key in st.session_state else linked

    def keep(self, value: Any) -> None:
        """Remember a choice for the other pages."""
        visit = st.session_state.get(VISIT)
        st.session_state.setdefault(KEPT, {})[self.key] = visit, value

    def put_aside(self, possible: Iterable[Any], allowed: str) -> None:
        """Not in sight for now: what was chosen, or a link asks for, comes with the control."""
        asked = self.asked()
        wanted = [] if asked is None else [one for one in possible if means(asked, one)]
        own = st.session_state.get(self.key, wanted[0] if wanted else self.default)
        st.session_state[self.key] = own  # Streamlit forgets the choice of a control that is gone
        self.keep(own)
        self.told(asked, own, allowed)

    def told(self, asked: str | None, value: Any, allowed: str) -> Any:
        """Return the value; until it is touched, tell that a link asked for what cannot be."""
        notices = st.session_state.setdefault(NOTICES, {})
        if asked is not None and not means(asked, value):
            notices[self.key] = (asked, value)
        wanted, instead = notices.get(self.key, (None, None))
        if wanted is not None and instead != value:
            del notices[self.key]
        elif wanted is not None:
            notice = said(
                "The link asks for {name} = {wanted}. Allowed is {allowed}; this is {value}.",
                name=self.key,
                wanted=verbatim(shortened(wanted)),
                allowed=allowed,
                value=verbatim(str(value)),
            )
            st.info(notice, icon=":material/link_off:")
        return value


def means(asked: str, value: Any) -> bool:
    if isinstance(value, bool):
        return asked.lower() in ({"true", "1"} if value else {"false", "0"})
    if isinstance(value, int | float):
        try:
            return math.isclose(float(asked), value)
        except ValueError:
            return False
    return asked == value


def one_of(values: Sequence[Any]) -> str:
    """What a link may ask for, in words."""
    if len(values) > MOST_NAMED:
        return phrase("one of the {count} that the list offers", count=len(values))
    return phrase("one of {names}", names=", ".join(map(str, values)))


def whole(low: int, high: int) -> str:
    """The same where every whole number between two may be asked for."""
    return phrase("a whole number from {low} to {high}", low=low, high=high)
