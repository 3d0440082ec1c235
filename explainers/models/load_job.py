"""Fetching and loading on a visitor's wish: in the background, one at a time, to be watched."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from typing import ClassVar

from explainers.folders import ROOT
from explainers.job_queue import MOST_WAITING, Turns, Work
from explainers.messages import N_
from explainers.models.fetch import discard_partial_fetch
from explainers.models.load import RealModel, is_on_disk, load_model
from explainers.models.registry import ModelError, is_hub_id, locate_partial_fetch

LOOK = 0.2
"""Seconds after which a fetch that nobody wants ends."""
QUIET = {"HF_HUB_DISABLE_PROGRESS_BARS": "1", "TRANSFORMERS_VERBOSITY": "error"}


@dataclass(eq=False)
class Loading(Work):
    """One model: brought to this machine if it is not here, then into memory.

    `said` tells how far it is, last what is under way. A fetch runs in a process of its own: it
    can be stopped at any time, and the memory that it took for converting is free afterwards.
    """

    turns: ClassVar[Turns] = Turns(MOST_WAITING)  # a slow network holds up no training
    for_readers: ClassVar[tuple[type[Exception], ...]] = (ModelError,)
    named: str
    said: list[str] = field(default_factory=list)
    loaded: RealModel | None = None
    commit: str = ""
    """The state of the model whose size the visitor was told; none means the latest."""

    @property
    def is_complete(self) -> bool:
        return self.loaded is not None

    @property
    def share(self) -> float:
        """Nobody knows how fast a network is, so this counts what has begun, of fetch and load."""
        return 1.0 if self.loaded else min(len(self.said), 2) / 3

    @property
    def fetched(self) -> int:
        """Bytes that lie on the disk already, of a model that is being fetched."""
        if not is_hub_id(self.named):
            return 0
        found = [file for file in locate_partial_fetch(self.named).rglob("*") if file.is_file()]
        return sum(file.stat().st_size for file in found if file.exists())

    def _work(self) -> None:
        if not is_on_disk(self.named):
            self._fetch()
        if not self.is_stopped:
            self.said.append(N_("{model}: loading", model=self.named))
            self.loaded = load_model(self.named)

    def _fetch(self) -> None:
        """Watch the process that fetches; its last words, if it failed, are what went wrong."""
        # The name has the form of an id, as `is_here` looked, and the hub named the commit.
        asked = [sys.executable, "-m", "explainers.models", "fetch", self.named]
        with subprocess.Popen(  # noqa: S603
            [*asked, "--commit", self.commit] if self.commit else asked,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env={**os.environ, **QUIET},
            cwd=ROOT,
            start_new_session=True,  # so that it ends with all that it began, pip for one
        ) as fetching:
            threading.Thread(target=self._end_if_unwanted, args=(fetching,), daemon=True).start()
            for line in fetching.stdout or ():
                self.said += [line.strip()] if line.strip() else []
        if self.is_stopped:
            discard_partial_fetch(self.named)
        elif fetching.returncode:
            nothing = N_("{model}: fetching failed", model=self.named)
            raise ModelError(self.said[-1] if self.said else nothing)

    def _end_if_unwanted(self, fetching: "subprocess.Popen[str]") -> None:
        """As long as it fetches: end it, with its children, when nobody wants it any more."""
        while fetching.poll() is None:
            if self.is_stopped:
                end(fetching)
                return
            time.sleep(LOOK)


def end(process: "subprocess.Popen[str]") -> None:
    """End a process that leads a group of its own, with all that it began."""
    with contextlib.suppress(ProcessLookupError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:  # Windows
            process.kill()
