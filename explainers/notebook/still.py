"""Heads as a picture that stands still: an SVG whose text is text, for papers and without scripts.

Small matrices are rectangles, large ones an image inside. Nothing but numpy is needed.
"""

import re
import struct
import zlib
from base64 import b64encode
from collections.abc import Iterator, Sequence
from html import escape
from typing import NamedTuple

import numpy as np

from explainers.charts.theme import LIGHT, parse_colour
from explainers.notebook.packed_heads import THUMB_SIDE, Array, encode_weights, pool_blocks

MOST_RECTANGLES = 4_096
MOST_PIXELS, SMALL_PIXELS = 1_024, 128
"""On a side of an image, and of one in every file: of more numbers, the largest is drawn."""
SIDE, LEAST_CELL, LARGEST_CELL, LABEL = 340, 12, 36, 11
"""Pixels of a matrix, of a cell whose token is written, of any cell, and of letters."""
LONGEST_LABEL, LETTER, GAP, TICKS = 18, 6.6, 22, 5
MASKED = "#e9ecf0"
_NO_XML = re.compile("[^\t\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Signs that no XML may hold, however they are written."""


class Panel(NamedTuple):
    """One head's weights (q_len, kv_len), and what is written at them."""

    title: str
    weights: Array
    mask: Array
    queries: Sequence[str]
    keys: Sequence[str]
    offset: int | None = 0
    """The first query's place among the keys; None where they are two texts."""
    borders: Sequence[int] = ()
    """Keys at which a part of the text begins."""


def draw_svg(
    title: str, panels: Sequence[Panel], thumbs: Sequence[Array] = (), is_small: bool = False
) -> str:
    """Heads side by side, under all heads of a model as small squares if there are `thumbs`.

    The title is read out, not drawn. `is_small` makes an image of every matrix: fewer bytes.
    """
    parts = [f"<title>{write_text(title)}</title>"]
    least, top = 400.0, 4.0
    if thumbs:
        image, (across, down) = _draw_all(thumbs, top)
        parts.append(image)
        least, top = max(least, across + 20), top + down + GAP
    x, height = 10.0, top
    for panel in panels:
        drawn, size = _draw_panel(panel, x, top, is_small)
        parts.append(drawn)
        x, height = x + size[0] + GAP, max(height, top + size[1])
    parts.append(_draw_legend(10, height + 16))
    sides = f'width="{max(least, x):.0f}" height="{height + 28:.0f}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {sides} '
        f'font-family="Helvetica, Arial, sans-serif" font-size="{LABEL}" fill="{LIGHT.text}">'
        f'<rect {sides} fill="{LIGHT.background}"/>{"".join(parts)}</svg>'
    )


def _draw_panel(
    panel: Panel, x: float, y: float, is_small: bool
) -> tuple[str, tuple[float, float]]:
    """A matrix with its names, and how much room it takes."""
    rows, columns = panel.weights.shape
    across = min(LARGEST_CELL, max(SIDE / columns, LEAST_CELL if columns <= 64 else 0))
    down = min(LARGEST_CELL, max(across if rows * across > 40 else 40 / rows, SIDE / 2 / rows))
    down = across if panel.offset is not None and rows * across > 40 else down
    are_named = down >= LEAST_CELL - 0.1, across >= LEAST_CELL - 0.1
    left = x + (_measure(panel.queries) if are_named[0] else 34)
    top = y + 20 + (_measure(panel.keys) if are_named[1] else 18)
    parts = [_write(left, y + 10, panel.title, more=' font-weight="bold"')]
    parts += _name(panel.queries, left - 5, top, down, are_named[0], is_row=True)
    parts += _name(panel.keys, left, top - 5, across, are_named[1], is_row=False)
    size = across * columns, down * rows
    parts.append(_draw_matrix(panel, (left, top), (across, down), is_small))
    line = f'stroke="{LIGHT.highlight}" stroke-width="1.5"'
    for border in panel.borders:
        at = left + border * across
        parts.append(f'<path d="M{at:.1f} {top - 6:.1f}V{top + size[1]:.1f}" {line}/>')
        row = border - (panel.offset or 0)
        if panel.offset is not None and 0 < row < rows:
            at = top + row * down
            parts.append(f'<path d="M{left - 6:.1f} {at:.1f}H{left + size[0]:.1f}" {line}/>')
    right = max(left + size[0], left + LETTER * len(panel.title)) - x
    # The last key's name leans to the right, out of its column.
    return "".join(parts), (right + (0.6 * (top - y) if are_named[1] else 0), top + size[1] - y)


def _draw_matrix(
    panel: Panel, at: tuple[float, float], cell: tuple[float, float], is_small: bool
) -> str:
    (left, top), (across, down) = at, cell
    rows, columns = panel.weights.shape
    codes = encode_weights(panel.weights)
    frame = (
        f'x="{left:.1f}" y="{top:.1f}" width="{across * columns:.1f}" height="{down * rows:.1f}"'
    )
    edge = f'<rect {frame} fill="none" stroke="{LIGHT.grid}"/>'
    if is_small or codes.size > MOST_RECTANGLES:
        most = SMALL_PIXELS if is_small else MOST_PIXELS
        sides = min(rows, most), min(columns, most)
        pooled, seen = pool_blocks(codes, *sides), pool_blocks(panel.mask, *sides)
        return _embed(np.where(seen, np.maximum(pooled, 1), 0), frame) + edge
    colours = ["#" + bytes(one).hex() for one in _list_colours()]
    drawn = [
        f'<rect x="{left + key * across:.1f}" y="{top + query * down:.1f}" width="{across:.1f}" '
        f'height="{down:.1f}" fill="{colours[max(1, codes[query, key])]}"/>'
        for query, key in np.argwhere(panel.mask).tolist()
    ]
    return f'<rect {frame} fill="{MASKED}"/>{"".join(drawn)}{edge}'


