"""Start here: what is served. Streamlit reads this file, finds `app`, and runs it.

The pages are listed in `contents.py`, the app's script. Beside it there are the routes by which an
audience follows its lecturer, and one that a picture asks for numbers ahead of the page's run.
"""

import streamlit as st
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from explainers.folders import ROOT
from explainers.ui.changed_streamlit import change_streamlit
from explainers.ui.follow.routes import Following, RouteBelowBase, open_board
from explainers.ui.headers import LocalHosts, SafeHeaders, StyledPages, answer_error
from explainers.ui.limits import Limits, open_enough_files
from explainers.ui.untrusted_text import keep_log_clean


def answer_ahead(request: Request) -> Response:
    """The numbers of the calculator's picture for another model or GPU; Starlette has a thread."""
    from explainers.chapters.cache_memory import hero  # the first paint needs none of it

    numbers = hero.answer_ahead(request.query_params)
    return JSONResponse(numbers) if numbers else Response(status_code=204)


keep_log_clean()
change_streamlit()
open_enough_files()
following = Following(open_board())
guards = [Middleware(guard) for guard in (SafeHeaders, LocalHosts, Limits, StyledPages)]
app = st.App(
    ROOT / "contents.py",
    routes=[*following.list_routes(), RouteBelowBase("/ahead/memory", answer_ahead)],
    middleware=guards,
    exception_handlers={Exception: answer_error},
    lifespan=following.lifespan,
)
