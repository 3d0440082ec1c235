"""Cells as a Jupyter notebook (nbformat 4.5), the same bytes for the same page."""

import json
from collections.abc import Iterable
from typing import Any

from explainers.takeaway.recipe import Cell

KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
MIME = "application/x-ipynb+json"


def notebook(cells: Iterable[Cell]) -> str:
    """The file as text."""
    return json.dumps(
        {
            "cells": [_cell(place, cell) for place, cell in enumerate(cells)],
            "metadata": {"kernelspec": KERNEL, "language_info": {"name": "python"}},
            "nbformat": 4,
            "nbformat_minor": 5,
        },
        ensure_ascii=False,
        indent=1,
        sort_keys=True,
    )


def _cell(place: int, cell: Cell) -> dict[str, Any]:
    ran: dict[str, Any] = {"execution_count": None, "outputs": []} if cell.kind == "code" else {}
    source = cell.text.splitlines(keepends=True)
    return {"cell_type": cell.kind, "id": f"cell-{place}", "metadata": {}, "source": source, **ran}
