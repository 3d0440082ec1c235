"""ES modules as plain scripts: a notebook may forbid modules, a page from a folder may load none.

Each becomes a function that `browser/common/loader.js` keeps by its name and calls when it is
needed. Four things of a module are rewritten: imports, imports on demand, exports, and the address
of its style, which becomes the style itself.
"""

import functools
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

BROWSER = Path(__file__).parents[1] / "ui" / "browser"
LOADER = BROWSER / "common" / "loader.js"
_IMPORT = re.compile(r'^import\s+(?:\{([^}]*)\}\s+from\s+)?"([^"]+)";[^\n]*\n', re.MULTILINE)
_ON_DEMAND = re.compile(r'\bimport\("([^"]+)"\)')
_STYLE = re.compile(r'\bloadStyle\(new URL\("([^"]+)", import\.meta\.url\)\)')
_ADDRESS = re.compile(r"\bimport\.meta\.url\b")
_EXPORT = re.compile(r"^export (default )?(?:async )?(function|class|const|let)\b ?([^\n]*)", re.M)
_EXPORT_LIST = re.compile(r"^export \{([^}]*)\};?\n?", re.MULTILINE)
_COMMENT = re.compile(r"^\s*(?://[^\n]*|/\*\*(?:(?!\*/).)*\*/)\n", re.MULTILINE | re.DOTALL)
_TYPE = re.compile(r"/\*\* @(?:type|param)(?:(?!\*/).)*\*/ ?")
_INDENT = re.compile(r"^[ \t]+", re.MULTILINE)
_NAME = re.compile(r"\w+")
_NOT_A_NAME = re.compile(r"""[(\[{]|[)\]}]|"[^"]*"|'[^']*'|`[^`]*`|//.*|,|;""")


def inline_modules(entry: Path, root: Path = BROWSER) -> str:
    """A module and all that it imports as one script, which calls the entry's `start()`."""
    modules = wrap_modules(order_modules(entry), root)
    return f"{write_loader()}{modules}attention.need({json.dumps(_name(entry, root))}).start();"


def write_loader() -> str:
    """The script that comes before all others."""
    return _strip(LOADER.read_text(encoding="utf-8"))


def order_modules(*entries: Path, besides: Iterable[Path] = ()) -> list[Path]:
    """What modules import, before the modules themselves, but for what is there already.

    What one imports on demand is not among it.
    """
    found, there = [], set(besides)

    def visit(path: Path) -> None:
        if path in there:
            return
        there.add(path)
        for _names, address in _IMPORT.findall(path.read_text(encoding="utf-8")):
            visit((path.parent / address).resolve())
        found.append(path)

    for entry in entries:
        visit(entry)
    return found


def wrap_modules(paths: Iterable[Path], root: Path = BROWSER) -> str:
    """Modules as scripts, one after the other."""
    return "".join(wrap_module(path, root) for path in paths)


@functools.cache
def wrap_module(path: Path, root: Path = BROWSER) -> str:
    """A module as a call of `attention.define`, which ends no script element that it stands in."""
    body = path.read_text(encoding="utf-8")
    exports = dict.fromkeys(_list_exports(body))

    def name(address: str) -> str:
        return json.dumps(_name((path.parent / address).resolve(), root))

    def take(found: re.Match[str]) -> str:
        names = ", ".join(one.strip().replace(" as ", ": ") for one in (found[1] or "").split(","))
        return f"const {{ {names} }} = $need({name(found[2])});\n"

    body = _EXPORT_LIST.sub("", _IMPORT.sub(take, body))
    if "\nexport default " in body:
        body = body.replace("\nexport default ", "\nconst theDefault = ")
        exports["default: theDefault"] = None
    body = re.sub(r"^export ", "", body, flags=re.MULTILINE)
    body = _ON_DEMAND.sub(lambda found: f"$lazy({name(found[1])})", body)
    body = _STYLE.sub(lambda found: f"$style({name(found[1])})", body)
    body = _strip(_ADDRESS.sub("document.baseURI", body))
    head = f"attention.define({json.dumps(_name(path, root))}, ($need, $lazy, $style) => {{"
    return f'{head}\n"use strict";\n{body}return {{ {", ".join(exports)} }};\n}});\n'


def wrap_style(path: Path, text: str = "") -> str:
    """A stylesheet as a call of `attention.style`; `text`, if not all of it is needed."""
    text = text or squeeze_style(path)
    name, kept = json.dumps(_name(path, BROWSER)), json.dumps(text, ensure_ascii=False)
    return _close(f"attention.style({name}, {kept});\n")


def squeeze_style(path: Path) -> str:
    """A stylesheet without its comments and indents."""
    text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    return re.sub(r"\s*\n\s*", "\n", text)


def _name(path: Path, root: Path) -> str:
    return path.resolve().relative_to(root.resolve()).as_posix()


def _list_exports(source: str) -> Iterator[str]:
    for is_default, kind, rest in _EXPORT.findall(source):
        if kind in ("const", "let"):
            yield from _list_declared(rest)
        elif not is_default:
            yield _NAME.findall(rest)[0]
    for names in _EXPORT_LIST.findall(source):
        yield from filter(None, map(str.strip, names.split(",")))


def _list_declared(line: str) -> Iterator[str]:
    """The names of `A = 0, B = f(1, 2);`: one at the beginning, one after each comma outside."""
    depth, start = 0, 0
    for sign in _NOT_A_NAME.finditer(line):
        if sign[0] == "," and depth == 0:
            yield _NAME.findall(line[start:])[0]
            start = sign.end()
        depth += (sign[0] in "([{") - (sign[0] in ")]}")
    yield _NAME.findall(line[start:])[0]


def _strip(script: str) -> str:
    script = _TYPE.sub("", _COMMENT.sub("", script))
    is_plain = all("`" not in line or line.count("`") % 2 == 0 for line in script.splitlines())
    return _close(_INDENT.sub("", script) if is_plain else script)


def _close(script: str) -> str:
    """No text in it ends a script element, or begins a comment of HTML."""
    return script.replace("</", r"<\/").replace("<!--", r"<\!--")
