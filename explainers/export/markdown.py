"""Streamlit's Markdown as HTML: what the pages use of it."""

import html
import re
from collections.abc import Collection

from markdown_it import MarkdownIt

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
