"""Start here: the table of contents is the app."""

import streamlit as st

from explainers.ui import takeaway_files
from explainers.ui.lecture.screens import screen
from explainers.ui.page import frame
from explainers.ui.text.language import translated
from explainers.ui.text.language_switch import settle
from explainers.ui.tour import offer_next

CONTENTS = {
    "": {"pages/01_start.py": "Attention, step by step"},
    "One head": {
        "pages/02_tokens.py": "Tokens and positions",
        "pages/03_query_key_value.py": "Query, key, value",
        "pages/04_scores.py": "Scores, softmax, output",
    },
    "Masks and heads": {
        "pages/05_masks.py": "Masks",
        "pages/06_many_heads.py": "Many heads",
        "pages/07_shared_heads.py": "Shared heads",
    },
    "Generation and memory": {
        "pages/08_kv_cache.py": "KV cache",
        "pages/09_cache_memory.py": "Cache memory",
        "pages/10_long_sequences.py": "Long sequences",
    },
    "Two sequences": {
        "pages/11_cross_attention.py": "Cross-attention",
    },
    "Real models": {
        "pages/12_inspector.py": "Inspector",
        "pages/13_head_gallery.py": "Head gallery",
        "pages/14_what_if.py": "What if",
    },
    "Learn by doing": {
        "pages/15_exercises.py": "Exercises",
        "pages/16_claims.py": "Claims",
    },
}

settle()
listed = {
    path: st.Page(path, title=translated(title))
    for pages in CONTENTS.values()
    for path, title in pages.items()
}
page = st.navigation(
    {translated(part): [listed[path] for path in pages] for part, pages in CONTENTS.items()},
    expanded=True,
)
st.set_page_config(page_title=page.title, page_icon="🔎", layout="wide")
frame(page.title, page.url_path)
takeaway_files.begin(page.title, page.url_path or "start")
page.run()
here = next(path for path, one in listed.items() if one.url_path == page.url_path)
with screen("nothing", "after the page"):
    takeaway_files.offer()
    offer_next(CONTENTS, here)
