"""What stands on a page, element by element, as HTML; what only the app can do leads there."""

import html
import re
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from markdown_it import MarkdownIt

from explainers.export.one_file import subtract
from explainers.export.visit import PAGES, PICTURE, Visit, read_data
from explainers.notebook.single_file import embed_json
from explainers.translations import _
from explainers.ui.prediction import HIDDEN

_READER = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
_ICON = re.compile(r":material/(\w+):\s*")
_COLOUR = re.compile(r":([a-z]+(?:-[a-z]+)*)\[((?:[^\[\]]|\[[^\]]*\](?:\([^)]*\))?)*)\]")
_PAGE_LINK = re.compile(r'<a href="/?([a-z_]+)(\?[^"]*)?">')
ICONS = {"check_circle": "✓ ", "cancel": "✗ "}
BEGIN, END, STOP = "\ue000", "\ue001", "\ue002"
"""Signs that no text has: around the number of a coloured part, and where it ends."""


def write_html(text: str, pages: Collection[str], is_inline: bool = False) -> str:
    """The text as HTML; links to pages lead to their files."""
    text = _ICON.sub(lambda found: ICONS.get(found[1], ""), text)
    names: list[str] = []

    def begin(found: re.Match[str]) -> str:
        names.append(found[1])
        return f"{BEGIN}{len(names) - 1}{END}{found[2]}{STOP}"

    text = _COLOUR.sub(begin, text)
    made = _READER.renderInline(text) if is_inline else _READER.render(text)
    made = re.sub(
        f"{BEGIN}(\\d+){END}", lambda it: f'<span class="{html.escape(names[int(it[1])])}">', made
    ).replace(STOP, "</span>")

    def lead(found: re.Match[str]) -> str:
        return f'<a href="{found[1]}.html{found[2] or ""}">' if found[1] in pages else found[0]

    return _PAGE_LINK.sub(lead, made)


LEFT_OUT = "page top", "takeaway", "way on", "learning path", "hero controls", "sentence"
"""Keys of parts that a file has in another form, or not at all, begin with these."""
PLACE = re.compile(r"file: (\w+) (.*)")
CARD = re.compile(r"card that is open: \w+ (\w+)")
CONTROLS = {
    *("selectbox", "number_input", "slider", "select_slider", "button_group", "toggle"),
    *("text_area", "text_input", "multiselect", "checkbox", "radio"),
}
"""Whose values only the app draws."""
MOUNTS = {PICTURE: "picture", "figure-figure": "figure", "tiles-tiles": "tiles"}
ROOTS = {"picture": "hero", "figure": "figure", "tiles": "tiles"}
NOTICES = {"info", "warning", "error", "success"}
HORIZONTAL = 2
"""How Streamlit's protocol calls the direction of a row."""


