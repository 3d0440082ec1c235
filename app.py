"""Start here: the table of contents is the app."""

import streamlit as st

from explainers.ui.common import frame

CONTENTS = {
    "": {"pages/01_start.py": "Attention, step by step"},
    "One head": {
        "pages/02_tokens.py": "Tokens and positions",
        "pages/03_query_key_value.py": "Query, key, value",
        "pages/04_scores.py": "Scores, softmax, output",
    },
}

st.set_page_config(page_title="Attention, step by step", page_icon="🔎", layout="wide")
page = st.navigation(
    {
        part: [st.Page(path, title=title) for path, title in pages.items()]
        for part, pages in CONTENTS.items()
    }
)
frame(page.title)
page.run()
