"""The learning path, for readers on their own: how long it takes, what is done, what is next."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from explainers.translations import _, load_sections
from explainers.ui.controls.control import Control
from explainers.ui.page import open_page

Contents = Mapping[str, Mapping[str, str]]
"""Part → file of a page → its title, in reading order."""
WORDS_PER_MINUTE = 238
"""Silent reading of English non-fiction, the mean of 190 studies (Brysbaert 2019)."""
MINUTES_TO_TRY = 1
"""For each question and each section: long enough to change one thing and to look."""
TASK_PREFIXES = "ask_", "task_", "claim_"
"""Sections whose names begin so want something of the reader."""
_WORD, _HEADING = re.compile(r"[^\W\d_]+"), re.compile(r"^#+ ", re.MULTILINE)


@dataclass(frozen=True)
class FinishedPages(Control):
    """The pages that the reader ticked, by their places in the contents, as in a link: 01.02.05."""

    def __call__(self, paths: Sequence[str]) -> list[str]:
        """Those of the pages that are done, in reading order."""
        numbers = list(map(_write_place, range(len(paths))))
        asked, value = self.read_link(lambda text: _parse_pages(text, numbers))
        self.report_bad_link(
            asked, value, f"numbers of pages in their order, {'.'.join(numbers[:3])}"
        )
        self.write(value)
        done_pages = value.split(".")
        return [path for path, number in zip(paths, numbers, strict=True) if number in done_pages]

    def add(self, place: int) -> None:
        """Tick the page that stands there in the contents, counted from 0; a callback."""
        done_pages = {*st.session_state.get(self.key, "").split("."), _write_place(place)} - {""}
        self.put(".".join(sorted(done_pages)))


finished_pages = FinishedPages("tour", "Pages that are done", "")


def estimate_minutes(path: str) -> int:
    """How long a page takes, from its text."""
    return count_minutes(load_sections(Path(path).stem))


def count_minutes(texts: Mapping[str, str]) -> int:
    """Reading at the usual pace, and a while for each section and for all that is asked."""
    words = sum(len(_WORD.findall(text)) for text in texts.values())
    to_try = sum(len(_HEADING.findall(text)) for text in texts.values())
    to_try += sum(name.startswith(TASK_PREFIXES) for name in texts)
    return round(words / WORDS_PER_MINUTE + to_try * MINUTES_TO_TRY)


def offer_next(contents: Contents, here: str) -> None:
    """At the end of a page, whose file is `here`: tick it and go on, or look at the path."""
    titles = {path: _(name) for part in contents.values() for path, name in part.items()}
    paths = list(titles)
    done_pages = finished_pages(paths)
    place = paths.index(here)
    later = [*paths[place + 1 :], *paths]
    next_path = next((path for path in later if path not in {here, *done_pages}), "")
    with st.container(key="tour"):
        label = _("Done: that was the last page")
        if next_path:
            label = _(
                "Done → {page} · {minutes} min",
                page=titles[next_path],
                minutes=estimate_minutes(next_path),
            )
        if st.button(label, on_click=finished_pages.add, args=(place,), icon=":material/check:"):
            open_page(next_path, step="")
        icon = ":material/route:"
        box = st.expander(_("The learning path"), key="learning path", on_change="rerun", icon=icon)
    if box.open:
        with box:
            _show_path(contents, done_pages)


def _show_path(contents: Contents, done_pages: Sequence[str]) -> None:
    paths = [path for part in contents.values() for path in part]
    time_left = _write_duration(
        sum(estimate_minutes(path) for path in paths if path not in done_pages)
    )
    summary = _(
        "{done} of {all} pages done, {left} to go.",
        done=len(done_pages),
        all=len(paths),
        left=time_left,
    )
    st.markdown(f"**{summary}**")
    for part, pages in contents.items():
        st.caption(f"{_(part)} · {_write_duration(sum(map(estimate_minutes, pages)))}")
        for path, title in pages.items():
            icon = ":material/check_circle:" if path in done_pages else ":material/circle:"
            st.page_link(
                path, label=f"{_(title)} · {_write_duration(estimate_minutes(path))}", icon=icon
            )
    st.caption(
        _(
            "The text at {words} words a minute (Brysbaert 2019), and {minutes} min for each "
            "question and each section to try. What is done stands in the address: bookmark it to "
            "go on another day.",
            words=WORDS_PER_MINUTE,
            minutes=MINUTES_TO_TRY,
        )
    )
    if done_pages:
        label = _("Begin again")
        st.button(label, on_click=finished_pages.put, args=("",), icon=":material/restart_alt:")


def _write_duration(total: int) -> str:
    hours, rest = divmod(total, 60)
    if not hours:
        return _("{minutes} min", minutes=rest)
    return _("{hours} h {minutes} min", hours=hours, minutes=rest)


def _write_place(place: int) -> str:
    """The number of a page as readers count: the first one is 01."""
    return f"{place + 1:02d}"


def _parse_pages(text: str, numbers: Sequence[str]) -> str | None:
    """What of the text names pages that there are, each once and in order; None if nothing does."""
    page_numbers = text.split(".")
    return ".".join(number for number in numbers if number in page_numbers) or None
