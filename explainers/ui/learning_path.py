"""The learning path: what is done, what is next, and how long each page takes."""

import functools
import re
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from explainers.translations import _, load_sections, translate_section
from explainers.ui.controls.control import Control
from explainers.ui.page import NEXT_QUESTION, go_to
from explainers.ui.session import PAGE_NUMBER, PAGES_OPENED

Contents = Mapping[str, Mapping[str, str]]
"""Part → file of a page → its title, in reading order."""
WORDS_PER_MINUTE = 238
"""Silent reading of English non-fiction, the mean of 190 studies (Brysbaert 2019)."""
MINUTES_TO_TRY = 1
"""For each question and each section: long enough to change one thing and to look."""
TASK_PREFIXES = "ask_", "task_"
"""Sections whose names begin so want something of the reader that takes a while."""
UNOPENED, OPENED, DONE = "○", "◐", "●"
RECALL = "recall_"
"""Sections whose names begin so ask something at the end of a page."""
LONGEST_QUESTION = 90
"""Letters: a button is one line."""
OLD_KEY = "tour"
"""What links called the pages that are done; in a link of today it is the 10-minute tour."""
_OLD_VALUE = re.compile(r"[0-9]{2}(\.[0-9]{2})*")
_BOLD = re.compile(r"\*\*(.+?)\*\*", re.DOTALL)
_WORD, _HEADING = re.compile(r"[^\W\d_]+"), re.compile(r"^#+ ", re.MULTILINE)


@dataclass(frozen=True)
class FinishedPages(Control):
    """The pages that the reader ticked, by the numbers of their files, as in a link: 01.02.05."""

    def __call__(self, paths: Sequence[str]) -> list[str]:
        """Those of the pages that are done, in reading order."""
        numbers = sorted(map(read_number, paths))

        def find(text: str) -> str | None:
            """What of the text names pages that there are; None if nothing does."""
            named = text.split(".")
            return ".".join(number for number in numbers if number in named) or None

        value = self.resolve(find, f"numbers of pages, {'.'.join(numbers[:3])}")
        done_pages = value.split(".")
        return [path for path in paths if read_number(path) in done_pages]

    def read_numbers(self) -> list[str]:
        """The numbers that are ticked, also before the control is drawn."""
        ticked: str = st.session_state.get(self.key, self.read_url()) or ""
        return ticked.split(".")

    def has_this_page(self) -> bool:
        """Is the page that is on screen ticked?"""
        return st.session_state.get(PAGE_NUMBER) in self.read_numbers()

    def add_this_page(self) -> None:
        """Tick the page that is on screen."""
        done_pages = {*self.read_numbers(), st.session_state.get(PAGE_NUMBER, "")} - {""}
        self.put(".".join(sorted(done_pages)))


finished_pages = FinishedPages("pages_done", "Pages that are done", "")


def count_minutes(texts: Mapping[str, str]) -> int:
    """Reading at the usual pace, and a while for each section and for all that is asked."""
    words = sum(len(_WORD.findall(text)) for text in texts.values())
    to_try = sum(len(_HEADING.findall(text)) for text in texts.values())
    to_try += sum(name.startswith(TASK_PREFIXES) for name in texts)
    return round(words / WORDS_PER_MINUTE + to_try * MINUTES_TO_TRY)


def list_titles(contents: Contents) -> dict[str, str]:
    """By file, in reading order: the title of each page in English."""
    return {path: name for part in contents.values() for path, name in part.items()}


def read_number(path: str) -> str:
    """The number of a page's file: links keep it when the order of reading changes."""
    return Path(path).stem.partition("_")[0]


