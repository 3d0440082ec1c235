"""Every text that is to be translated, with the file that it stands in."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from explainers.folders import ROOT
from explainers.ui.controls import controls, page_controls
from explainers.ui.controls.links import Control
from explainers.ui.figure.panels import said_by
from explainers.ui.page import sections
from explainers.ui.untrusted_text import titled

SAYING = {"explainers.ui.text.language": "said", "explainers.phrase": "phrase"}
COUNTED = "n_params_exact: "
"""So begins what we say of the source of a number; all other sources are quoted."""
_WORD = re.compile(r"[^\W\d_]{2}")
"""Numbers and symbols are the same in every language."""
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
    yield from _of_data()
    yield from _of_memory()
    for module in (controls, *page_controls.MODULES):
        yield from _of_controls(Path(str(module.__file__)), vars(module))
    for path in sorted(ROOT.glob("explainers/**/*.js")):
        yield from (Text(_named(path), n, text) for n, text in enumerate(said_by((path,))))
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


def _of_data() -> Iterator[Text]:
    """Claims and exercises are called as their functions are; parts and sizes of claims."""
    for name, member in (("claims", "check"), ("exercises", "make")):
        path = ROOT / "assets" / f"{name}.json"
        for place, row in enumerate(json.loads(path.read_text(encoding="utf-8"))):
            part, called = row[member].split(".")
            if part == "write":  # functions are called by their names in every language
                continue
            names = [part] if name == "claims" else []
            sizes = row.get("parameters", ())
            labels = [size["label"] for size in sizes]
            values = [value for size in sizes for value in size["values"] if _is_word(value)]
            for text in (*names, titled(called), *labels, *values):
                yield Text(_named(path), place, text)


def _of_memory() -> Iterator[Text]:
    """What is noted of published models."""
    models = ROOT / "assets" / "models.json"
    for place, model in enumerate(json.loads(models.read_text(encoding="utf-8"))):
        ours = [source for source in model["sources"] if source.startswith(COUNTED)]
        notes = [model["notes"]] if "notes" in model else []
        yield from (Text(_named(models), place, text) for text in [*notes, *ours])


def _is_word(value: object) -> bool:
    """Numbers and names of models are the same in every language."""
    return isinstance(value, str) and value.replace(" ", "").isalpha()


def _of_controls(path: Path, defined: dict[str, object]) -> Iterator[Text]:
    found = [one for one in defined.values() if isinstance(one, Control)]
    for place, control in enumerate(found):
        words = [control.label, control.help, *getattr(control, "options", ())]
        found_in = (word for word in words if word and _WORD.search(word))
        yield from (Text(_named(path), place, word) for word in found_in)


def _of_code(path: Path) -> Iterator[Text]:
    code = ast.parse(path.read_text(encoding="utf-8"))
    found = [call.args[0] for call in calls_that_say(code)]
    calls = [node for node in ast.walk(code) if isinstance(node, ast.Call)]
    # The code that makes an exercise is shown, so nothing stands in it for translators alone.
    settings = [call for call in calls if getattr(call.func, "id", "") == "Setting"]
    found += [call.args[1] for call in settings]
    if path.parent.name == "charts":
        found += [call.args[0] for call in calls if getattr(call.func, "attr", "") in TITLED]
        found += [word.value for call in calls for word in call.keywords if word.arg in TITLED]
    for one in found:
        if isinstance(one, ast.Constant) and isinstance(one.value, str) and one.value:
            yield Text(_named(path), one.lineno, one.value)


def calls_that_say(code: ast.Module) -> Iterator[ast.Call]:
    """The calls of `said` and `phrase` in a file that imports them."""
    imported = {
        alias.name
        for node in ast.walk(code)
        if isinstance(node, ast.ImportFrom) and node.module in SAYING
        for alias in node.names
    }
    names = imported & set(SAYING.values())
    for node in ast.walk(code):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in names:
            yield node
