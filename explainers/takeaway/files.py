"""Cells as the text of a file: a Jupyter notebook, or a Python script."""

import json
from collections.abc import Iterable
from typing import Any

from explainers.takeaway.recipe import Cell

NOTEBOOK_MIME, SCRIPT_MIME = "application/x-ipynb+json", "text/x-python"
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def write_notebook(cells: Iterable[Cell]) -> str:
    """A Jupyter notebook (nbformat 4.5), the same bytes for the same page."""
    return json.dumps(
        {
            "cells": [_write_cell(place, cell) for place, cell in enumerate(cells)],
            "metadata": {"kernelspec": KERNEL, "language_info": {"name": "python"}},
            "nbformat": 4,
            "nbformat_minor": 5,
        },
        ensure_ascii=False,
        indent=1,
        sort_keys=True,
    )


def _write_cell(place: int, cell: Cell) -> dict[str, Any]:
    ran: dict[str, Any] = {"execution_count": None, "outputs": []} if cell.kind == "code" else {}
    source = cell.text.splitlines(keepends=True)
    return {"cell_type": cell.kind, "id": f"cell-{place}", "metadata": {}, "source": source, **ran}


def write_script(cells: Iterable[Cell]) -> str:
    """A plain Python file with the remarks as comments; `python file.py` runs it."""
    return "\n\n\n".join(_write_part(cell) for cell in cells) + "\n"


def _write_part(cell: Cell) -> str:
    if cell.kind == "code":
        return cell.text
    # A line break of any kind would end the comment and begin code.
    return "\n".join(f"# {line.lstrip('# ')}".rstrip() for line in cell.text.splitlines())
