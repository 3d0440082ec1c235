"""Lecture mode: in front of a class, one idea per screen, large, and nothing else.

The server names the parts of a page that a class sees; `browser/lecture` puts them on screens, one
after the other, so that no step waits for the server. What has no name is not shown.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from explainers.translations import _
from explainers.ui import browser_files
from explainers.ui.controls.control import comes_back, is_value
from explainers.ui.controls.controls import CONTROLS_BY_KEY, lecture_mode
from explainers.ui.lecture.share_link import list_places, note_local_host, share_address
from explainers.ui.session import LECTURE, LECTURE_CARDS, LECTURE_LINK, SCREENS_LEFT, TAKES_PART
from explainers.ui.text.language import fragment

_start_key = browser_files.make_component("lecture/start_key.js", isolate_styles=False)
PICTURE_SCRIPTS = ("picture/picture.js",)
_SCRIPTS = browser_files.list_scripts("lecture", "common")
_lecture = browser_files.make_component("lecture/lecture.js", isolate_styles=False)
_FOLLOW_SCRIPTS = browser_files.list_scripts("follow", "common")
_follow = browser_files.make_component("follow/follow.js", isolate_styles=False)
ROOM_KEY, SCREEN_KEY, ORDER_KEY, SET_KEY = "follow", "screen", "mine", "set"
"""What a link calls the room that is to be followed, the lecturer's screen, those that a lecturer
has chosen, a shorter lecture."""
HIDDEN_PAGE = """<style>
html:not([data-lecture-stands]) .stApp { animation: 60s step-end lecture; }
@keyframes lecture { from { visibility: hidden; } to { visibility: visible; } }
</style>"""
"""A class sees no page before its first screen; but where no script runs, it comes after all."""
SCREEN_KINDS = "hero", "try", "slow", "ask", "how", "model", "end", "deeper"
"""Parts that are a screen each; an answer without its question is one as well."""
PART_KINDS = *SCREEN_KINDS, "question", "answer", "picture", "rest", "code", "card"
"""What stands on a screen beside others: see `browser/lecture/screens.js`."""
MOST_SCREENS = 8
"""Of a page."""
LECTURE_SWITCH = lecture_mode.key
CARD_KEY = "deep"
"""What a link calls the open one of the cards below "Go deeper"."""
CAPTION_WORDS = 25
"""As many are read beside a picture."""
LESSON_MINUTES = 45
LESSON = {
    "": ("hero", "try try_causal", "try try_untrained", "end"),
    "tokens": ("ask",),
    "query_key_value": ("hero", "ask"),
    "scores": ("hero", "try melt", "ask"),
    "masks": ("hero", "try window", "ask"),
    "many_heads": ("hero", "try off", "ask"),
    "kv_cache": ("hero", "ask"),
    "cache_memory": ("hero",),
    "what_if": ("hero", "ask", "end"),
}
"""The screens of a lecture of so many minutes, by the pages' places in the address: the first one
of a kind, or one by its kind and name."""
_HEADING = re.compile(r"#+ [^\n]*\n+")
_SCREEN = re.compile(r"[1-9]\d{0,2}")
_SENTENCE_END = re.compile(r"(?<=[.!?:])(?:(?<=\*\*)|(?!\*))\s+|(?<=[.!?:]\*\*)\s+")


def is_lecture() -> bool:
    """Is this in front of a class?"""
    return bool(st.session_state.get(lecture_mode.key))


@contextmanager
def screen(kind: str, name: str) -> Iterator[None]:
    """What is drawn inside is a part of that kind on a class's screens; else it changes nothing."""
    if kind not in PART_KINDS:
        raise ValueError(kind)
    if not is_lecture():
        yield
        return
    if kind in SCREEN_KINDS:
        if kind != "try":
            end_after_last_screen()
        left = st.session_state.get(SCREENS_LEFT)
        st.session_state[SCREENS_LEFT] = left and left - 1
    with st.container(key=f"screen {kind} {name}"):
        yield


def draw_until(number: int | None) -> None:
    """Let this run of the page end after its screen of that number, from 1; None: draw all."""
    st.session_state[SCREENS_LEFT] = number


def is_last_screen() -> bool:
    """Is the last screen drawn that this run should draw?"""
    return st.session_state.get(SCREENS_LEFT) == 0


def end_after_last_screen() -> None:
    """End the run here if the last screen that it should draw is drawn.

    What changes the same picture costs nothing, and is drawn all the same. What stands below the
    screens is not for a class: the script ends.
    """
    if is_last_screen():
        draw_until(None)  # parts of the page may run again by themselves
        st.stop()


