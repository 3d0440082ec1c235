"""One HTML file with our own scripts and styles inside: it asks no server for anything.

>>> print(embed_json("</script>"))
"\\u003c/script\\u003e"
"""

import html
import json
import re
from typing import Any

from explainers.charts.theme import THEMES, Theme
from explainers.notebook.bundle import BROWSER, inline_modules

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
    style = f"grid-area:1/1;justify-self:stretch;height:{height}px;border:0;resize:vertical"
    # In ASCII: a file that somebody makes of a notebook may name no encoding, or another one.
    source = html.escape(page).encode("ascii", "xmlcharrefreplace").decode()
    frame = f'<iframe sandbox="allow-scripts" style="{style}" srcdoc="{source}"></iframe>'
    grid = "display:grid;grid-template-columns:minmax(0,1fr);overflow:hidden"
    return f'<div style="{grid}">{still}{frame}</div>'


def write_theme() -> str:
    """The app's colours as the variables that its pictures read, in light and in dark."""
    light, dark = (f":root{{{_write_variables(THEMES[name])}}}" for name in ("light", "dark"))
    return f"{light}@media (prefers-color-scheme:dark){{{dark}}}"


def _write_variables(theme: Theme) -> str:
    colours = {
        "background-color": theme.background,
        "secondary-background-color": theme.band,
        "text-color": theme.text,
        "border-color": theme.grid,
        "primary-color": theme.query,
        "font": FONT,
    }
    return "".join(f"--st-{name}:{value};" for name, value in colours.items())
