"""What every page has: its title, its text, and the switches that mean the same everywhere."""

import gc
import re
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NoReturn

import streamlit as st

from explainers.translations import _, load_sections, say_value, translate_section
from explainers.ui.controls import controls
from explainers.ui.controls.controls import is_tour, lecture_mode, reset_choices, tour_mode
from explainers.ui.lecture.screens import (
    draw_until,
    find_question,
    hide_page,
    is_lecture,
    screen,
    show_on_screen,
    stand_by,
    take_part,
)
from explainers.ui.lecture.share_link import follow_short_link
from explainers.ui.session import GOES_TO, PAGE_DRAWN, visitor
from explainers.ui.text.language import fragment, offer_languages

DAY = 24 * 3600.0
"""Seconds. Streamlit's browser script, once it is connected again, asks for a run only if some part
of the page runs by itself from time to time. Without one, a session on another server would stay
empty, and what the reader chooses next would be lost."""
ONE_SENTENCE = "one_sentence"
"""The section with what a reader should remember of the page."""
QUESTION_SECTION, NEXT_QUESTION = "question", "next_question"
"""What a page asks, above its first picture; and the same where nothing is said before it."""
HOW_SECTIONS = {"how", "steps", "equal"}
"""How it works; pages with several such steps call it by these."""
STOP_SECTIONS = {"cannot", "no_words", "nothing_written"}
"""Why a page cannot show its picture."""
_TITLE = re.compile(r"\*\*(.+?)\.?\*\*\s*", re.DOTALL)
_NUMBER = re.compile(r"\{\{(\w+)\}\}")


class Prose:
    """The remarks of one page; calling it with a name shows one."""

    def __init__(self, page_file: str) -> None:
        self.page = Path(page_file).stem

    def __call__(self, name: str, /, **numbers: object) -> None:
        """Show a remark with its numbers; one that the text asks for must be given."""
        remark = self.fill(name, **numbers)
        if is_lecture() and name in HOW_SECTIONS:
            show_on_screen("how", f"{self.page} {name}", remark)
        elif is_lecture() and name == QUESTION_SECTION:
            alone = self.fill(NEXT_QUESTION) if self.has(NEXT_QUESTION) else remark
            with screen(name, self.page):
                st.markdown(f"## {find_question(alone)}")
            with screen("rest", self.page):
                st.markdown(remark)
        elif name in STOP_SECTIONS:
            with screen("model", name):
                st.markdown(remark)
        else:
            st.markdown(remark)

    def template(self, name: str) -> str:
        """A remark whose numbers are filled in by the browser."""
        return translate_section(self.page, name)

    def fill(self, name: str, /, **numbers: object) -> str:
        """A remark with its numbers, as Markdown."""
        return _fill(self._read(name), numbers)

    def split(self, name: str, slot: str, /, **numbers: object) -> tuple[str, str]:
        """A remark before and after the one place that `{{slot}}` marks."""
        before, _mark, after = self._read(name).partition(f"{{{{{slot}}}}}")
        return _fill(before, numbers), _fill(after, numbers)

    def has(self, name: str) -> bool:
        """Is there such a remark?"""
        return name in load_sections(self.page)

    def _read(self, name: str) -> str:
        # In the file a heading stands below its section's name, on the page below the title.
        return re.sub("^###", "##", translate_section(self.page, name), flags=re.MULTILINE)


def split_title(text: str) -> tuple[str, str]:
    """What stands in bold at the beginning of a remark, without its full stop, and the rest.

    A remark without such a title has all of it as the title.
    """
    title = _TITLE.match(text.strip())
    return (title[1], text.strip()[title.end() :]) if title else (text.strip(), "")


def _fill(text: str, numbers: Mapping[str, object]) -> str:
    return _NUMBER.sub(lambda slot: say_value(numbers[slot[1]]), text)


