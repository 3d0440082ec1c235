"""In front of a class: a tab that goes on from page to page, and what is on its screen."""

from urllib.parse import urlencode, urlsplit

import pytest

from tests.support.visit import TURN, WINDOW, Visit, dressed

ON = {"lecture": "true", "predict": "true"}
STANDS = """() => document.documentElement && 'lectureStands' in document.documentElement.dataset
  && attentionLecture.isComplete() && !document.querySelector('[class*=st-key-model-that-comes]')"""
STILL = """async () => {
  for (let same = 0, before = "", n = 0; same < 8 && n < 300; n += 1) {
    await new Promise(requestAnimationFrame);
    const lecture = globalThis.attentionLecture;
    const isKnown = lecture?.sizes.has(lecture.sizeName());
    const now = lecture ? `${lecture.look.textContent} ${isKnown}` : "";
    same = now === before ? same + 1 : 0;
    before = now;
  }
}"""
"""A screen is tried in several sizes: wait until there are no more."""
KIND = "attentionLecture.kind()"


@pytest.fixture(scope="module")
def desk():
    return []


@pytest.fixture
def lecture(desk, reader, address):
    """Go on to a page in front of a class, in a tab that stays open; nothing moves in it."""

    def opened(path, size=WINDOW, scheme="light", **more) -> Visit:
        link = f"{path}?{urlencode({**ON, **more})}"
        if not desk:
            page = dressed(reader.new_page(), scheme, size)
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            desk.append(Visit(page, address))
        else:  # a page that changes its theme runs: not while it is turned to another one
            desk[0].wear(scheme).resize(size)
        (one,) = desk
        is_held = one.page.evaluate("'lectureStands' in document.documentElement.dataset")
        if is_held and urlsplit(one.page.url).path != f"/{path}":
            one.page.evaluate(TURN, f"/{link}")
        else:
            one.follow_raw(link)
        return ready(one)

    yield opened
    (one,) = desk
    errors, broken = one.errors, one.page.locator("[data-testid=stException]").count()
    if errors or broken or not one.page.evaluate("globalThis.attentionLecture?.isComplete()"):
        one.page.close()
        desk.clear()
    assert not errors
    assert not broken


def ready(visit: Visit) -> Visit:
    """All screens are there, and the one that is shown has its size."""
    visit.page.wait_for_function(STANDS, timeout=90_000)
    visit.page.evaluate(STILL)
    return visit


def place(visit: Visit) -> str:
    """The counter in the bar: 3 / 7."""
    return visit.page.locator(".lecture-bar output").inner_text()


def turn(visit: Visit, key: str) -> str:
    """Press a key; the kind of the screen that is shown then."""
    visit.page.keyboard.press(key)
    visit.page.evaluate(STILL)
    kind: str = visit.page.evaluate(KIND)
    return kind


def go(visit: Visit, number: int, step: int = 0) -> None:
    visit.page.evaluate("([number, step]) => attentionLecture.go(number, step)", [number, step])
    visit.page.evaluate(STILL)


def find(visit: Visit, kind: str) -> int:
    found = "(kind) => attentionLecture.screens.findIndex((one) => one.kind === kind) + 1"
    number: int = visit.page.evaluate(found, kind)
    assert number, f"there is no {kind}"
    return number


def seen(visit: Visit) -> str:
    """All words that can be read outside of pictures."""
    script = "attentionLecture.shown().map(({ node }) => node.innerText).join(' ')"
    return " ".join(visit.page.evaluate(script).split())
