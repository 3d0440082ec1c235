"""The scenes of first pictures: what pages were recorded to send, drawn without a browser.

Chromium is asked for what only it knows (`tests/browser`). Which node stands where with which text
is decided by our scripts alone: Deno runs them, on the document of a library.
"""

import json
import os
import subprocess
import zlib
from base64 import b64encode
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import streamlit
from PIL import ImageFont

from tests.golden.kept import Views, read_kept
from tests.support.scripts import DENO

ROOMS = {1280: 916, 1024: 660, 390: 358}
"""By the window's width in pixels: the width that a first picture has in it."""
SCRIPT = Path(__file__).with_name("draw.js")
AS_LOCKED = "--quiet", "--no-config", "--frozen", f"--lock={SCRIPT.with_name('deno.lock')}"
SCENES = Path(__file__).with_name("scenes")
TOLD = "says", "told", "waits", "room", "height"
"""What is kept of a scene before its nodes."""
OPENS = "as it opens"
"""The link under which buttons are clicked."""
FONT = "static/static/media/SourceSansVF-Upright.*.woff2"
BOLD = 600


def list_pictures(page: Path) -> dict[str, Any]:
    """By the first link that shows it: what a page was recorded to send for its picture."""
    found: dict[str, Any] = {}
    for name, (_link, sent) in read_kept(page).items():
        for _element, value in sent:
            data = value.get("data") if isinstance(value, dict) else None
            if isinstance(data, dict) and "looks" in data and unpack(data) not in found.values():
                found[name] = unpack(data)
    return found


def unpack(value: Any) -> Any:
    """As it was sent; numbers that pictures take packed or open lie open."""
    match value:
        case {"unpacked": numbers}:
            return numbers
        case {"bytes": list(numbers)} if len(value) == 1:
            return b64encode(bytes(numbers)).decode()
        case {"planes": list(numbers)} if len(value) == 1:
            planes = bytes(n % 256 for n in numbers) + bytes(n // 256 for n in numbers)
            return b64encode(zlib.compress(planes)).decode()
        case dict():
            return {name: unpack(one) for name, one in value.items()}
        case list():
            return [unpack(one) for one in value]
    return value


def draw(page: Path) -> Views:
    """Its scenes, each by its link, its room, and the button that was clicked."""
    pictures = list_pictures(page)
    links = list(pictures)
    views: Views = {}
    for scene in draw_pictures([(one, link == OPENS) for link, one in pictures.items()]):
        link, clicked = links[scene["picture"]], scene["clicked"]
        name = f"{link}, {scene['room']} px" + (f", {len(views)}. {clicked}" if clicked else "")
        parts = [(part, scene[part]) for part in TOLD]
        nodes = [(f"{way} {node}".strip(), rest) for way, node, *rest in scene["nodes"]]
        views[name] = {}, [*parts, *nodes]
    return views


def draw_pictures(
    sent: Sequence[tuple[Any, bool]], rooms: Sequence[int] = tuple(ROOMS.values())
) -> Iterator[dict[str, Any]]:
    """What `draw.js` prints of data that were sent, each with whether its buttons are clicked."""
    letters = sorted(set(json.dumps([data for data, _is_clicked in sent], ensure_ascii=False)))
    advances = {letter: measure(letter) for letter in letters}
    asked = {"advances": advances, "rooms": rooms, "pictures": sent}
    done = subprocess.run(
        [DENO, "run", *AS_LOCKED, "--allow-read", "--allow-env", str(SCRIPT)],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "NO_COLOR": "1"},
    )
    if done.returncode:
        raise RuntimeError(f"a picture cannot be drawn: {done.stderr[-4000:]}")
    return map(json.loads, done.stdout.splitlines())


@cache
def load_font() -> ImageFont.FreeTypeFont:
    """Streamlit's own, as bold as pictures write."""
    [path] = Path(streamlit.__file__).parent.glob(FONT)
    font = ImageFont.truetype(str(path), 100)
    font.set_variation_by_axes([BOLD])
    return font


@cache
def measure(letter: str) -> float:
    """How wide a letter of pictures is, in hundredths of its size."""
    return load_font().getlength(letter)
