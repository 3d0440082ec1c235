"""The model hub: what a model there weighs, its files, and its config.json alone."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from explainers.messages import SaidError
from explainers.models import model_files
from explainers.models.model_files import PICKLE_PATTERNS, read_json
from explainers.models.registry import (
    ModelError,
    find_offered_model,
    is_hub_id,
    refuse_code,
    refuse_name,
)

TIMEOUT = 3
"""Seconds without an answer after which the hub counts as out of reach."""
FILE_PATTERNS = ("*.json", "*.txt", "*.model", "*.spm", "*.jinja", "*.safetensors")
COMMIT_DIGITS = 12
"""Digits of a commit that are shown: nobody compares forty."""
DISK_RESERVE = 2 * 1024**3
"""Bytes of the disk that a model must leave to everybody else."""


_COMMIT = re.compile("[0-9a-f]{40}")


class HubUnreachableError(SaidError):
    """The hub does not answer, or not for us."""


class ModelSize(NamedTuple):
    """What a model will take before any of it is fetched: bytes of its files, and parameters.

    `commit` is the state of the model that was weighed: its owners may publish another one.
    """

    bytes: int
    num_parameters: int
    files: tuple[str, ...]
    commit: str


def ask_size(model_id: str, commit: str | None = None) -> ModelSize:
    """Ask the hub about a model: as at a commit, else as the registry wants it, else as it is now.

    One that brings code, or has pickled weights only, is refused.
    """
    from huggingface_hub import HfApi
    from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError

    offered = find_offered_model(model_id)
    commit = commit or (offered.commit if offered else None)
    try:
        info = HfApi().model_info(model_id, revision=commit, files_metadata=True, timeout=TIMEOUT)
    except GatedRepoError:
        raise ModelError(
            "{model} is given out only to those who asked its owners.", model=model_id
        ) from None
    except RepositoryNotFoundError:
        raise ModelError(
            "The hub has no model {model}, or keeps it private.", model=model_id
        ) from None
    except Exception as error:  # its clients raise errors of several libraries
        raise HubUnreachableError(
            "the hub is out of reach ({error})", error=type(error).__name__
        ) from error
    if not info.sha or not _COMMIT.fullmatch(info.sha):
        raise HubUnreachableError("the hub does not say which state of the model it speaks of")
    if "custom_code" in (info.tags or []):
        raise refuse_code(model_id)
    published = {file.rfilename: file.size or 0 for file in info.siblings or []}
    # They are asked for as patterns: a name with a star would bring files that nobody weighed.
    files = {
        n: s
        for n, s in published.items()
        if not set("/*?[") & set(n) and _matches_any(n, FILE_PATTERNS)
    }
    if not any(name.endswith(".safetensors") for name in files):
        pickles = (name for name in published if _matches_any(name, PICKLE_PATTERNS))
        pickle_file = next(pickles, "no weights")
        raise ModelError(
            "{model} has {held} and no safetensors, the only format of weights that cannot "
            "hold code.",
            model=model_id,
            held=pickle_file,
        )
    stated_count = info.safetensors.total if info.safetensors else None
    num_parameters = stated_count or sum(files.values()) // 2  # most are published in 16 bits
    return ModelSize(sum(files.values()), num_parameters, tuple(files), info.sha)


def download_model(
    model_id: str, folder: Path, report: Callable[[str], None], commit: str | None = None
) -> tuple[Path, str]:
    """Bring a model's files, all from one commit, which is told; what was begun is gone on with."""
    from huggingface_hub import snapshot_download

    size = ask_size(model_id, commit)
    model_files.choose_dtype(model_id, size.num_parameters)
    folder = folder / size.commit
    folder.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(folder).free
    if size.bytes + DISK_RESERVE > free:
        raise ModelError(
            "{model} takes {bytes:,} bytes; the disk has {free:,} left, of which {must:,} "
            "must stay free.",
            model=model_id,
            bytes=size.bytes,
            free=free,
            must=DISK_RESERVE,
        )
    report(f"{model_id}: fetching {size.bytes:,} bytes of commit {size.commit[:COMMIT_DIGITS]}")
    try:
        snapshot_download(
            model_id, revision=size.commit, local_dir=folder, allow_patterns=list(size.files)
        )
    except Exception as error:
        raise HubUnreachableError(
            "the hub stopped answering ({kind})", kind=type(error).__name__
        ) from error
    read_json(folder / "config.json")
    shutil.rmtree(folder / ".cache", ignore_errors=True)
    return folder, size.commit


def _matches_any(name: str, patterns: tuple[str, ...]) -> bool:
    return any(Path(name).match(pattern) for pattern in patterns)


MAX_CONFIG_BYTES = 1_000_000
"""The longest published config.json has a tenth of this."""


def fetch_config(model_id: str) -> str:
    """The text of a model's config.json, asked for without any name or key of ours.

    ModelError if there is none to be had, HubUnreachableError if nobody answers.
    """
    if not is_hub_id(model_id):
        raise refuse_name(model_id)
    import huggingface_hub

    content = _ask(model_id, huggingface_hub.hf_hub_url(model_id, "config.json"))
    if content is None:
        raise ModelError("{model} has no config.json on the hub.", model=model_id)
    if len(content) > MAX_CONFIG_BYTES:
        raise ModelError(
            "config.json of {model} has more than {most:,} bytes.",
            model=model_id,
            most=MAX_CONFIG_BYTES,
        )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ModelError("config.json of {model} is not text.", model=model_id) from None


def fetch_weights(model_id: str) -> dict[str, int]:
    """How many weights of each type the hub has counted in a model's files; nothing if it has not.

    Asked for as `fetch_config` asks, and refused as there; a mirror of the files counts nothing.
    """
    from huggingface_hub import constants

    content = _ask(model_id, f"{constants.ENDPOINT}/api/models/{model_id}?expand[]=safetensors")
    try:
        counted = json.loads(content or b"{}").get("safetensors") or {"parameters": {}}
        return dict(counted["parameters"])
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise HubUnreachableError("the hub answers with no count of weights") from None


def _ask(model_id: str, address: str) -> bytes | None:
    """What is there, and at most one byte more than is allowed: the rest is never read.

    None where there is nothing. ModelError for what is not given out, HubUnreachableError if
    nobody answers.
    """
    from huggingface_hub.utils import build_hf_headers, get_session

    headers, content = build_hf_headers(token=False), b""
    try:
        with get_session().stream(
            "GET", address, headers=headers, timeout=TIMEOUT, follow_redirects=True
        ) as response:
            status = response.status_code
            for part in response.iter_bytes(2**16) if status == 200 else ():
                content += part
                if len(content) > MAX_CONFIG_BYTES:
                    break
    except Exception as error:  # its clients raise errors of several libraries
        raise HubUnreachableError(
            "the hub is out of reach ({error})", error=type(error).__name__
        ) from error
    if status in (401, 403):
        raise ModelError(
            "{model} is not on the hub, or is given out only to those who asked its owners.",
            model=model_id,
        )
    if status not in (200, 404):
        raise HubUnreachableError("the hub answers with error {status}", status=status)
    return content if status == 200 else None
