"""Explains three weights of SmolLM2, and keeps the explanations."""

from typing import TYPE_CHECKING

from explainers.chapters.why_it_looked.hero import (
    CELLS,
    EXPLAINED,
    MODEL,
    Explained,
    explain_cell,
    read_text,
)
from explainers.ui.controls.controls import JUDGES
from workshop.keep import keep_of_model

if TYPE_CHECKING:
    from explainers.models.load import RealModel

PARTS = "weights, and parts of scores"
TOLERANCE = {PARTS: 2e-3}
"""Another processor adds up in another order."""


def explain_example(loaded: "RealModel") -> dict[str, Explained]:
    """The three weights, computed by a model now."""
    run, tokens = read_text(loaded, JUDGES)
    return {name: explain_cell(run, cell, tokens) for name, cell in CELLS.items()}


def write_shipped() -> None:
    """Let the model read the text, and keep what is shown of it."""
    from explainers.models.load import load_model

    cells = {name: one._asdict() for name, one in explain_example(load_model(MODEL)).items()}
    keep_of_model(EXPLAINED, MODEL, "python -m workshop.why_it_looked", TOLERANCE, {"cells": cells})


if __name__ == "__main__":
    write_shipped()