def label_pages(contents: Contents) -> dict[str, str]:
    """By file: the place, the name and the dot of each page, for the sidebar."""
    if _OLD_VALUE.fullmatch(st.query_params.get(OLD_KEY, "")):
        st.query_params[finished_pages.key] = st.query_params.pop(OLD_KEY)
    done_numbers = finished_pages.read_numbers()
    opened = st.session_state.get(PAGES_OPENED, set())
    here = urlsplit(st.context.url or "").path.rpartition("/")[2]
    labels = {}
    for place, (path, title) in enumerate(list_titles(contents).items(), start=1):
        is_opened = path in opened or Path(path).stem.partition("_")[2] == here
        dot = DONE if read_number(path) in done_numbers else OPENED if is_opened else UNOPENED
        labels[path] = f"{place} · {_(title)} {dot}"
    return labels


def make_page(path: str, label: str) -> StreamlitPage:
    """A page of the list: a copy, because Streamlit notes in it which one runs."""
    return copy(_find_page(path, label))


@functools.lru_cache(maxsize=512)
def _find_page(path: str, label: str) -> StreamlitPage:
    """Streamlit looks for the file of each: a twentieth of a run, for all of them."""
    return st.Page(path, title=label)


def note_page(here: str) -> None:
    """Before a page is drawn: which one it is, and that it was opened."""
    st.session_state[PAGE_NUMBER] = read_number(here)
    st.session_state.setdefault(PAGES_OPENED, set()).add(here)


def offer_next(contents: Contents, here: str, done_pages: Sequence[str]) -> None:
    """At the end of a page, whose file is `here`: go on, or look at the path."""
    titles = list_titles(contents)
    paths = list(titles)
    [next_path] = paths[paths.index(here) + 1 :][:1] or [""]
    with st.container(horizontal=True, key="way on"):
        if next_path:
            icon, label = ":material/arrow_forward:", _("Next: {page}", page=_(titles[next_path]))
            if question := read_question(Path(next_path).stem):
                label = f"{label} — {question}"
        else:
            icon, label = ":material/check:", _("Done: that was the last page")
        st.button(label, on_click=_go_on, args=(here, next_path), icon=icon)
        icon = ":material/route:"
        box = st.expander(_("The learning path"), key="learning path", on_change="rerun", icon=icon)
    if box.open:
        with box:
            _show_path(contents, done_pages)


def _go_on(here: str, next_path: str) -> None:
    """A page that asks nothing at its end is done when its reader goes on."""
    if not any(name.startswith(RECALL) for name in load_sections(Path(here).stem)):
        finished_pages.add_this_page()
    go_to(next_path)


def read_question(page: str) -> str:
    """What a page asks: its text `next_question`, else the first question in bold, if short."""
    if NEXT_QUESTION in load_sections(page):
        return " ".join(translate_section(page, NEXT_QUESTION).split())
    phrases = [" ".join(it.split()) for it in _BOLD.findall(translate_section(page, "question"))]
    asked = [phrase for phrase in phrases if phrase.endswith("?")]
    return asked[0] if asked and len(asked[0]) <= LONGEST_QUESTION else ""


def _show_path(contents: Contents, done_pages: Sequence[str]) -> None:
    count = sum(map(len, contents.values()))
    summary = _("{done} of {all} pages done", done=len(done_pages), all=count)
    st.markdown(f"**{summary}**")
    for part, pages in contents.items():
        st.caption(_(part))
        for path, title in pages.items():
            icon = ":material/check_circle:" if path in done_pages else ":material/circle:"
            minutes = _("{minutes} min", minutes=count_minutes(load_sections(Path(path).stem)))
            st.page_link(path, label=f"{_(title)} · {minutes}", icon=icon)
    st.caption(
        _(
            "The text at {words} words a minute (Brysbaert 2019), and {minutes} min for each "
            "question and each section to try. Your progress is in the address: bookmark it to "
            "go on another day.",
            words=WORDS_PER_MINUTE,
            minutes=MINUTES_TO_TRY,
        )
    )
    if done_pages:
        label = _("Begin again")
        st.button(label, on_click=finished_pages.put, args=("",), icon=":material/restart_alt:")
