"""Pictures of all pages, for the wall of the start page and for the docs.

`python -m benchmarks.thumbnails [STEM …]`. A thumbnail is cut out of the page as a visitor sees it,
once for each theme; the docs have the page as it opens.
"""

import io
import sys
from collections.abc import Iterator

from PIL import Image
from playwright.sync_api import Browser, Page

from benchmarks.browser import ROOT, chromium, server, wait_until_healthy
from explainers.ui.page_parts.page_cards import THUMBNAILS

WIDTH, HEIGHT = 240, 150
MOST_BYTES, BEST_QUALITY, WORST_QUALITY = 6000, 88, 30
WINDOW = {"width": 720, "height": 1100}
"""Narrow, so that a picture's words can still be read when it is small."""
DOCS, README_PICTURE, BEST_PICTURE = (
    ROOT / "docs" / "pictures",
    ROOT / "docs" / "screenshot.webp",
    82,
)
FIRST_SIGHT = {"width": 1280, "height": 800}
MARGIN = 10
LIMIT = 90_000
SETTLED = 2500
"""Milliseconds until what moves has come to its place."""
LECTURE = "lecture"
"""The picture of lecture mode, which is no page's."""
PLACES = {"19_what_if": "predict=false&what_window=4&changes=window", LECTURE: "lecture=true"}
"""Links to what is worth showing, where it is not what a page opens with."""
READY = """() => document.querySelector('h1')
  && document.querySelector('[data-testid=stApp]')?.dataset.testScriptState === 'notRunning'
  && !document.querySelector('[data-testid=stSkeleton], [class*=st-key-model-that-comes]')"""
SCROLL_TO_PICTURE = """() => {
  const main = document.querySelector('[data-testid=stMain]');
  const heroes = [...main.querySelectorAll('[data-testid=stBidiComponentIsolated]')]
    .map((host) => host.shadowRoot?.querySelector('.stage')).filter(Boolean);
  const pictures = [...main.querySelectorAll(
    '[data-testid=stBidiComponentIsolated], [data-testid=stVegaLiteChart], table, form')]
    .filter((one) => one.getBoundingClientRect().height > 60);
  const texts = [...main.querySelectorAll('[data-testid=stMarkdown]')];
  const found = heroes[0] ?? pictures[0] ?? texts[1] ?? main;
  document.querySelector('[data-testid=stHeader]').style.display = 'none';
  found.style.scrollMarginTop = '10px';
  found.scrollIntoView({ block: 'start' });
  const { x, y, width, height } = found.getBoundingClientRect();
  return { x, y, width, height };
}"""
"""Where the first picture is; a page without one shows what it begins with."""


def photograph(browser: Browser, address: str, theme: str) -> Image.Image:
    """The first picture of a page, as wide as it is, in the shape of a thumbnail."""
    is_lecture = f"{LECTURE}=" in address
    window = {"width": 1024, "height": 640} if is_lecture else WINDOW
    with browser.new_context(viewport=window, color_scheme=theme, locale="en") as visitor:  # type: ignore[arg-type]
        page = visitor.new_page()
        page.goto(address)
        page.wait_for_function(READY, timeout=LIMIT)
        page.wait_for_timeout(SETTLED)
        page.wait_for_function(READY, timeout=LIMIT)
        if is_lecture:
            page.wait_for_selector("html[data-lecture-stands]", state="attached", timeout=LIMIT)
            page.wait_for_timeout(SETTLED)
        clip = {"x": 0, "y": 0, **window} if is_lecture else _cut(page)
        return Image.open(io.BytesIO(page.screenshot(clip=clip))).convert("RGB")  # type: ignore[arg-type]


def photograph_first_sight(browser: Browser, address: str, name: str) -> int:
    """A page as it opens, for the docs, and the first one for the README; returns its bytes."""
    with browser.new_context(viewport=FIRST_SIGHT, locale="en") as visitor:  # type: ignore[arg-type]
        page = visitor.new_page()
        page.goto(address)
        page.wait_for_function(READY, timeout=LIMIT)
        page.wait_for_timeout(SETTLED)
        page.wait_for_function(READY, timeout=LIMIT)
        picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    file = DOCS / f"{name or 'start'}.webp"
    for one in (file,) if name else (file, README_PICTURE):
        picture.save(one, "WEBP", quality=BEST_PICTURE, method=6)
    return file.stat().st_size


def _cut(page: Page) -> dict[str, float]:
    """The part of the window that the thumbnail shows: the picture's upper part, or all of it."""
    found = page.evaluate(SCROLL_TO_PICTURE)
    page.wait_for_timeout(300)
    width = min(found["width"] + 2 * MARGIN, WINDOW["width"])
    height = width * HEIGHT / WIDTH
    above = max(MARGIN, (height - found["height"]) / 2)
    left, top = max(0.0, found["x"] - MARGIN), max(0.0, found["y"] - above)
    return {"x": left, "y": top, "width": width, "height": height}


def save(picture: Image.Image, name: str) -> int:
    """Make it small, and write it as well as its bytes allow; returns how many these are."""
    small = picture.resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS)
    for quality in range(BEST_QUALITY, WORST_QUALITY, -6):
        packed = io.BytesIO()
        small.save(packed, "WEBP", quality=quality, method=6)
        if packed.tell() <= MOST_BYTES:
            (THUMBNAILS / f"{name}.webp").write_bytes(packed.getvalue())
            return packed.tell()
    raise ValueError(f"{name} does not fit into {MOST_BYTES:,} bytes")


def list_pages() -> Iterator[tuple[str, str]]:
    """(name of the picture, place in the address with its choices) of what is asked for."""
    for path in sorted(ROOT.glob("pages/*.py")):
        place = "" if path.stem.startswith("01") else path.stem.partition("_")[2]
        yield path.stem, f"{place}?{PLACES.get(path.stem, 'predict=false')}"
    yield LECTURE, f"?{PLACES[LECTURE]}"


def main() -> None:
    """Photograph all pages, or those that are named."""
    total = 0
    THUMBNAILS.mkdir(exist_ok=True)
    with server(ROOT / "app.py", ROOT) as address, chromium() as browser:
        wait_until_healthy(address)
        for name, place in list_pages():
            if sys.argv[1:] and name not in sys.argv[1:]:
                continue
            for theme in ("light", "dark"):
                picture = photograph(browser, f"{address}/{place}", theme)
                size = save(picture, f"{name}-{theme}")
                total += size
                print(f"{name}-{theme}.webp: {size:,} bytes")
            if name != LECTURE:
                path = place.partition("?")[0]
                size = photograph_first_sight(browser, f"{address}/{path}", path)
                print(f"{path or 'start'}.webp: {size:,} bytes")
    print(f"{total:,} bytes")


if __name__ == "__main__":
    main()
