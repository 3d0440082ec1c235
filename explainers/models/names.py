"""What a reader may name: a model of the hub, or a folder where the server is the reader's own."""

import os
import re
from pathlib import Path

from explainers.models.registry import ModelError
from explainers.phrase import phrase

READ_FOLDERS = "ATTENTION_READ_FOLDERS"
"""Set to 1, this lets whoever opens a page name folders of the server's own disk."""
MOST_CHARACTERS = 300
_PART = r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9])?"
_HUB_ID = re.compile(rf"{_PART}/{_PART}")


def folder_of(model_id: str) -> Path:
    """Where a model of the hub lies, or will lie, on this machine."""
    return store() / model_id.replace("/", "--")


def begun_of(model_id: str) -> Path:
    """Where a fetch keeps what it has so far."""
    return store() / (folder_of(model_id).name + ".begun")


def store() -> Path:
    """The folder of all models: `ATTENTION_MODELS`, else one in the user's cache."""
    chosen = os.environ.get("ATTENTION_MODELS")
    kept = Path(chosen) if chosen else Path("~/.cache/attention-step-by-step/models")
    return kept.expanduser()


def reads_folders() -> bool:
    """Whether the server runs for its owner, who said so when it was started."""
    return os.environ.get(READ_FOLDERS) == "1"


def is_hub_id(named: str) -> bool:
    """Is this owner/name, with no way out of the folder of all models in it?"""
    return bool(_HUB_ID.fullmatch(named)) and ".." not in named and "--" not in named


def place_of(named: str) -> Path:
    """The folder that is meant, whether it is there or not."""
    if is_hub_id(named):
        return folder_of(named)
    if len(named) > MOST_CHARACTERS or "\0" in named or not named.strip():
        raise ModelError(
            phrase(
                "A model is owner/name on the hub, of at most {most} letters.",
                most=MOST_CHARACTERS,
            )
        )
    if not reads_folders():
        raise ModelError(
            phrase(
                "“{name}” is not owner/name, as models of the hub are called. Folders are read "
                "only where the server was started with {variable}=1.",
                name=named,
                variable=READ_FOLDERS,
            )
        )
    folder = Path(named).expanduser()
    if not folder.is_dir():
        raise ModelError(
            phrase("There is no folder “{name}” on the machine that serves this page.", name=named)
        )
    return folder.resolve()
