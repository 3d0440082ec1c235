"""Explains three weights of SmolLM2, and keeps the explanations."""

import json
from typing import TYPE_CHECKING

from explainers.chapters.why_it_looked.explained_cell import Explained, explain_cell
from explainers.models.registry import resolve_folder
from explainers.models.shipped_scores import compute_fingerprint
from explainers.ui.controls.controls import JUDGES

if TYPE_CHECKING:
    from explainers.models.load import RealModel
from explainers.chapters.why_it_looked.explained_cell import CELLS, FILE, MODEL, read_text


def explain_example(loaded: "RealModel") -> dict[str, Explained]:
    """The three weights, computed by a model now."""
    run, tokens = read_text(loaded, JUDGES)
    return {name: explain_cell(run, cell, tokens) for name, cell in CELLS.items()}


def write_shipped() -> None:
    """Let the model read the text, and keep what is shown of it."""
    from explainers.models.load import load_model

    cells = {name: one._asdict() for name, one in explain_example(load_model(MODEL)).items()}
    kept = {"model": MODEL, "fingerprint": compute_fingerprint(resolve_folder(MODEL))}
    FILE.write_text(json.dumps(kept | {"cells": cells}, ensure_ascii=False), encoding="utf-8")
    print(f"{FILE.name}: {FILE.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    write_shipped()
