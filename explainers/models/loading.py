"""Fetching and loading on a visitor's wish: in the background, one at a time, to be watched."""

import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from explainers.models.load import Loaded, is_here, load
from explainers.models.names import begun_of, is_hub_id
from explainers.models.registry import ModelError
from explainers.turns import MOST_WAITING, Turns, Work

HOUSE = Path(__file__).parents[2]
QUIET = {"HF_HUB_DISABLE_PROGRESS_BARS": "1", "TRANSFORMERS_VERBOSITY": "error"}


@dataclass(eq=False)
class Loading(Work):
    """One model: brought to this machine if it is not here, then into memory.

    `said` tells how far it is, last what is under way. A fetch runs in a process of its own: it
    can be stopped at any time, and the memory that it took for converting is free afterwards.
    """

    turns: ClassVar[Turns] = Turns(MOST_WAITING)  # a slow network holds up no training
    named: str
    said: list[str] = field(default_factory=list)
    loaded: Loaded | None = None
    _fetching: subprocess.Popen[str] | None = None

    @property
    def is_complete(self) -> bool:
        return self.loaded is not None

    @property
    def share(self) -> float:
        """Nobody knows how fast a network is, so this counts what has begun, of fetch and load."""
        return 1.0 if self.loaded else min(len(self.said), 2) / 3

    @property
    def problem(self) -> str:
        """What went wrong, in the words that are meant for the reader."""
        return self.error.removeprefix("ModelError: ")

    @property
    def fetched(self) -> int:
        """Bytes that lie on the disk already, of a model that is being fetched."""
        if not is_hub_id(self.named):
            return 0
        found = [file for file in begun_of(self.named).rglob("*") if file.is_file()]
        return sum(file.stat().st_size for file in found if file.exists())

    def cancel(self) -> None:
        super().cancel()
        if self._fetching:
            self._fetching.terminate()

    def _work(self) -> None:
        if not is_here(self.named):
            self._fetch()
        if not self.is_stopped:
            self.said.append(f"{self.named}: loading")
            self.loaded = load(self.named)

    def _fetch(self) -> None:
        """Watch the process that fetches; its last words, if it failed, are what went wrong."""
        # The name has the form of an id: `is_here` looked.
        with subprocess.Popen(  # noqa: S603
            [sys.executable, "-m", "explainers.models", "fetch", self.named],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env={**os.environ, **QUIET},
            cwd=HOUSE,
        ) as self._fetching:
            if self.is_stopped:  # wished before there was a process to end
                self._fetching.terminate()
            for line in self._fetching.stdout or ():
                self.said += [line.strip()] if line.strip() else []
        if self._fetching.returncode and not self.is_stopped:
            raise ModelError(self.said[-1] if self.said else f"{self.named}: fetching failed")