@dataclass
class Body:
    """The parts of a page, one after the other; `dark` is the same page drawn for the night."""

    light: Visit
    dark: Visit
    live: str
    first: dict[str, Any]
    """What the first picture answers: `describe_picture`."""
    words: dict[str, str]
    """What pictures say, which all of a language's pages share."""
    parts: list[str] = field(default_factory=list)
    modules: set[str] = field(default_factory=set)
    """What has to be there to draw it: pictures of these kinds, by their names."""
    has_first: bool = False

    def write(self) -> str:
        """All of the page but its title."""
        self.walk(self.light.test.main, self.dark.test.main)
        return "".join(self.parts)

    def walk(self, block: Any, dark: Any) -> None:
        """What stands in a block, beside the same by night."""
        others = getattr(dark, "children", {})
        for place, child in getattr(block, "children", {}).items():
            self.draw(child, others.get(place))

    def draw(self, node: Any, dark: Any) -> None:
        """One element with all that stands in it."""
        kind, key = node.type, getattr(node, "key", None) or ""
        own = PLACE.fullmatch(key)
        if own:
            self.draw_own(own[1], own[2])
        elif key.startswith(LEFT_OUT) or kind in ("title", "popover", "html", "empty"):
            return
        elif kind in ("markdown", "caption", "header", "subheader", *NOTICES):
            self.draw_text(kind, node.value)
        elif kind == "code":
            self.parts.append(f"<pre><code>{html.escape(node.value)}</code></pre>")
        elif kind == "bidi_component":
            self.draw_component(node, dark)
        elif kind == "expander":
            self.draw_expander(key, node, dark)
        elif kind in CONTROLS:
            self.draw_control(node, key)
        elif kind in ("table", "arrow_table", "dataframe", "arrow_data_frame"):
            self.draw_table(node)
        else:
            self.draw_block(kind, key, node, dark)

    def draw_text(self, kind: str, text: str) -> None:
        """A remark: of what is not said as usual, in a box."""
        made = self.write_text(f"## {text}" if kind in ("header", "subheader") else text)
        name = "caption" if kind == "caption" else "notice" if kind in NOTICES else ""
        self.parts.append(f'<div class="{name}">{made}</div>' if name else made)

    def draw_block(self, kind: str, key: str, node: Any, dark: Any) -> None:
        """What only holds others, with what styles know it by."""
        name = re.sub(r"[^a-z]+", "-", key.partition(":")[0].lower()).strip("-") or kind
        box = getattr(getattr(node, "proto", None), "flex_container", None)
        if kind == "horizontal" or int(getattr(box, "direction", 0)) == HORIZONTAL:
            name += " row"
        before = len(self.parts)
        self.parts.append(f'<div class="{name}">')
        self.walk(node, dark)
        if len(self.parts) == before + 1:  # nothing that a file has
            self.parts.pop()
        else:
            self.parts.append("</div>")

    def draw_expander(self, key: str, node: Any, dark: Any) -> None:
        """A card or a box of code, closed."""
        card = CARD.fullmatch(key)
        label = self.write_text(node.label, is_inline=True)
        name = f'class="card" data-card="{card[1]}"' if card else 'class="code"'
        self.parts.append(f"<details {name}><summary>{label}</summary>")
        self.walk(node, dark)
        self.parts.append("</details>")

    def draw_control(self, node: Any, key: str) -> None:
        """Its name and value, as a link to where it can be changed."""
        label = getattr(node, "label", "") or key
        value = getattr(node, "value", "")
        shown = ", ".join(map(str, value)) if isinstance(value, list | tuple) else f"{value}"
        named = self.write_text(str(label), is_inline=True)
        says = _("Open in the live app")
        self.parts.append(
            f'<a class="control" data-live title="{html.escape(says)}" href="{self.live}">'
            f"{named}: <b>{html.escape(shown[:80])}</b> ↗</a>"
        )

    def draw_table(self, node: Any) -> None:
        """A table of plain cells."""
        frame = node.value
        head = "".join(f"<th>{html.escape(str(one))}</th>" for one in frame.columns)
        rows = "".join(
            "<tr>" + "".join(f"<td>{self.write_text(str(v), is_inline=True)}</td>" for v in line)
            for line in frame.itertuples(index=False)
        )
        self.parts.append(f'<div class="table"><table><tr>{head}</tr>{rows}</table></div>')

    def draw_component(self, node: Any, dark: Any) -> None:
        """A picture, which the page's script mounts; of lists of names there is none."""
        name = node.proto.component_name.rpartition(".")[2]
        kind = next((mount for end, mount in MOUNTS.items() if name.endswith(end)), "")
        if not kind:
            return
        data = read_data(node)
        sent: dict[str, Any] = {"data": data}
        is_first = kind == "picture" and not self.has_first
        if is_first:
            self.has_first, sent = True, self.first
        elif dark is not None and dark.type == node.type:
            sent["dark"] = subtract(read_data(dark), data)
        self.words |= sent["data"].pop("words", {})
        if kind == "figure":
            key = (getattr(node, "key", "") or "").removeprefix("picture ")
            sent["arithmetic"] = self.light.noted("arithmetic").get(key) or {}
            data["pickable"] = bool(sent["arithmetic"])
            if not sent["arithmetic"]:
                data |= {"stepper": "", "working": None, "selected": None}
        is_hero = kind == "picture"
        self.modules.add(f"picture/heroes/{data['kind']}.js" if is_hero else f"{kind}/{kind}.js")
        first = " data-first" if is_first else ""
        self.parts.append(
            f'<div class="picture" data-mount="{kind}" data-root="{ROOTS[kind]}"{first}>'
            f'<script type="application/json">{embed_json(sent)}</script></div>'
        )

    def draw_own(self, kind: str, name: str) -> None:
        """What a file has instead of what a server would do."""
        told = self.light.notes[kind, name]
        if kind == "chart":
            for theme, visit in (("light", self.light), ("dark", self.dark)):
                drawn = visit.notes[kind, name]
                alt = html.escape(drawn["alt"])
                box = f'<div class="chart {theme}" role="img" aria-label="{alt}">'
                self.parts.append(f"{box}{drawn['svg']}</div>")
        elif kind == "veil":
            hidden = html.escape(_("hidden number, show"))
            tile = (
                f'<button type="button" class="veil" data-answer="{html.escape(told["answer"])}" '
                f'aria-label="{hidden}">?</button>'
            )
            because = self.write_text(told["because"])
            shown = self.write_text(told["text"]).replace(HIDDEN, tile)
            self.parts.append(f'<div class="veiled">{shown}<div hidden>{because}</div></div>')
        else:
            self.draw_question(name, told)

    def draw_question(self, name: str, told: dict[str, Any]) -> None:
        """A question that the page's script judges."""
        typed, escape = told["typed"], html.escape
        buttons = "".join(
            f'<button type="button" value="{escape(value)}">{escape(label)}</button>'
            for value, label in told["options"]
        )
        if typed:
            label = escape(_("Your answer"))
            buttons = (
                f'<input aria-label="{label}" inputmode="decimal" maxlength="30" '
                f'data-number="{typed["number"]}" data-off="{typed["off"]}"><button>OK</button>'
            )
        verdicts = "".join(
            f'<template data-verdict="{way}">{self.write_text(told[way], True)}</template>'
            for way in ("right", "wrong")
        )
        recall = " data-recall" if name.startswith("recall ") else ""
        self.parts.append(
            f'<form class="question" data-answer="{escape(told["answer"])}"{recall}>'
            f'{self.write_text(told["text"])}<div class="answers">{buttons}</div>{verdicts}'
            f'<p class="verdict" role="status"></p><div class="because" hidden>'
            f"{self.write_text(told['because'])}</div></form>"
        )

    def write_text(self, text: str, is_inline: bool = False) -> str:
        """Markdown as HTML, its links to other pages."""
        return write_html(text, PAGES, is_inline)