EMBED_STYLE = """<style>
[data-testid="stSidebar"], [data-testid="stExpandSidebarButton"], .st-key-page-top .stPopover {
  display: none;
}
.st-key-page-top { padding: 0; }
</style>"""
"""In a frame of another site (`?embed=true`). The choices stay those of the link: all is drawn."""


def draw_frame(title: str, place: str) -> None:
    """Draw the title before the page computes anything, and the common switches.

    `place` is where the page is in the address. A visit is one of a place: what the page is called
    changes with the language, and two pages may be called alike in one.
    """
    is_new = st.session_state.get(PAGE_DRAWN) != place
    if is_new:
        visitor().visit += 1
    st.session_state[PAGE_DRAWN] = place
    hide_page()
    follow_short_link()
    if st.context.is_embedded:
        st.html(EMBED_STYLE)
    with st.sidebar:
        fragment(lambda: None, run_every=DAY)()
        offer_languages()
        controls.predict_first()
        tour_mode(is_possible=not lecture_mode())
    if is_lecture():
        st.title(title)
    else:
        with st.container(horizontal=True, vertical_alignment="center", key="page top"):
            st.title(title)
            if not is_tour():
                _offer_settings()
    if {controls.queries.key, controls.seed.key} & set(visitor().notices):
        st.info(_("The link asks for a setting that is not allowed: open Settings to see which."))
    with st.sidebar:
        if is_lecture() or is_tour():
            _offer_settings()
        take_part(place, is_new)
        stand_by(title, place)


def _offer_settings() -> None:
    """The menu of what is seldom changed."""
    with st.popover(_("Settings"), icon=":material/tune:"):
        controls.queries()
        controls.seed()
        again = _("Reset all choices")
        st.button(again, on_click=reset_choices, icon=":material/restart_alt:")


class PageEnd(Exception):  # noqa: N818 - nothing went wrong
    """A page has nothing more to show; what stands below every page still comes."""


def end_page() -> NoReturn:
    """End a page where it has nothing more to show, outside of its fragments.

    `st.stop` would end the script, and with it the way to the next page.
    """
    raise PageEnd


def run_page(page: st.Page) -> None:
    """Run a page to its last line, or to where it ends itself."""
    with suppress(PageEnd):
        page.run()
    draw_until(None)
    keep_imports(page.url_path)


@cache
def keep_imports(_page: str) -> None:
    """After the first run of a page: what it has imported is no garbage, so do not search it again.

    With PyTorch that is 300,000 objects. Each full search took 0.2 s, in which nobody was served.
    """
    gc.freeze()


def has_queries_down() -> bool:
    """Has the reader left the queries down the side?"""
    return st.session_state.get(controls.queries.key, "down") == "down"


def read_seed() -> int:
    """The seed of everything random, chosen in the settings."""
    return st.session_state.get(controls.seed.key, controls.seed.default)


def open_page(path: str, step: str) -> None:
    """Go to another page with all choices, and there to the step that is asked for."""
    if path:
        asked = {controls.step.key: step} if step in controls.step.options else {}
        if is_tour():
            asked[tour_mode.key] = "1"
        st.switch_page(path, query_params=asked)


def go_to(path: str) -> None:
    """A button opens another page; a callback, so that the page it is on is not drawn once more."""
    st.session_state[GOES_TO] = path
    st.rerun()  # all of it: the button may be in a fragment


def follow_button() -> None:
    """Go where a button leads, before anything is drawn."""
    open_page(st.session_state.pop(GOES_TO, ""), step="")


def show_question(text: Prose, usual: str, own_form: str, word: str) -> None:
    """The question at the top; of a sentence of the reader's own it has a form with their word."""
    if word and not is_lecture():
        text(own_form, word=word)
    else:
        text(usual)


def show_one_sentence(text: Prose, **numbers: object) -> None:
    """Show the page in one sentence, its text `one_sentence`, in a tinted box."""
    with screen("end", ONE_SENTENCE), st.container(key="one sentence"):
        text(ONE_SENTENCE, **numbers)
