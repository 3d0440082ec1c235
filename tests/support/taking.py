"""Files of pages, run where nothing of ours can be imported, and the numbers of the page beside."""

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
from jupyter_client.manager import KernelManager
from nbclient import NotebookClient
from streamlit.testing.v1 import AppTest

from explainers.takeaway.recipe import Cell, write_notebook
from explainers.ui.session import TAKEAWAY
from explainers.ui.takeaway_files import PageTakeaway
from tests.support.opening import elements
from tests.support.reading import unpacked

ALONE = """import importlib.util
assert importlib.util.find_spec("explainers") is None"""
KEEP = """import json
with open({path!r}, "a") as _file:
    _file.write(json.dumps({{
        name: number.tolist() if hasattr(number, "tolist") else number
        for name, number in computed.items()
    }}) + "\\n")"""


DIGITS, FOUR_DIGITS = 2e-5, 6e-5
"""Six digits are sent, and sums of float32 differ in the last of them."""


class Drawn(NamedTuple):
    """A matrix as the browser gets it; a blank is None. An image has 16 bits for a number."""

    name: str
    values: list[list[float | None]]
    rounding: float

    def shows(self, computed: Any) -> bool:
        """Are these the numbers?"""
        return agrees(computed, self.values, self.rounding)


def cells_of(visit: AppTest) -> list[Cell]:
    """What the page hands over now, as both files are written from it."""
    taken: PageTakeaway = visit.session_state[TAKEAWAY]
    return list(taken.cells())


def kernel(folder: Path) -> KernelManager:
    """One process for many notebooks, in a folder where explainers is not."""
    started = KernelManager(kernel_name="python3")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    started.start_kernel(cwd=str(folder), env=environment)
    return started


def valid(text: str) -> Any:
    """A notebook that keeps to the format, which fills in nothing."""
    file = nbformat.reads(text, as_version=4)
    nbformat.validate(file)
    return file


def executed(cells: list[Cell], folder: Path, manager: KernelManager | None) -> list[Any]:
    """The dict of each recipe, as the notebook computes it when a reader runs all its cells."""
    file, kept = valid(write_notebook(cells)), folder / "kept.jsonl"
    kept.unlink(missing_ok=True)
    for place in reversed(range(len(file.cells))):
        if file.cells[place].source.endswith("same_numbers(computed, shown)"):
            cell = nbformat.v4.new_code_cell(KEEP.format(path=str(kept)))
            file.cells.insert(place + 1, cell)
    forget = "%reset -f\n" if manager else ""  # a name that an earlier notebook left proves nothing
    file.cells.insert(0, nbformat.v4.new_code_cell(forget + ALONE))
    resources = {"metadata": {"path": str(folder)}}
    NotebookClient(file, km=manager, timeout=120, resources=resources).execute()
    lines = kept.read_text(encoding="utf-8").splitlines() if kept.exists() else []
    return [json.loads(line) for line in lines]


def drawn_on(visit: AppTest) -> list[Drawn]:
    """Every matrix on the page, queries down the side."""
    found = []
    for element in elements(visit.main):
        if element.type != "bidi_component":
            continue
        sent = json.loads(element.proto.bytes) or {}
        if sent.get("kind") == "masked":
            found += _weights_under_masks(sent)
        for panel in sent.get("panels", ()):
            values, rounding = panel["values"], DIGITS
            if isinstance(values, dict):
                rounding = max(DIGITS, values["unit"])
                flat, width = unpacked(values), len(panel["columns"])
                values = [flat[n : n + width] for n in range(0, len(flat), width)]
            if panel["flipped"]:
                values = [list(column) for column in zip(*values, strict=True)]
            found.append(Drawn(panel["id"], values, rounding))
    return found


def _weights_under_masks(hero: dict[str, Any]) -> list[Drawn]:
    """What the page on masks shows first: the weights under each mask, with its number."""
    return [Drawn("scores", hero["scores"], FOUR_DIGITS)] + [
        Drawn(mask["name"], frame["weights"], FOUR_DIGITS)
        for mask in hero["masks"]
        for number, frame in enumerate(mask["frames"], mask["least"])
        if number == hero["choices"].get(mask["name"], number)
    ]


def agrees(computed: Any, shown: Any, tolerance: float = DIGITS) -> bool:
    """The same shape and numbers; what is drawn blank is 0 or −∞."""
    if shown is None:
        return computed in (0, float("-inf")) or computed != computed
    if isinstance(shown, list):
        if not isinstance(computed, list):
            return False
        while len(shown) > len(computed) and is_blank(shown[-1]):  # not read yet
            shown = shown[:-1]
        return len(computed) == len(shown) and all(
            agrees(*pair, tolerance) for pair in zip(computed, shown, strict=True)
        )
    return isinstance(computed, float | int) and abs(computed - shown) <= tolerance * max(
        1.0, abs(shown)
    )


def is_blank(shown: Any) -> bool:
    """Is nothing there?"""
    return all(map(is_blank, shown)) if isinstance(shown, list) else shown is None
