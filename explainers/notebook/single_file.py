"""One HTML file with our own scripts and styles inside: it asks no server for anything.

A notebook may forbid modules, and a page from a folder may load none: ES modules become plain
scripts. Each is a function that `browser/common/loader.js` keeps by its name and calls when it is
needed. Four things of a module are rewritten: imports, imports on demand, exports, and the address
of its style, which becomes the style itself.

>>> print(embed_json("</script>"))
"\\u003c/script\\u003e"
"""

import functools
import html
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from explainers.charts.theme import THEMES

POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"
"""What the file may load: nothing. A text that was made to send something away could not."""
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif"


def write_page(title: str, entry: str, style: str, data: Any, still: str = "") -> str:
    """A whole HTML document: the data, and a script that calls the entry module's `start` on it.

    `entry` and `style` are files in `ui/browser`; the data is what JSON can hold. `still` is HTML
    that is shown where scripts are off.
    """
    script, numbers = inline_modules(BROWSER / entry), embed_json(data)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{html.escape(title)}</title>"
        f"<style>{write_theme()}{(BROWSER / style).read_text(encoding='utf-8')}</style></head>"
        f'<body><noscript>{still}</noscript><main class="look"></main>'
        f'<script type="application/json">{numbers}</script>'
        f"<script>{script}</script></body></html>"
    )


def embed_json(data: Any) -> str:
    """JSON that ends no script: `<` and the two line ends that JavaScript knows are escaped."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    signs = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}
    signs |= {"\u2028": "\\u2028", "\u2029": "\\u2029"}
    return re.sub("[<>&\u2028\u2029]", lambda found: signs[found[0]], text)


def frame_page(page: str, height: int, still: str = "") -> str:
    """The page in a frame of its own: nothing in it can reach the notebook around it.

    The frame lies over the `still`, which is left where a viewer takes frames out.
    """
    style = f"display:block;width:100%;height:{height}px;border:0;resize:vertical"
    # In ASCII: a file that somebody makes of a notebook may name no encoding, or another one.
    source = html.escape(page).encode("ascii", "xmlcharrefreplace").decode()
    frame = f'<iframe sandbox="allow-scripts" style="{style}" srcdoc="{source}"></iframe>'
    grid = "display:grid;grid-template-columns:minmax(0,1fr);overflow:hidden"
    # marimo puts each frame into an element of its own: so it lies in one of ours.
    return f'<div style="{grid}">{still}<div style="grid-area:1/1">{frame}</div></div>'


def write_theme() -> str:
    """The app's colours as the variables that its pictures read, in light and in dark."""
    rules = []
    for theme in (THEMES["light"], THEMES["dark"]):
        colours = {
            "background-color": theme.background,
            "secondary-background-color": theme.band,
            "text-color": theme.text,
            "border-color": theme.grid,
            "primary-color": theme.query,
            "font": FONT,
        }
        variables = "".join(f"--st-{name}:{value};" for name, value in colours.items())
        rules.append(f":root{{{variables}}}")
    return f"{rules[0]}@media (prefers-color-scheme:dark){{{rules[1]}}}"


BROWSER = Path(__file__).parents[1] / "ui" / "browser"
LOADER = BROWSER / "common" / "loader.js"
_IMPORT = re.compile(r'^import\s+(?:\{([^}]*)\}\s+from\s+)?"([^"]+)";[^\n]*\n', re.MULTILINE)
_PASSED_ON = re.compile(r'^export \* from "([^"]+)";\n', re.MULTILINE)
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


def inline_modules(entry: Path) -> str:
    """A module and all that it imports as one script, which calls the entry's `start()`."""
    modules = wrap_modules(order_modules(entry))
    return f"{write_loader()}{modules}attention.need({_name(entry)}).start();"


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
        source = path.read_text(encoding="utf-8")
        named = (
            *(address for _names, address in _IMPORT.findall(source)),
            *_PASSED_ON.findall(source),
        )
        for address in named:
            visit((path.parent / address).resolve())
        found.append(path)

    for entry in entries:
        visit(entry)
    return found


def wrap_modules(paths: Iterable[Path]) -> str:
    """Modules as scripts, one after the other."""
    return "".join(map(wrap_module, paths))


@functools.cache
def wrap_module(path: Path) -> str:
    """A module as a call of `attention.define`, which ends no script element that it stands in."""
    body = path.read_text(encoding="utf-8")
    exports = dict.fromkeys(_list_exports(body))

    exports |= {
        f"...$need({_name(path.parent / address)})": None for address in _PASSED_ON.findall(body)
    }

    def take(found: re.Match[str]) -> str:
        names = ", ".join(one.strip().replace(" as ", ": ") for one in (found[1] or "").split(","))
        return f"const {{ {names} }} = $need({_name(path.parent / found[2])});\n"

    body = _PASSED_ON.sub("", _EXPORT_LIST.sub("", _IMPORT.sub(take, body)))
    if "\nexport default " in body:
        body = body.replace("\nexport default ", "\nconst theDefault = ")
        exports["default: theDefault"] = None
    body = re.sub(r"^export ", "", body, flags=re.MULTILINE)
    body = _ON_DEMAND.sub(lambda found: f"$lazy({_name(path.parent / found[1])})", body)
    body = _STYLE.sub(lambda found: f"$style({_name(path.parent / found[1])})", body)
    body = _strip(_ADDRESS.sub("document.baseURI", body))
    head = f"attention.define({_name(path)}, ($need, $lazy, $style) => {{"
    return f'{head}\n"use strict";\n{body}return {{ {", ".join(exports)} }};\n}});\n'


def wrap_style(path: Path, text: str = "") -> str:
    """A stylesheet as a call of `attention.style`; `text`, if not all of it is needed."""
    text = text or squeeze_style(path)
    kept = json.dumps(text, ensure_ascii=False)
    return _close(f"attention.style({_name(path)}, {kept});\n")


def squeeze_style(path: Path) -> str:
    """A stylesheet without its comments and indents."""
    text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    return re.sub(r"\s*\n\s*", "\n", text)


def _name(path: Path) -> str:
    """What a file is called by others, in quotes."""
    return json.dumps(path.resolve().relative_to(BROWSER.resolve()).as_posix())


def _list_exports(source: str) -> Iterator[str]:
    for is_default, kind, rest in _EXPORT.findall(source):
        # Of `A = 0, B = f(1, 2);`, one name at the beginning, one after each comma outside.
        depth, starts = 0, [] if is_default else [0]
        for sign in _NOT_A_NAME.finditer(rest) if kind in ("const", "let") else ():
            starts += [sign.end()] if sign[0] == "," and depth == 0 else []
            depth += (sign[0] in "([{") - (sign[0] in ")]}")
        yield from (_NAME.findall(rest[start:])[0] for start in starts)
    for names in _EXPORT_LIST.findall(source):
        yield from filter(None, map(str.strip, names.split(",")))


def _strip(script: str) -> str:
    script = _TYPE.sub("", _COMMENT.sub("", script))
    is_plain = all("`" not in line or line.count("`") % 2 == 0 for line in script.splitlines())
    return _close(_INDENT.sub("", script) if is_plain else script)


def _close(script: str) -> str:
    """No text in it ends a script element, or begins a comment of HTML."""
    return script.replace("</", r"<\/").replace("<!--", r"<\!--")
