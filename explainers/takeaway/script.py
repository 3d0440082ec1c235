"""Cells as a plain Python file, with the remarks as comments."""

from collections.abc import Iterable

from explainers.takeaway.recipe import Cell

MIME = "text/x-python"


def script(cells: Iterable[Cell]) -> str:
    """The file as text; `python file.py` runs it."""
    return "\n\n\n".join(_part(cell) for cell in cells) + "\n"


def _part(cell: Cell) -> str:
    if cell.kind == "code":
        return cell.text
    # A line break of any kind would end the comment and begin code.
    return "\n".join(f"# {line.lstrip('# ')}".rstrip() for line in cell.text.splitlines())
