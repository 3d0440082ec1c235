"""Three weights of a real model explained beforehand: seen while the model is loaded."""

import functools
import json
from typing import TYPE_CHECKING, Any

from explainers.chapters.why_it_looked.explained_cell import Explained, Removal
from explainers.models.registry import WHEEL_MODELS, describe_package
from explainers.models.score_sources import Cell
from explainers.models.shipped_scores import FOLDER, has_other_weights
from explainers.ui.provenance import shipped_run

if TYPE_CHECKING:
    from explainers.models.load import RealModel

FILE = FOLDER / "why_it_looked.json"
MODEL = WHEEL_MODELS[0].id
CELLS = {"17.3": Cell(17, 3, 7, 5), "16.0": Cell(16, 0, 5, 4), "17.4": Cell(17, 4, 7, 5)}
"""By their heads: it reads what 16.0 wrote; 16.0 itself; one that falls less without 16.0."""


def read_shipped() -> tuple[dict[str, Explained], str] | None:
    """The weights of this page and where they come from, unless this machine's model is another."""
    if not FILE.is_file():
        return None
    cells, fingerprint = _read_file()
    if has_other_weights(MODEL, fingerprint):
        return None
    return cells, shipped_run(describe_package(MODEL))


@functools.cache
def _read_file() -> tuple[dict[str, Explained], str]:
    kept: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return {name: parse(one) for name, one in kept["cells"].items()}, kept["fingerprint"]


def parse(kept: dict[str, Any]) -> Explained:
    """One weight as the file has it."""
    removals = {name: Removal(*one) for name, one in kept["removals"].items()}
    sources = [(kind, layer, head) for kind, layer, head in kept["sources"]]
    return Explained(**{**kept, "removals": removals, "sources": sources})


def read_text(loaded: "RealModel", written: str) -> tuple[Any, list[str]]:
    """A text in the model that is written out, and its tokens. Raises ModelError with a reason."""
    from explainers.models.token_text import tokenise_text
    from explainers.models.written_out import write_out

    ids, tokens = tokenise_text(loaded, written, MOST_TOKENS)
    return write_out(loaded, ids[0]), [str(token) for token in tokens]


MOST_TOKENS = 64
