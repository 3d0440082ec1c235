"""Following a lecturer: what a page has to do with it. It says where it is, and no more.

The script `browser/follow/follow.js` talks to the routes beside the app. Lecturers have it, and
those who came by the link of a room.
"""

import re

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from explainers.translations import _
from explainers.ui import browser_files
from explainers.ui.lecture.screens import draw_until, is_lecture
from explainers.ui.lecture.share_link import list_places, note_local_host
from explainers.ui.session import TAKES_PART

ROOM_KEY = "follow"
"""What a link calls the room that is to be followed."""
_follow = browser_files.make_component("follow/follow.js", isolate_styles=False)


SCREEN_KEY, ORDER_KEY, SET_KEY = "screen", "mine", "set"
"""What a link calls the lecturer's screen, those that a lecturer has chosen, a shorter lecture."""
_SCREEN = re.compile(r"[1-9]\d{0,2}")


def take_part(place: str, is_new: bool) -> None:
    """Tell the browser which page this is, and with which query it was asked for.

    Once a visitor takes part, all pages do: the browser goes from one to the other. A page that
    `is_new` to a follower ends with the lecturer's screen; the browser asks for the rest later.
    """
    draw_until(None)
    if ROOM_KEY in st.query_params or is_lecture():
        st.session_state[TAKES_PART] = True
    if TAKES_PART not in st.session_state:
        return
    context = get_script_run_ctx()
    first = (
        count_first_screens(place) if is_new and context and context.is_history_navigation else None
    )
    draw_until(first)
    data = {
        "place": place,
        "query": context.query_string if context else "",
        "places": list(list_places()),
        "isShort": first is not None,
        "words": _list_words(),
    }
    _follow(key=TAKES_PART, data=data, on_rest_change=draw_rest)


def count_first_screens(place: str) -> int | None:
    """How many screens of a page a follower needs at once; None for all of them.

    Many come to a new page in the same second, and one screen of it is seen.
    """
    chosen = st.query_params.get_all(ORDER_KEY)
    if ROOM_KEY not in st.query_params or not is_lecture():
        return None
    if SET_KEY in st.query_params or any(one.partition(":")[0] == place for one in chosen):
        return None  # only who has all screens knows which one is meant
    asked = _SCREEN.match(st.query_params.get(SCREEN_KEY, "1"))
    return int(asked[0]) if asked else 1


def draw_rest() -> None:
    """A follower asks for the rest of the page; any run that is not the first one draws it."""


def _list_words() -> dict[str, object]:
    return {
        "lead": _("Let the audience follow (F)"),
        "title": _("Follow on your own screen"),
        "code": _("A code to scan: the link to this lecture"),
        "count": _("Followers: {count}"),
        "local": note_local_host("{host}"),
        "end": _("End it for everybody"),
        "hand": _("Lead from another device"),
        "device": _("Scan this with the other device, and type the code that it shows."),
        "accept": _("Hand over"),
        "wish": _("To lead from here, type this code on the lecturer’s screen: {code}"),
        "following": _("Following the lecturer"),
        "waiting": _("Waiting for the lecturer"),
        "again": _("The lecturer is at {number} · follow again"),
        "leave": _("Stop following"),
        "over": _("The lecture is over."),
        "vote": _("Your vote"),
        "votes": _("Votes: {count} (V)"),
        "anew": _("Vote again"),
        "table": _("Votes, CSV"),
        "reasons": {
            "unknown": _("No lecture has this code now."),
            "no device": _("No device shows this code now."),
            "full": _("The room is full."),
            "away": _("The server cannot be reached. Trying again …"),
            "unheard": _("The audience does not hear you at the moment. Trying again …"),
            "too fast": _("That was too fast. Trying again …"),
            "not yours": _("Another device leads this room."),
            "many rooms": _("The server has no room left. Try again later."),
            "many rooms here": _("Too many rooms were opened from your network. Try again later."),
            "wrong": _("This link is too long for the audience. Take a shorter sentence."),
        },
    }
