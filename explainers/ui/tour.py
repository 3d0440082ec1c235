"""The 10-minute tour: the first pictures of seven pages, a sentence each, and nothing that asks."""

from collections.abc import Callable
from pathlib import Path

import streamlit as st

from explainers.toys.sentence import MAX_CHARACTERS, SENTENCE
from explainers.translations import _
from explainers.ui.controls.controls import is_tour, sentence, tour_mode
from explainers.ui.page import Prose, go_to, open_page, show_one_sentence
from explainers.ui.session import TOUR_STOP

STOPS = {
    "pages/01_start.py": 90,
    "pages/03_query_key_value.py": 90,
    "pages/04_scores.py": 90,
    "pages/05_masks.py": 80,
    "pages/06_many_heads.py": 80,
    "pages/08_kv_cache.py": 80,
    "pages/19_what_if.py": 80,
}
"""The pages of the tour, and for how many seconds one looks at each."""
PATHS = list(STOPS)
INSPECTOR = "pages/17_inspector.py"


def end_stop(text: Prose, show: Callable[[], object] | None = None, **numbers: object) -> None:
    """In the tour a page ends here, with its one sentence and the way on.

    `show` draws the picture of a page whose first one belongs to more than the tour has room for.
    """
    stops = [Path(path).stem for path in STOPS]
    if not is_tour() or text.page not in stops:
        return
    if show:
        show()
    show_one_sentence(text, **numbers)
    place = stops.index(text.page)
    if place == len(STOPS) - 1:
        _invite_sentence()
    _draw_bar(place)
    st.stop()


def explain_detour(path: str) -> None:
    """At the top of a page that is no stop: say so, and offer the way back."""
    if not is_tour() or path in STOPS:
        return
    with st.container(horizontal=True, vertical_alignment="center", key="tour detour"):
        st.markdown(_("This page is not a stop of the 10-minute tour."), width="content")
        stop, icon = PATHS[st.session_state.get(TOUR_STOP, 0)], ":material/arrow_back:"
        st.button(_("Back to the tour"), icon=icon, on_click=go_to, args=(stop,))
        _offer_way_out()


def _draw_bar(place: int) -> None:
    """Where one is, back, on, and out."""
    st.session_state[TOUR_STOP] = place
    with st.container(horizontal=True, vertical_alignment="center", key="tour bar", gap="small"):
        where = _("{at} of {all}", at=place + 1, all=len(STOPS))
        seconds = _("about {seconds} s", seconds=STOPS[PATHS[place]])
        st.markdown(f"**{where}** · {seconds}", width="content")
        kinds = ["past" if n <= place else "ahead" for n in range(len(STOPS))]
        dashes = "".join(f'<i class="{kind}"></i>' for kind in kinds)
        st.html(f'<div class="tour-dashes" aria-hidden="true">{dashes}</div>')
        _offer_way_out()
        for name, label, to, key in (
            ("tour back", _("Back"), place - 1, "PageUp"),
            ("tour next", _("Next"), place + 1, "PageDown"),
        ):
            if to < len(STOPS):
                path, is_first = (PATHS[to],), to < 0
                st.button(label, name, shortcut=key, on_click=go_to, args=path, disabled=is_first)


def _offer_way_out() -> None:
    label = _("Leave the tour")
    st.button(label, key="tour leave", type="tertiary", on_click=_leave)


def _leave() -> None:
    tour_mode.turn(False)
    st.rerun()  # the whole page, of which the bar may be a part


def _invite_sentence() -> None:
    """At the last stop: what a real model makes of the reader's own words."""
    with st.form("tour sentence", border=False):
        row = st.container(horizontal=True, vertical_alignment="bottom")
        typed = row.text_input(
            _("Now your own sentence: see where a real model looks."),
            max_chars=MAX_CHARACTERS,
            placeholder=SENTENCE,
        )
        is_sent = row.form_submit_button(_("Open the Inspector"))
    if is_sent:
        sentence.keep(typed.strip() or SENTENCE)
        tour_mode.turn(False)
        open_page(INSPECTOR, step="")
