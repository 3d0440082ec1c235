"""Start here: what is served. Streamlit reads this file, finds `app`, and runs it.

The pages are listed in `contents.py`, the app's script. Beside it there are the routes by which an
audience follows its lecturer.
"""

import streamlit as st
from starlette.middleware import Middleware

from explainers.folders import ROOT
from explainers.ui.changed_streamlit import change_streamlit
from explainers.ui.follow.routes import Following, open_board
from explainers.ui.headers import SafeHeaders, answer_error
from explainers.ui.limits import Limits, open_enough_files

change_streamlit()
open_enough_files()
following = Following(open_board())
guards = [Middleware(SafeHeaders), Middleware(Limits)]
app = st.App(
    ROOT / "contents.py",
    routes=following.list_routes(),
    middleware=guards,
    exception_handlers={Exception: answer_error},
    lifespan=following.lifespan,
)
