"""Go deeper: closed cards at the end of a page, computed when they are opened, one at a time."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from explainers.messages import N_
from explainers.translations import _, get_language
from explainers.ui.controls.control import Control
from explainers.ui.controls.controls import register
from explainers.ui.export_mode import is_whole_export
from explainers.ui.figure.hero import show_chosen
from explainers.ui.lecture.screens import CARD_KEY, is_lecture, screen
from explainers.ui.page import Prose, split_title
from explainers.ui.session import CARDS_DRAWN, CARDS_LEFT_OPEN, LECTURE_CARDS, OPEN_CARD, visitor
from explainers.ui.text.language import fragment
from explainers.ui.untrusted_text import shorten, verbatim

Cards = Mapping[str, Callable[[], object]]
"""Name of a card → what draws its content; it reads what is chosen when it runs."""


@dataclass(frozen=True)
class OpenCard(Control):
    """The name of the one card that is open, as `deep=` in a link; None if all are closed."""

    def __call__(self, page: str, names: Sequence[str]) -> str | None:
        """The open card; sets the state of all of them where the link or the page has changed."""
        visit, language, drawn = st.session_state.get(CARDS_DRAWN, (None, None, None))
        is_new = visit != visitor().visit
        if is_new:  # the cards of another page are other cards
            left_open = st.session_state.get(CARDS_LEFT_OPEN, {}).get(page)
            st.session_state[self.key] = left_open
            self.keep(left_open)
        name: str | None = self.resolve_among(names)
        if is_new or drawn != name or language != get_language():
            self.open(page, names, name)  # with other titles they are other expanders
        return name

    def name(self, value: Any) -> str:
        """What is said of a card."""
        return value or _("no card")

    def open(self, page: str, names: Sequence[str], name: str | None) -> None:
        """Open this card, or none, and close all others."""
        for other in names:
            st.session_state[OPEN_CARD.format(page, other)] = other == name
        st.session_state[CARDS_DRAWN] = visitor().visit, get_language(), name
        st.session_state.setdefault(CARDS_LEFT_OPEN, {})[page] = name

    def turn(self, page: str, names: Sequence[str], name: str) -> None:
        """A card was clicked; a callback."""
        opened = name if st.session_state[OPEN_CARD.format(page, name)] else None
        self.put(opened)
        self.open(page, names, opened)


open_card = OpenCard(CARD_KEY, N_("Open card"), None)
register(open_card)


def go_deeper(text: Prose, cards: Cards) -> None:
    """The heading, and a card for each name, titled by the page's text `deeper_<name>`.

    The text is one line: what one learns in bold, a sentence, the minutes in italics. A card's
    content is a fragment. A class sees the titles in the overview, where a lecturer may choose from
    them, and the card that is open.
    """
    if not is_lecture():
        if text.has("deeper"):
            text("deeper")
        else:
            heading = _("Go deeper")
            st.markdown(f"## {heading}")
        _draw_cards(text, cards)
        return
    opened = open_card(text.page, list(cards))
    st.session_state[LECTURE_CARDS] = list(cards)
    for name, draw in cards.items():
        title = split_title(text.fill(f"deeper_{name}"))[0]
        with screen("card", name):
            st.markdown(title)
        if name == opened:
            with screen("deeper", name):
                st.markdown(f"## {title}")
                fragment(draw)()


def refuse_card() -> None:
    """On a page without cards, say so to a link that asks for one."""
    if wanted := open_card.read_url():
        shown = verbatim(shorten(wanted))
        notice = _("The link asks for the card {wanted}. This page has no cards.", wanted=shown)
        st.info(notice, icon=":material/link_off:")


@fragment
def _draw_cards(text: Prose, cards: Cards) -> None:
    names = list(cards)
    open_card(text.page, names)
    with st.container(key="go deeper", gap="small"):
        for name, draw in cards.items():
            box = st.expander(
                " ".join(text.fill(f"deeper_{name}").split()),
                key=OPEN_CARD.format(text.page, name),
                on_change=open_card.turn,
                args=(text.page, names, name),
            )
            if box.open or is_whole_export():
                with box:
                    show_chosen(name, draw)