def _draw_all(thumbs: Sequence[Array], top: float) -> tuple[str, tuple[float, float]]:
    """All heads, layers across and heads down, and their width and height."""
    pitch, most = THUMB_SIDE + 1, max(len(layer) for layer in thumbs)
    canvas = np.ones((most * pitch, len(thumbs) * pitch), dtype=np.uint8)
    for place, layer in enumerate(thumbs):
        rows, columns = (np.arange(THUMB_SIDE) * side // THUMB_SIDE for side in layer.shape[1:])
        for head, one in enumerate(layer):
            square = np.maximum(one[rows][:, columns], 1)
            y, x = head * pitch, place * pitch
            canvas[y : y + THUMB_SIDE, x : x + THUMB_SIDE] = square
    height, width = canvas.shape
    scale = min(2.0, 900 / width)
    frame = f'x="10" y="{top + 16:.1f}" width="{width * scale:.1f}" height="{height * scale:.1f}"'
    said = _write(10, top + 10, f"{len(thumbs)} layers across, {most} heads down")
    return said + _embed(canvas, frame), (width * scale, height * scale + 16)


def _draw_legend(x: float, y: float) -> str:
    ramp = "".join(
        f'<stop offset="{at}" stop-color="{colour}"/>'
        for at, colour in enumerate(LIGHT.weight_ramp)
    )
    said = "A row is a query, a column is a key. Weight 0"
    bar = x + LETTER * len(said) * 0.78
    return (
        f'<linearGradient id="ramp">{ramp}</linearGradient>{_write(x, y, said)}'
        f'<rect x="{bar:.0f}" y="{y - 8:.0f}" width="60" height="9" fill="url(#ramp)" '
        f'stroke="{LIGHT.grid}"/>{_write(bar + 65, y, "1, by its root")}'
    )


def _name(
    tokens: Sequence[str], x: float, y: float, pitch: float, are_named: bool, is_row: bool
) -> Iterator[str]:
    """The tokens along a side, or every so many of their numbers."""
    every = (
        1 if are_named else max(1, round(len(tokens) / TICKS, -len(str(len(tokens) // TICKS)) + 1))
    )
    for place in range(0, len(tokens), int(every)):
        label = _cut(tokens[place]) if are_named else str(place)
        middle = (place + 0.5) * pitch
        if is_row:
            yield _write(x, y + middle + 4, label, more=' text-anchor="end"')
        elif are_named:
            at = f"{x + middle + 3:.1f} {y:.1f}"
            yield f'<text transform="translate({at}) rotate(-60)">{write_text(label)}</text>'
        else:
            yield _write(x + middle, y, label, more=' text-anchor="middle"')


def _write(x: float, y: float, text: str, more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}"{more}>{write_text(text)}</text>'


def write_text(text: str) -> str:
    """A text inside of an SVG: never a tag, and no sign that XML forbids."""
    return escape(_NO_XML.sub("\N{REPLACEMENT CHARACTER}", text))


def _cut(token: str) -> str:
    """A token as it is printed: what could not be seen has a sign, what is too long an end."""
    shown = token.strip() or ("↵" if "\n" in token else "␣")
    return shown if len(shown) <= LONGEST_LABEL else shown[: LONGEST_LABEL - 1] + "…"


def _measure(tokens: Sequence[str]) -> float:
    return LETTER * max(len(_cut(token)) for token in tokens) + 10


def _list_colours() -> Array:
    """A colour for each byte of a weight: (256, 3); the first is for what is masked."""
    light, deep = (np.array(parse_colour(colour)) for colour in LIGHT.weight_ramp)
    colours = light + (deep - light) * np.arange(256)[:, None] / 255
    colours[:2] = parse_colour(MASKED), light
    return np.rint(colours).astype(np.uint8)


def _embed(codes: Array, frame: str) -> str:
    image = b64encode(write_png(codes.astype(np.uint8), _list_colours())).decode()
    return (
        f'<image {frame} preserveAspectRatio="none" style="image-rendering:pixelated" '
        f'href="data:image/png;base64,{image}"/>'
    )


def write_png(numbers: Array, palette: Array) -> bytes:
    """Numbers (height, width) as an image, with a colour (256, 3) for each."""
    height, width = numbers.shape

    def chunk(kind: bytes, data: bytes) -> bytes:
        checked = kind + data
        return struct.pack(">I", len(data)) + checked + struct.pack(">I", zlib.crc32(checked))

    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    rows = np.pad(numbers, ((0, 0), (1, 0)))  # each row begins with its filter: none
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"PLTE", palette.tobytes())
        + chunk(b"IDAT", zlib.compress(rows.tobytes(), 9))
        + chunk(b"IEND", b"")
    )
