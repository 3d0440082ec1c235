"""Start here: what is served. Streamlit reads this file, finds `app`, and runs it.

The pages are listed in `contents.py`, the app's script. Beside it there are the routes by which an
audience follows its lecturer.
"""

import streamlit as st
from starlette.middleware import Middleware

from explainers.folders import ROOT
from explainers.ui.follow.routes import Following, open_board
from explainers.ui.headers import SafeHeaders

following = Following(open_board())
app = st.App(
    ROOT / "contents.py",
    routes=following.list_routes(),
    middleware=[Middleware(SafeHeaders)],
    lifespan=following.lifespan,
)
