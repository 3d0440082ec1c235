"""Writes what the app ships in the one format that `explainers.kept` reads."""

import json
from collections.abc import Mapping
from typing import Any

from safetensors.torch import save_file
from torch import Tensor

from explainers import kept
from explainers.folders import ASSETS
from explainers.kept import Kept
from explainers.models.registry import resolve_folder
from explainers.models.shipped_measurements import compute_fingerprint


def keep(one: Kept, tensors: Mapping[str, Tensor] | None = None) -> None:
    """Write both files of what was measured or trained now; each all at once or not at all."""
    file = ASSETS / f"{one.name}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    if tensors is not None:
        write_tensors(one.name, tensors)
    unfinished = file.with_suffix(".unfinished")
    unfinished.write_text(format_json(one), encoding="utf-8")
    unfinished.replace(file)
    kept.read.cache_clear()
    print(f"{one.name}: {file.stat().st_size / 1000:.0f} kB")


def keep_of_model(
    name: str,
    model: str,
    command: str,
    tolerance: dict[str, float],
    numbers: dict[str, Any],
    tensors: Mapping[str, Tensor] | None = None,
) -> None:
    """Write what was measured of a model, which is told by the weights that this machine has."""
    fingerprint = compute_fingerprint(resolve_folder(model))
    keep(Kept(name, model, command, tolerance, numbers, fingerprint), tensors)


def write_tensors(
    name: str, tensors: Mapping[str, Tensor], described: dict[str, str] | None = None
) -> None:
    """A file of tensors, readable by everybody, all at once or not at all."""
    file = ASSETS / f"{name}.safetensors"
    unfinished = file.with_suffix(".unfinished")
    save_file({name: one.contiguous() for name, one in tensors.items()}, unfinished, described)
    unfinished.chmod(0o644)  # safetensors leaves it to its owner alone
    unfinished.replace(file)


def format_json(one: Kept) -> str:
    """What is said of the numbers, then a line for each number or row, as changes are read."""
    said = {name: getattr(one, name) for name in ("origin", "command", "tolerance", "fingerprint")}
    lines = [f' "{name}": {_write(value)}' for name, value in said.items() if value != ""]
    numbers = ",\n".join(f'  "{name}": {_write_rows(value)}' for name, value in one.numbers.items())
    return "{\n" + ",\n".join([*lines, f' "numbers": {{\n{numbers}\n }}']) + "\n}\n"


def _write_rows(value: Any) -> str:
    if not isinstance(value, list | tuple) or not all(isinstance(row, dict) for row in value):
        return _write(value)
    return "[\n   " + ",\n   ".join(map(_write, value)) + "\n  ]"


def _write(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
