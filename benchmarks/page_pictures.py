"""Pictures of all pages as they open, for the docs and the README.

`python -m benchmarks.page_pictures [STEM …]`
"""

import io
import sys

from PIL import Image
from playwright.sync_api import Browser

from benchmarks.browser import ROOT, chromium, server, wait_until_healthy

DOCS, README_PICTURE, QUALITY = ROOT / "docs" / "pictures", ROOT / "docs" / "screenshot.webp", 82
FIRST_SIGHT = {"width": 1280, "height": 800}
LIMIT = 90_000
SETTLED = 2500
"""Milliseconds until what moves has come to its place."""
READY = """() => document.querySelector('h1')
  && document.querySelector('[data-testid=stApp]')?.dataset.testScriptState === 'notRunning'
  && !document.querySelector('[data-testid=stSkeleton], [class*=st-key-model-that-comes]')"""


def photograph(browser: Browser, address: str, name: str) -> int:
    """A page as it opens, for the docs, and the first one for the README; returns its bytes."""
    with browser.new_context(viewport=FIRST_SIGHT, locale="en") as visitor:  # type: ignore[arg-type]
        page = visitor.new_page()
        page.goto(address)
        page.wait_for_function(READY, timeout=LIMIT)
        page.wait_for_timeout(SETTLED)
        page.wait_for_function(READY, timeout=LIMIT)
        picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    file = DOCS / f"{name}.webp"
    for one in (file, README_PICTURE) if name == "start" else (file,):
        picture.save(one, "WEBP", quality=QUALITY, method=6)
    return file.stat().st_size


def main() -> None:
    """Photograph all pages, or those that are named."""
    with server(ROOT / "app.py", ROOT) as address, chromium() as browser:
        wait_until_healthy(address)
        for path in sorted(ROOT.glob("pages/*.py")):
            if sys.argv[1:] and path.stem not in sys.argv[1:]:
                continue
            name = path.stem.partition("_")[2]
            place = "" if name == "start" else name
            size = photograph(browser, f"{address}/{place}", name)
            print(f"{name}.webp: {size:,} bytes")


if __name__ == "__main__":
    main()
