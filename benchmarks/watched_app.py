"""The app with two more routes, for benchmarks and nobody else: what its process holds, and how
many functions its runs have called.
"""

import cProfile
import gc
import os
import pstats
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
from streamlit.runtime.scriptrunner.script_runner import ScriptRunner

from app import following, guards
from explainers.folders import ROOT
from explainers.ui.headers import answer_error

COUNTED = "ATTENTION_COUNTED"
"""The environment's name for the wish to count calls, which makes every run slower."""
profiles: list[cProfile.Profile] = []
_run = ScriptRunner._run_script_thread


def run_counted(runner: ScriptRunner) -> None:
    """Run a page or a part of it, and note what it calls."""
    profile = cProfile.Profile()
    profiles.append(profile)
    profile.runcall(_run, runner)


def count_calls(_request: Request) -> JSONResponse:
    """How many functions were called since it was asked last."""
    counted, profiles[:] = [*profiles], []
    return JSONResponse(pstats.Stats(*counted).total_calls if counted else 0)  # type: ignore[attr-defined]


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


if os.environ.get(COUNTED):
    ScriptRunner._run_script_thread = run_counted  # type: ignore[assignment, method-assign]
app = st.App(
    ROOT / "contents.py",
    routes=[*following.list_routes(), Route("/held", count_held), Route("/calls", count_calls)],
    middleware=guards,
    exception_handlers={Exception: answer_error},
    lifespan=following.lifespan,
)
