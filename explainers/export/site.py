"""The course as files: a page for each page and language, and what all of them fetch."""

import hashlib
import html
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import streamlit

from explainers.export.body import Body
from explainers.export.embed import describe_picture, write_described
from explainers.export.one_file import CAMERA, FRAME, HEROES, STYLE, write_theme, write_words
from explainers.export.visit import START, visit
from explainers.folders import read_titles
from explainers.models.load import is_on_disk, load_model
from explainers.models.registry import WHEEL_MODELS
from explainers.notebook.single_file import (
    BROWSER,
    embed_json,
    order_modules,
    squeeze_style,
    wrap_modules,
    wrap_style,
    write_loader,
)
from explainers.translations import _
from explainers.ui.prediction import SAID
from explainers.ui.text.language import list_languages

SITE = BROWSER / "static" / "site.js"
PICTURE = BROWSER / "picture" / "picture.js"
FIGURES = BROWSER / "figure" / "figure.js", BROWSER / "tiles" / "tiles.js"
LETTERS = "static/static/media/SourceSansVF-Upright.*.woff2"
"""Of the app, which Streamlit brings along."""
LARGE = 6_000
"""Letters of an answer: a larger one is a file that is fetched when it is asked for."""


@dataclass
class Site:
    """Where it is written, in which languages, and where its live app is."""

    folder: Path
    languages: list[str]
    live: str
    words: dict[str, dict[str, str]] = field(default_factory=dict)
    """By language, what all pictures say."""

    def write(self, pages: list[str]) -> dict[str, int]:
        """All files; how many bytes each page has."""
        for known in WHEEL_MODELS:  # a page would be written while its model is still to come
            if is_on_disk(known.id):
                load_model(known.id)
        sizes = {}
        for page in pages:
            described = {one: describe_picture(page, one) for one in self.languages}
            # Before the pages, which move large answers into files of their own.
            self._keep(f"embed/{page}.html", write_described(page, described, self.live))
            for language, told in described.items():
                text = self.write_page(page, language, told)
                sizes[f"{language}/{page}"] = self._keep(f"{language}/{page}.html", text)
        self.write_assets()
        first = f"{self.languages[0]}/{START}.html"
        lead = f'<meta http-equiv="refresh" content="0;url={first}"><a href="{first}">Start</a>'
        self._keep("index.html", f'<!doctype html><meta charset="utf-8">{lead}')
        return sizes

    def write_page(self, page: str, language: str, first: dict[str, Any]) -> str:
        """A page as HTML; `first` is what `describe_picture` tells, and is changed."""
        self._move_answers(page, language, first)
        light, dark = (visit(page, {}, language, theme, True) for theme in ("light", "dark"))
        live = self.live if page == START else f"{self.live}/{page}"
        body = Body(light, dark, live, first, self.words.setdefault(language, {}))
        text = body.write()
        around = {
            "page": page,
            "live": live,
            "line": FRAME.replace("{title}", html.escape(light.title)),
            "said": SAID,
            "words": write_words(language),
            "pictures": f"../assets/words-{language}.js" if any(self.words[language]) else "",
        }
        foot = _(
            "The numbers on this page were computed on {date}, when it was written.",
            date=light.date,
        )
        scripts = ["shared.js", *(name.replace("/", "-") for name in sorted(body.modules))]
        tags = "".join(f'<script defer src="../assets/{one}"></script>' for one in scripts)
        return (
            f'<!doctype html><html lang="{language}"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{html.escape(light.title)}</title>"
            f'<link rel="stylesheet" href="../assets/site.css">{tags}</head><body>'
            f"{self._write_path(page)}<main>{self._write_head(page, language, light.title, live)}"
            f"{text}{self._write_ways(page)}<footer>{html.escape(foot)}</footer></main>"
            f'<script type="application/json" id="around">{embed_json(around)}</script>'
            "</body></html>"
        )

    def write_assets(self) -> None:
        """What pages share: scripts, styles, words and letters."""
        shared = order_modules(SITE, PICTURE)
        style = wrap_style(STYLE)
        begin = (
            'addEventListener("DOMContentLoaded", () => attention.need("static/site.js").start());'
        )
        self._keep("assets/shared.js", write_loader() + style + wrap_modules(shared) + begin)
        for entry in (*HEROES.values(), *FIGURES, CAMERA):
            name = entry.relative_to(BROWSER).as_posix().replace("/", "-")
            own = wrap_style(entry.parent / "style.css") if entry in FIGURES else ""
            modules = order_modules(entry, besides=shared)
            self._keep(f"assets/{name}", own + wrap_modules(modules))
        self._keep("assets/site.css", write_theme() + squeeze_style(SITE.with_suffix(".css")))
        for language, words in self.words.items():
            name = f"assets/words-{language}.js"
            self._keep(name, f'attention.take("../{name}", {embed_json(words)});')
        [letters] = Path(streamlit.__file__).parent.glob(LETTERS)
        (self.folder / "assets" / "source-sans.woff2").write_bytes(letters.read_bytes())

    def _move_answers(self, page: str, language: str, first: dict[str, Any]) -> None:
        """Large answers to files of their own."""
        for key, changes in first["far"].items():
            text = embed_json(changes)
            if len(text) < LARGE:
                continue
            digest = hashlib.sha256(key.encode()).hexdigest()[:8]
            name = f"more/{page}-{digest}.js"
            self._keep(f"{language}/{name}", f'attention.take("{name}", {text});')
            first["far"][key] = name

    def _write_head(self, page: str, language: str, title: str, live: str) -> str:
        names = list_languages()
        others = "".join(
            f'<a data-live href="../{one}/{page}.html" lang="{one}" hreflang="{one}">'
            f"{html.escape(names[one])}</a>"
            for one in self.languages
            if one != language
        )
        look, leads = html.escape(_("Light or dark")), html.escape(_("Open in the live app"))
        return (
            f'<header><h1>{html.escape(title)}</h1><span class="tools">{others}'
            f'<button type="button" class="theme" aria-label="{look}" title="{look}">◐</button>'
            f'<a data-live href="{html.escape(live)}">{leads}</a>'
            "</span></header>"
        )

    def _write_path(self, here: str) -> str:
        items = "".join(
            f'<li data-page="{page}"><a href="{page}.html"'
            f"{' aria-current=page' if page == here else ''}>{html.escape(_(title))}</a></li>"
            for page, title in list_titles().items()
        )
        path = html.escape(_("The learning path"))
        inside = f"<details><summary>{path}</summary><ol>{items}</ol></details>"
        return f'<nav class="contents">{inside}</nav>'

    def _write_ways(self, here: str) -> str:
        titles = list_titles()
        order = list(titles)
        place, ways = order.index(here), ""
        for step, way in ((-1, "prev"), (1, "next")):
            if 0 <= place + step < len(order):
                page = order[place + step]
                title = html.escape(_(titles[page]))
                label = f"← {title}" if step < 0 else f"{title} →"
                ways += f'<a rel="{way}" href="{page}.html">{label}</a>'
        return f'<nav class="ways">{ways}</nav>'

    def _keep(self, name: str, text: str) -> int:
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        return file.write_bytes(text.encode())


def list_titles() -> dict[str, str]:
    """What the pages are called, by their places in the address, in the order of reading."""
    return {stem.partition("_")[2]: title for stem, title in read_titles().items()}