def show_on_screen(kind: str, name: str, text: str, mark: str | None = None) -> None:
    """A remark of the page as a class sees it: its heading, and as much as is read at a glance.

    The rest of it stands on the screen where there is no picture. By the `mark` scripts find it.
    """
    heading, caption, rest = cut_caption(text)
    with screen(kind, name), st.container(key=mark):
        st.markdown(f"{heading}\n\n{caption}")
    if rest:
        with screen("rest", f"{kind} {name}"):
            st.markdown(rest)


def cut_caption(text: str) -> tuple[str, str, str]:
    """The heading of a remark, its first whole sentences, at most 25 words, and what is left."""
    found = _HEADING.match(text)
    heading = found[0].strip() if found else ""
    paragraph, _break, below = text[found.end() if found else 0 :].strip().partition("\n\n")
    sentences = _SENTENCE_END.split(" ".join(paragraph.split()))
    count = 1
    while count < len(sentences) and len(" ".join(sentences[: count + 1]).split()) <= CAPTION_WORDS:
        count += 1
    caption, left = " ".join(sentences[:count]), " ".join(sentences[count:])
    if left and caption.endswith(":"):  # what it announces is not on the screen
        caption = f"{caption[:-1]}."
    return heading, caption, f"{left}\n\n{below}".strip()


def find_question(text: str) -> str:
    """The question in a remark: what it has in bold, else the sentence that asks."""
    line = " ".join(_HEADING.sub("", text, count=1).split())
    bold = re.findall(r"\*\*([^*].*?)\*\*", line.replace("***", "**"))
    asked = [one for one in [*bold, *_SENTENCE_END.split(line)] if one.endswith("?")]
    return asked[0][:1].upper() + asked[0][1:] if asked else line


def stand_by(title: str, place: str) -> None:
    """Listen for the key that begins a lecture, or hold one; `place` is the page in the address.

    While a server's first page waits for torch, the browser fetches what draws the pictures.
    """
    scripts = () if is_lecture() else PICTURE_SCRIPTS
    ahead = [browser_files.offer_ahead(script) for script in scripts]
    told = {"starts": _("Lecture mode starts …"), "heard": _("heard: {keys}")}
    _start_key(key="lecture key", data={"place": place, "ahead": ahead, **told})
    if is_lecture():
        _draw_lecture(title, place)


def hide_page() -> None:
    """Before anything else is drawn: a class sees nothing until its first screen stands."""
    is_new = LECTURE_SWITCH not in st.session_state or comes_back()
    is_asked = is_new and is_value(st.query_params.get(LECTURE_SWITCH, ""), value=True)
    if is_asked or is_lecture():  # in a visit's first run the switch is not drawn yet
        st.markdown(HIDDEN_PAGE, unsafe_allow_html=True)  # st.html comes later than a title


@fragment
def _draw_lecture(title: str, place: str) -> None:
    """In a fragment of its own: a link that is wanted costs no run of the page."""

    def ask() -> None:
        st.session_state[LECTURE_LINK] = share_address(str(st.session_state[LECTURE].share), place)

    def add() -> None:
        number, cards = st.session_state[LECTURE].card, st.session_state.get(LECTURE_CARDS, [])
        is_there = isinstance(number, int) and 0 <= number < len(cards)
        CONTROLS_BY_KEY[CARD_KEY].put(cards[number] if is_there else None)

    data = {
        "page": title,
        "words": browser_files.translate_scripts(_SCRIPTS),
        "shared": st.session_state.get(LECTURE_LINK),
        "plan": {"minutes": LESSON_MINUTES, "pages": LESSON},
    }
    told = _lecture(key=LECTURE, data=data, on_share_change=ask, on_card_change=add)
    if told.card is not None:
        st.rerun()  # the whole page: the card stands outside


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
    first = None
    if is_new and is_lecture() and ROOM_KEY in st.query_params and comes_back():
        # Many come to a new page in the same second, and one screen of it is seen. Only who has all
        # screens knows which one is meant where a lecturer has chosen some.
        chosen = [one.partition(":")[0] for one in st.query_params.get_all(ORDER_KEY)]
        if SET_KEY not in st.query_params and place not in chosen:
            asked = _SCREEN.match(st.query_params.get(SCREEN_KEY, "1"))
            first = int(asked[0]) if asked else 1
    draw_until(first)
    data = {
        "place": place,
        "query": context.query_string if context else "",
        "places": list(list_places()),
        "isShort": first is not None,
        "local": note_local_host("{host}"),
        "words": browser_files.translate_scripts(_FOLLOW_SCRIPTS),
    }
    # A follower asks for the rest: any run that is not the first one draws it.
    _follow(key=TAKES_PART, data=data, on_rest_change=lambda: None)
