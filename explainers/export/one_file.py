"""One picture as one file, for a slide, a frame or a letter: it fetches nothing, as it declares."""

import base64
import functools
import html
import json
import re
import zlib
from collections.abc import Mapping
from typing import Any

from explainers.messages import N_
from explainers.notebook.single_file import (
    BROWSER,
    FONT,
    embed_json,
    order_modules,
    squeeze_style,
    wrap_modules,
    wrap_style,
    write_loader,
)
from explainers.translations import translate
from explainers.ui.text.language import list_languages

ENTRIES = BROWSER / "static" / "embed.js", BROWSER / "picture" / "picture.js"
PAGE_STYLE = BROWSER / "static" / "embed.css"
STYLE, CAMERA = BROWSER / "picture" / "style.css", BROWSER / "vendor" / "modern_screenshot.js"
_KIND = re.compile(r'import\("\./heroes/(\w+)\.js"\)')
HEROES = {
    kind: BROWSER / "picture" / "heroes" / f"{kind}.js"
    for kind in _KIND.findall(ENTRIES[1].read_text(encoding="utf-8"))
}
"""By kind, the module of each first picture."""
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data: blob:; connect-src data: blob:; font-src data:"
)
"""What is copied is a picture in a picture for a moment: `data:` and `blob:`, and nothing else."""
PACKED = 20_000
"""Letters of numbers: more are packed, and unpacked by the browser."""
MOST = 300_000
"""Bytes of a file."""
FRAME = (BROWSER / "static" / "frame.html").read_text(encoding="utf-8").strip()
"""The line that shows a file in another page."""
NUMBERS = '<script type="application/json" id="numbers">null</script>'
"""What a browser that writes such a file puts its numbers in place of."""


def write_file(kind: str, title: str, language: str, live: str, opening: str, numbers: str) -> str:
    """The file; `numbers` is a JSON text, `opening` the choices that it opens with, as a link."""
    around = {
        "live": live,
        "opening": opening,
        "words": {one: write_words(one) for one in list_languages()},
    }
    head = (
        f'<!doctype html><html lang="{language}"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(title)}</title><style>{write_theme()}{squeeze_style(PAGE_STYLE)}</style></head>"
    )
    link = f'<a href="{html.escape(live)}" target="_blank" rel="noopener"></a>'
    return (
        f'{head}<body><main><div class="picture"></div><p class="source">{link}</p></main>'
        f'<script type="application/json" id="around">{embed_json(around)}</script>'
        f"{NUMBERS.replace('null', numbers)}<script>{write_script(kind)}</script></body></html>"
    )


def pack(described: Mapping[str, Mapping[str, Any]]) -> str:
    """What is told in each language, as JSON: of all but the first what is other there."""
    (_first, base), *others = described.items()
    told = {"": base, **{language: subtract(one, base) for language, one in others}}
    text = embed_json(told)
    if len(text) < PACKED:
        return text
    return json.dumps(base64.b64encode(zlib.compress(text.encode(), 9)).decode())


def subtract(new: Any, old: Any) -> Any:
    """What `merge` of `browser/static/answers.js` needs to make the new one of the old one."""
    if not isinstance(new, Mapping) or not isinstance(old, Mapping):
        return new
    return {
        name: subtract(value, old[name]) if name in old else value
        for name, value in new.items()
        if name not in old or value != old[name]
    }


WORDS = {
    "needs": N_("This choice needs the app, which computes it:"),
    "open": N_("Open in the live app"),
    "below": N_("What stands below was computed for the picture as the page opens."),
    "source": N_("Attention, step by step · open live"),
    "bad": N_("The link asks for {name} = {wanted}. Use {allowed}; the page shows {value}."),
}
"""What is said around a picture; `browser/static/host.js` fills the slots."""


def write_words(language: str) -> dict[str, str]:
    """What is said around a picture, in a language."""
    return {name: translate(text, language) for name, text in WORDS.items()}


@functools.cache
def write_script(kind: str) -> str:
    """All modules that a picture of a kind needs, and its style without that of other kinds."""
    scripts = wrap_modules(order_modules(*ENTRIES, HEROES[kind], CAMERA))
    style = wrap_style(STYLE, drop_unused(squeeze_style(STYLE), scripts, kind.replace("_", "-")))
    return f'{write_loader()}{style}{scripts}attention.need("static/embed.js").start();'


def drop_unused(style: str, scripts: str, root: str) -> str:
    """A stylesheet without the rules whose classes no script knows.

    Of its own picture, whose class is `root`, a file keeps all: some are in what it draws.
    """
    words = set(re.findall(r"[a-zA-Z][\w-]*", scripts))
    beginnings = tuple(one for one in words if one.endswith("-"))  # `shelves-${name}`

    def is_used(selector: str) -> bool:
        names = re.findall(r"\.([a-zA-Z][\w-]*)", selector)
        return root in names or all(name in words or name.startswith(beginnings) for name in names)

    kept = []
    for rule in re.findall(r"[^{}]*\{(?:[^{}]|\{[^{}]*\})*\}", style):
        selectors = rule.partition("{")[0]
        if selectors.strip().startswith("@") or any(map(is_used, selectors.split(","))):
            kept.append(rule)
    return "".join(kept)


def write_theme() -> str:
    """The app's colours as the variables that pictures read: as the browser prefers, or chosen."""
    light, dark = (_write_variables(name) for name in ("light", "dark"))
    return (
        f":root{{{light}}}@media (prefers-color-scheme:dark){{:root{{{dark}}}}}"
        f":root[data-theme=light]{{{light}}}:root[data-theme=dark]{{{dark}}}"
    )


def _write_variables(name: str) -> str:
    from explainers.charts.theme import THEMES

    theme, is_dark = THEMES[name], name == "dark"
    blue, line = ("#8ab4f8", "232 234 237") if is_dark else ("#0b57d0", "26 29 33")
    variables = {
        "background-color": theme.background,
        "secondary-background-color": "#1b2027" if is_dark else "#f2f5f8",
        "text-color": theme.text,
        "primary-color": blue,
        "link-color": blue,
        "border-color": f"rgb({line} / .2)",
        "widget-border-color": f"rgb({line} / .2)",
        "font": FONT,
        "code-font": "ui-monospace, Consolas, monospace",
        "base-radius": ".5rem",
        "button-radius": ".5rem",
    }
    return f"color-scheme:{name};" + "".join(f"--st-{k}:{v};" for k, v in variables.items())
