"""The table of contents is the app: this script runs for every visitor, on every page."""

import streamlit as st

from explainers.messages import N_
from explainers.translations import _
from explainers.ui import takeaway_files
from explainers.ui.learning_path import (
    finished_pages,
    label_pages,
    make_page,
    note_page,
    offer_next,
)
from explainers.ui.page import draw_frame, follow_button, run_page
from explainers.ui.page_parts.check_yourself import repeat_question, show_tally
from explainers.ui.page_parts.first_picture import hold_first_picture
from explainers.ui.text.language import settle_language
from explainers.ui.tour import explain_detour
from explainers.ui.turns import first_pictures

# In the order of reading. A file keeps its number when that changes: links name it.
CONTENTS = {
    N_("Course one: attention"): {
        "pages/01_start.py": N_("Attention in one picture"),
        "pages/03_query_key_value.py": N_("Queries, keys, values"),
        "pages/04_scores.py": N_("From scores to output"),
        "pages/05_masks.py": N_("Masks"),
        "pages/06_many_heads.py": N_("Multi-head attention"),
        "pages/08_kv_cache.py": N_("KV cache"),
    },
    N_("Where is a word?"): {
        "pages/02_tokens.py": N_("Tokens and positions"),
        "pages/07_relative_positions.py": N_("Relative positions"),
    },
    N_("Course two: long texts"): {
        "pages/09_shared_heads.py": N_("Shared keys and values"),
        "pages/10_cache_memory.py": N_("Cache calculator"),
        "pages/11_long_sequences.py": N_("Long sequences"),
        "pages/12_growing_memory.py": N_("A memory that does not grow"),
        "pages/13_choosing.py": N_("Choosing what to read"),
        "pages/14_idle_heads.py": N_("A head that wants nothing"),
        "pages/15_serving.py": N_("Serving tricks"),
    },
    N_("Course two: real models"): {
        "pages/17_inspector.py": N_("Inspector"),
        "pages/18_head_gallery.py": N_("Head gallery"),
        "pages/19_what_if.py": N_("What if"),
        "pages/20_why_it_looked.py": N_("Why did it look there?"),
        "pages/21_does_it_matter.py": N_("Does it matter?"),
        "pages/22_writing.py": N_("Write with it"),
    },
    N_("Two texts"): {"pages/16_cross_attention.py": N_("Cross-attention")},
    N_("Practice"): {
        "pages/23_exercises.py": N_("Exercises"),
        "pages/24_claims.py": N_("Claims, checked"),
    },
}

with first_pictures.turn():
    settle_language()
    labels = label_pages(CONTENTS)
    listed = {path: make_page(path, label) for path, label in labels.items()}
    is_alone = not st.context.is_embedded  # else another site shows one page in a frame
    page = st.navigation(
        {_(part): [listed[path] for path in pages] for part, pages in CONTENTS.items()},
        position="sidebar" if is_alone else "hidden",
        expanded=True,
    )
    follow_button()
    here = next(path for path, one in listed.items() if one.url_path == page.url_path)
    title = next(_(pages[here]) for pages in CONTENTS.values() if here in pages)
    st.set_page_config(page_title=title, page_icon="🔎", layout="wide")
    note_page(here)
    draw_frame(title, page.url_path)
    explain_detour(here)
    done_pages = finished_pages(list(listed))
    takeaway_files.begin_takeaway(title, page.url_path or "start")
    with hold_first_picture(here):
        run_page(page)
if is_alone:
    repeat_question(CONTENTS, here)
    show_tally(CONTENTS, here, done_pages)
takeaway_files.offer_takeaway()
if is_alone:
    offer_next(CONTENTS, here, done_pages)
