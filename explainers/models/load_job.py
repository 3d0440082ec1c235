"""A model that a visitor asks for: fetched if this machine lacks it, then loaded into memory."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from typing import Any, NamedTuple

from explainers.folders import ROOT
from explainers.job_queue import Job, JobQueue
from explainers.messages import N_
from explainers.models.fetch import discard_partial_fetch
from explainers.models.load import RealModel, is_on_disk, load_model
from explainers.models.registry import ModelError, is_hub_id, locate_partial_fetch

DOWNLOADS = JobQueue()
"""A slow network holds up no computation."""
POLL_SECONDS = 0.2
"""How soon a fetch ends that nobody wants."""
QUIET = {"HF_HUB_DISABLE_PROGRESS_BARS": "1", "TRANSFORMERS_VERBOSITY": "error"}


class LoadRequest(NamedTuple):
    """Which model, in the state whose size the visitor was told; no commit means the latest."""

    model: str
    commit: str = ""


LoadJob = Job[LoadRequest, str, RealModel]
"""It reports in words what is under way."""


def make_load_job(request: LoadRequest) -> LoadJob:
    """A model that is brought into memory."""
    return Job(
        request,
        lambda job: bring_model(job, request),
        queue=DOWNLOADS,
        readable_errors=(ModelError,),
    )


def bring_model(job: Job[Any, str, Any], request: LoadRequest) -> RealModel:
    """Fetch a model if it is not here, then load it."""
    if not is_on_disk(request.model):
        fetch_model(job, request)
    job.report(N_("{model}: loading", model=request.model))
    return load_model(request.model)


def fetch_model(job: Job[Any, str, Any], request: LoadRequest) -> None:
    """Fetch a model in a process of its own.

    It can be stopped at any time, and the memory that it took for converting is free afterwards.
    Its last words, if it failed, are what went wrong.
    """
    # The name has the form of an id, as `is_on_disk` looked, and the hub named the commit.
    command = [sys.executable, "-m", "explainers.models", "fetch", request.model]
    with subprocess.Popen(  # noqa: S603
        [*command, "--commit", request.commit] if request.commit else command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env={**os.environ, **QUIET},
        cwd=ROOT,
        start_new_session=True,  # so that it ends with all that it began, pip for one
    ) as process:
        threading.Thread(target=end_if_unwanted, args=(job, process), daemon=True).start()
        for line in process.stdout or ():
            if line.strip():
                job.reports[:] = [line.strip()]
    if not job.is_wanted():
        discard_partial_fetch(request.model)
    elif process.returncode:
        nothing = N_("{model}: fetching failed", model=request.model)
        raise ModelError(job.reports[-1] if job.reports else nothing)


def end_if_unwanted(job: Job[Any, str, Any], process: "subprocess.Popen[str]") -> None:
    """As long as a process goes on: end it when nobody wants it any more."""
    while process.poll() is None:
        if not job.is_wanted():
            end_process(process)
            return
        time.sleep(POLL_SECONDS)


def end_process(process: "subprocess.Popen[str]") -> None:
    """End a process that leads a group of its own, with all that it began."""
    with contextlib.suppress(ProcessLookupError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:  # Windows
            process.kill()


def count_fetched_bytes(model: str) -> int:
    """How much lies on the disk already, of a model that is being fetched."""
    if not is_hub_id(model):
        return 0
    files = [file for file in locate_partial_fetch(model).rglob("*") if file.is_file()]
    return sum(file.stat().st_size for file in files if file.exists())
