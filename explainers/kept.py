"""What was measured or trained beforehand and comes with the app: one format for all of it.

A JSON file says where its numbers come from, what makes them again, and how far those of another
machine may be from them; then the numbers. Tensors lie beside it, in a file of the same name.
"""

import functools
import json
from typing import TYPE_CHECKING, Any, NamedTuple

from explainers.folders import ASSETS

if TYPE_CHECKING:
    from torch import Tensor


class Kept(NamedTuple):
    """All that is kept under a name."""

    name: str
    origin: str
    """A model on the hub, or how the weights were trained."""
    command: str
    """What measures again, or trains again, and writes the files."""
    tolerance: dict[str, float]
    """How far another machine's numbers may be off, by what is compared."""
    numbers: dict[str, Any]
    fingerprint: str = ""
    """Of the weights of a real model; empty for what was trained here."""

    def read_tensors(self, begin: str = "") -> dict[str, "Tensor"]:
        """The tensors whose names begin so, by the rest of their names."""
        from safetensors import safe_open  # the first paint needs no torch

        with safe_open(ASSETS / f"{self.name}.safetensors", "pt") as file:
            names = [name for name in file.keys() if name.startswith(begin)]  # noqa: SIM118
            return {name.removeprefix(begin): file.get_tensor(name) for name in names}


@functools.cache
def read(name: str) -> Kept:
    """What is kept under a name such as `scores/serving`; read once."""
    return Kept(name, **json.loads((ASSETS / f"{name}.json").read_text(encoding="utf-8")))
