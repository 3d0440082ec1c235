"""Every text that is to be translated, with the file that it stands in."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from explainers.ui import controls, page_controls
from explainers.ui.links import Control
from explainers.ui.prose import sections

ROOT = Path(__file__).parents[2]
SAYING = {"said", "phrase"}
TITLED = {"title", "x_title"}
"""How charts are told the names of their axes: `.title("…")` and `title="…"`."""


class Text(NamedTuple):
    """A text where it was found; a section of a page has a name, `<page>/<section>`."""

    file: str
    line: int
    text: str
    name: str | None = None


def texts() -> Iterator[Text]:
    """Of all pages, of code and of controls, in an order that changes only with them."""
    for path in sorted((ROOT / "assets" / "text" / "en").glob("*.md")):
        for place, (name, text) in enumerate(sections(path.stem).items()):
            yield Text(_named(path), place, text, f"{path.stem}/{name}")
    yield from _of_contents()
    for module in (controls, *page_controls.MODULES):
        yield from _of_controls(Path(str(module.__file__)), vars(module))
    for path in [*sorted(ROOT.glob("explainers/**/*.py")), *sorted(ROOT.glob("pages/*.py"))]:
        yield from _of_code(path)


def _named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _of_contents() -> Iterator[Text]:
    """Titles and parts stand in `app.py` as a table."""
    path = ROOT / "app.py"
    for table in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(table, ast.Dict):
            for key, value in zip(table.keys, table.values, strict=True):
                shown = value if isinstance(value, ast.Constant) else key
                if isinstance(shown, ast.Constant) and shown.value:
                    yield Text(_named(path), shown.lineno, str(shown.value))


def _of_controls(path: Path, defined: dict[str, object]) -> Iterator[Text]:
    found = [one for one in defined.values() if isinstance(one, Control)]
    for place, control in enumerate(found):
        words = [control.label, control.help, *getattr(control, "options", ())]
        yield from (Text(_named(path), place, word) for word in words if word)


def _of_code(path: Path) -> Iterator[Text]:
    is_chart = path.parent.name == "charts"
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        called = getattr(node.func, "id", getattr(node.func, "attr", ""))
        shown = node.args[:1] if called in SAYING | (TITLED if is_chart else set()) else []
        shown += [word.value for word in node.keywords if is_chart and word.arg in TITLED]
        for one in shown:
            if isinstance(one, ast.Constant) and isinstance(one.value, str) and one.value:
                yield Text(_named(path), one.lineno, one.value)
