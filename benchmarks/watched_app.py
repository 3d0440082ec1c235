"""The app with one more route, which says what its process holds: for `soak.py` and nobody else."""

import gc
import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path

import psutil
import streamlit as st
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from app import following, guards
from explainers.folders import ROOT
from explainers.ui.headers import answer_error


def count_held(_request: Request) -> JSONResponse:
    """What is held now, after a collection of garbage."""
    gc.collect()
    process = psutil.Process()
    return JSONResponse(
        {
            "heap": sys.getallocatedblocks(),
            "memory": process.memory_info().rss,
            "threads": threading.active_count(),
            "files": process.num_fds(),
            "temporary": sum(1 for _ in Path(tempfile.gettempdir()).iterdir()),
            "types": Counter(type(it).__qualname__ for it in gc.get_objects()).most_common(400),
        }
    )


app = st.App(
    ROOT / "contents.py",
    routes=[*following.list_routes(), Route("/held", count_held)],
    middleware=guards,
    exception_handlers={Exception: answer_error},
    lifespan=following.lifespan,
)
