"""Start here: what is served. Streamlit reads this file, finds `app`, and runs it.

The pages are listed in `contents.py`, the app's script. Beside it there are the routes by which an
audience follows its lecturer.
"""

import streamlit as st
from starlette.middleware import Middleware
from streamlit.runtime.pages_manager import PagesManager

from explainers.folders import ROOT
from explainers.ui.follow.routes import Following, open_board
from explainers.ui.headers import SafeHeaders, answer_error
from explainers.ui.limits import Limits, open_enough_files
from explainers.ui.odd_values import refuse_odd_values

# Until `contents.py` has run, Streamlit would take the folder `pages` for its older kind of app:
# show the first visitor names of files, and run a linked page alone, without contents and title.
PagesManager.uses_pages_directory = False
refuse_odd_values()
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
