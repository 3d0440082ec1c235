"""Start here: what is served. Streamlit reads this file, finds `app`, and runs it.

The pages are listed in `contents.py`, the app's script. Beside it there are the routes by which an
audience follows its lecturer, and two that a picture asks: for numbers ahead of the page's run, and
for a file of its own.
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
from explainers.ui.text.language import list_languages
from explainers.ui.untrusted_text import keep_log_clean


def answer_ahead(request: Request) -> Response:
    """The numbers of the calculator's picture for another model or GPU; Starlette has a thread."""
    from explainers.chapters.cache_memory import hero  # the first paint needs none of it

    numbers = hero.answer_ahead(request.query_params)
    return JSONResponse(numbers) if numbers else Response(status_code=204)


def answer_embed(request: Request) -> Response:
    """A picture's file without numbers, which the browser has; Starlette has a thread."""
    from explainers.export import one_file

    kind, language = (request.query_params.get(name, "") for name in ("kind", "lang"))
    if kind not in one_file.HEROES or language not in list_languages():
        return Response(status_code=404)
    page = one_file.write_file(kind, "", language, live="", opening="", numbers="null")
    return JSONResponse({"page": page, "line": one_file.FRAME})


keep_log_clean()
change_streamlit()
open_enough_files()
following = Following(open_board())
guards = [Middleware(guard) for guard in (SafeHeaders, LocalHosts, Limits, StyledPages)]
answers = [RouteBelowBase("/ahead/memory", answer_ahead), RouteBelowBase("/embed", answer_embed)]
app = st.App(
    ROOT / "contents.py",
    routes=[*following.list_routes(), *answers],
    middleware=guards,
    exception_handlers={Exception: answer_error},
    lifespan=following.lifespan,
)
