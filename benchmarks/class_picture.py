"""The README's picture of a class that follows: `python -m benchmarks.class_picture`.

The lecturer's screen with the votes on a question, and two phones that show the same.
"""

import io
import json
import urllib.request
from collections.abc import Sequence
from contextlib import ExitStack

from PIL import Image, ImageDraw
from playwright.sync_api import Browser, Page

from benchmarks.browser import ROOT, chromium, server, wait_until_healthy

PICTURE = ROOT / "docs" / "lecture.webp"
LINK = "masks?lecture=true&predict=true"
HALL, PHONE = (1024, 768), (390, 844)
WIDTH, MARGIN, BEZEL = 1400, 24, 8
BACKGROUND, FRAME = "#e8e6ef", "#1b2027"
LIMIT, SETTLED = 90_000, 2500
VOTES = {0: 4, 1: 9, 2: 14}
"""Option → hands, besides those of the two phones."""
STANDS = "() => globalThis.attentionLecture?.at >= 0 && attentionLecture.isComplete()"
TO_THE_QUESTION = """() => attentionLecture.go(
  1 + attentionLecture.screens.findIndex(({ kind }) => kind === "ask"))"""
ASKED = """() => Object.keys(attentionFollow.leader.bars.votes)[0]"""


def open_tab(browser: Browser, url: str, size: tuple[int, int]) -> Page:
    """A window of its own with a lecture on its screen."""
    window = {"width": size[0], "height": size[1]}
    page = browser.new_context(viewport=window, locale="en", reduced_motion="reduce").new_page()  # type: ignore[arg-type]
    page.set_default_timeout(LIMIT)
    page.goto(url)
    page.wait_for_function(STANDS)
    return page


def vote(address: str, room: str, question: str) -> None:
    """Raise the hands of those who are not in the picture."""
    headers, place = {"Content-Type": "application/json"}, f"{address}/vote/{room}/{question}"
    with ExitStack() as open_streams:
        for option in [option for option, count in VOTES.items() for _ in range(count)]:
            stream = urllib.request.urlopen(f"{address}/follow/{room}")
            open_streams.enter_context(stream)
            ballot = next(line.split()[1].decode() for line in stream if line.startswith(b"id:"))
            said = json.dumps({"ballot": ballot, "option": option}).encode()
            urllib.request.urlopen(urllib.request.Request(place, said, headers)).close()


def photograph(browser: Browser, address: str) -> list[Image.Image]:
    """The lecturer's screen and two phones."""
    hall = open_tab(browser, f"{address}/{LINK}", HALL)
    hall.locator(".follow-lead").wait_for()
    hall.keyboard.press("f")
    hall.locator(".follow-panel svg").first.wait_for()
    room = hall.evaluate("attentionFollow.leader.room")
    hall.keyboard.press("Escape")
    phones = [open_tab(browser, f"{address}/?follow={room}", PHONE) for _ in range(2)]
    hall.evaluate(TO_THE_QUESTION)
    for phone, letter in zip(phones, "CB", strict=True):
        phone.locator(".follow-ballot").get_by_role("button", name=letter).click()
    hall.wait_for_function(ASKED)
    vote(address, room, hall.evaluate(ASKED))
    hall.keyboard.press("v")
    hall.wait_for_timeout(SETTLED)
    return [Image.open(io.BytesIO(one.screenshot())).convert("RGB") for one in (hall, *phones)]


def compose(pictures: Sequence[Image.Image]) -> Image.Image:
    """Side by side, all as high as the lecturer's."""
    high = HALL[1]
    sizes = [(round(one.width * high / one.height), high) for one in pictures]
    width = sum(wide for wide, _ in sizes) + (len(sizes) + 1) * MARGIN
    sheet = Image.new("RGB", (width, high + 2 * MARGIN), BACKGROUND)
    left = MARGIN
    for one, size in zip(pictures, sizes, strict=True):
        edge = [left - BEZEL, MARGIN - BEZEL, left + size[0] + BEZEL - 1, MARGIN + high + BEZEL - 1]
        ImageDraw.Draw(sheet).rounded_rectangle(edge, 2 * BEZEL, FRAME)
        sheet.paste(one.resize(size, Image.Resampling.LANCZOS), (left, MARGIN))
        left += size[0] + MARGIN
    return sheet.resize((WIDTH, round(sheet.height * WIDTH / width)), Image.Resampling.LANCZOS)


def main() -> None:
    """Write the picture, and say how large it is."""
    with server(ROOT / "app.py", ROOT) as address, chromium() as browser:
        wait_until_healthy(address)
        compose(photograph(browser, address)).save(PICTURE, "WEBP", quality=82, method=6)
    print(f"{PICTURE.relative_to(ROOT)}: {PICTURE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
