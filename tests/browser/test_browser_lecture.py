"""In front of a class: few screens, read from the last row, turned by keys, and shared."""

import io
import re
from pathlib import Path
from urllib.parse import urlencode

import pytest
import zxingcpp
from PIL import Image
from playwright.sync_api import expect

from explainers.ui.browser_files import FOLDER
from explainers.ui.lecture.screens import LESSON, MOST_SCREENS
from tests.browser import lecturing
from tests.browser.lecturing import KIND, ON, STILL, find, go, place, ready, seen, turn
from tests.browser.looks import violations
from tests.support.browser_fixtures import PAGES
from tests.support.visit import TURN, WINDOW, Visit, dressed

desk, lecture = lecturing.desk, lecturing.lecture
OLD_PROJECTOR, BIG, PHONE = (1024, 768), (1920, 1080), (390, 844)
DIGITS, LEAST_DIGITS = 18, 16
"""Pixels on screen."""
SMALLER = {"long_sequences", "growing_memory"}
"""Pages whose steps are a table that digits of 18 pixels leave no room for."""
LOOK = Path(__file__).parents[1].joinpath("support", "lecture.js").read_text(encoding="utf-8")
SCREENS = "attentionLecture.screens.length"
PICTURE = """() => attentionLecture.shown().map(({ node }) => [...node.querySelectorAll('*')]
  .find(({ shadowRoot }) => shadowRoot)?.shadowRoot.querySelector('.hero') ?? null).find(Boolean)"""
DRAWN = f"() => attentionLecture.isComplete() && !({PICTURE})()?.matches('.waiting')"
"""An experiment may have to wait for the server."""
SAME_PICTURE = {("does_it_matter", "random")}
"""Experiments that say something else of what is seen already."""
DEEPER = "attentionLecture.screens.some((one) => one.kind === 'deeper')"
LETTERS = """(words) => parseFloat(getComputedStyle(words).fontSize) * words.currentCSSZoom"""


@pytest.mark.rotating(8)
@pytest.mark.parametrize("path", PAGES.values(), ids=PAGES)
def test_every_screen_of_a_page_can_be_read(lecture, path):
    """At 1024 × 768, from the last row; and no experiment leaves the picture as it was."""
    one = lecture(path, size=OLD_PROJECTOR)
    found, steps = [], one.page.evaluate("attentionLecture.screens.map(({ last }) => last)")
    least = LEAST_DIGITS if path in SMALLER else DIGITS
    pictures: dict[str, str] = {}
    assert len(steps) <= MOST_SCREENS
    for number, last in enumerate(steps, start=1):
        for step in range(1 + last):
            go(one, number, step)
            one.page.wait_for_function(DRAWN, timeout=60_000)
            one.page.evaluate(STILL)
            kind, name = one.page.evaluate("attentionLecture.id").split(" ", 1)
            if kind in {"hero", "try"} and (path, name) not in SAME_PICTURE:
                same = pictures.setdefault(one.page.evaluate(f"({PICTURE})()?.textContent"), name)
                found += [f"{name} has the picture of {same}"] if same != name else []
            problems = one.page.evaluate(LOOK, least)["problems"]
            found += [f"{number}.{step}: {problem}" for problem in problems]
    assert not found, "\n".join(found)


LISTENS = "() => globalThis.attentionWaiting?.told.starts"
TELLS_START = """() => new MutationObserver((_changes, watch) => {
  if (!document.body.textContent.includes('Lecture mode starts')) return;
  globalThis.wasStartTold = true;
  watch.disconnect();
}).observe(document.body, { childList: true, subtree: true, characterData: true })"""


def test_a_page_is_begun_walked_and_left_by_keys(visit):
    """What was pressed before it stands is obeyed then, and no step asks the server."""
    one = visit("scores", is_still=True, predict="true")
    one.page.wait_for_function(LISTENS)
    one.page.evaluate(TELLS_START)  # it may be gone before anybody looks
    for key in ("l", "ArrowRight", "ArrowRight"):
        one.page.keyboard.press(key)
    ready(one)
    one.page.wait_for_function("() => attentionLecture.at === 2")
    assert one.page.evaluate("globalThis.wasStartTold")
    assert one.page.get_by_text("Lecture mode starts").count() == 0

    go(one, 1)
    pictures, kinds, sent = [first_picture(one)], [one.page.evaluate(KIND)], one.sent
    for key in ("ArrowRight", " ", "PageDown", "Enter", "ArrowRight", "ArrowRight"):
        kinds.append(turn(one, key))
        pictures.append(first_picture(one))
    assert kinds == ["hero", "try", "try", "ask", "answer", "how", "end"]
    assert place(one) == "6 / 6"
    assert len(set(pictures[:3])) == 3, "an experiment changes the picture"
    back = [turn(one, key) for key in ("ArrowLeft", "PageUp", "ArrowLeft")]
    assert back == ["how", "answer", "ask"]
    go(one, 1)
    assert first_picture(one) == pictures[0], "and is taken back"
    go(one, 5)
    assert (one.sent, one.choices["screen"]) == (sent, "5")

    turn(one, "c")
    field, before = one.page.get_by_role("textbox", name="Sentence"), place(one)
    field.click()
    for key in (" ", "ArrowLeft", "q", "o"):
        field.press(key)
    assert place(one) == before, "keys are letters in a field"
    field.fill("The team praised young fans on Sunday")
    one.after_run(lambda: field.press("Enter"))
    one.wait_for_choice("text", "The team praised young fans on Sunday")
    one.page.keyboard.press("b")
    expect(one.page.locator(".lecture-blank")).to_be_visible()  # Enter has left the field
    one.page.keyboard.press("b")
    field.press("PageUp")
    one.page.evaluate(STILL)
    assert place(one) != before, "but those of a remote control"
    ready(one)
    one.page.set_viewport_size({"width": BIG[0], "height": BIG[1]})
    for number in (1, 5):
        go(one, number)
        assert one.page.evaluate(LOOK, DIGITS)["problems"] == []
    ready(one)
    one.page.keyboard.press("Escape")
    one.wait_for_choice("lecture", None)
    one.wait_for_choice("screen", None)
    one.page.wait_for_selector("[data-testid=stSidebar]", state="visible")
    for part in ("h1", ".hero .experiments"):
        expect(one.page.locator(part)).to_be_visible()


def first_picture(one):
    """What it says, also while another screen is shown."""
    return one.hero.first.get_attribute("aria-label")


def test_keys_do_what_their_list_says(lecture):
    one = lecture("masks")
    one.page.evaluate("""() => {
      globalThis.heard = [];
      addEventListener("attention-screen", ({ detail }) => heard.push(detail));
    }""")
    assert [turn(one, key) for key in ("ArrowRight", "6", "Enter")][-1] == "ask", "a number jumps"
    options = one.page.locator("[role=radiogroup] label:visible").all_inner_texts()
    assert len(options) > 1
    assert "Answer:" not in seen(one)
    letters = one.page.locator("[role=radiogroup] label p").first
    before = letters.evaluate(LETTERS)
    turn(one, "+")
    assert letters.evaluate(LETTERS) > before
    turn(one, "-")
    assert turn(one, "Enter") == "answer"
    assert "Answer: in more than one." in seen(one)
    assert one.page.locator(".panel:visible").count() > 0
    assert one.choices["screen"].endswith(".2")
    told = [(said["page"], said["screen"], said["step"]) for said in one.page.evaluate("heard")]
    assert told == [("masks", 2, 0), ("masks", 6, 0), ("masks", 6, 1)], "who follows hears of it"
    assert "lecture=true" in one.page.evaluate("heard[0].query")

    for key, name, away in (
        ("b", "blank", "ArrowRight"),
        ("s", "spotlight", "Escape"),
        ("?", "help", "Escape"),
    ):
        turn(one, key)
        assert one.page.locator(f".lecture-{name}").is_visible()
        turn(one, away)
        assert not one.page.locator(f".lecture-{name}").is_visible()
    go(one, 1)
    assert turn(one, "k") == "code", "shown by its key alone"
    assert one.page.locator("pre:visible").count() == 1
    assert turn(one, "ArrowRight") == "hero"
    assert place(one).startswith("1 / ")

    turn(one, "o")
    card = "How far does a window reach through layers?"
    one.page.get_by_role("button", name=card).click()
    one.page.wait_for_function(f"() => {DEEPER}")
    assert one.choices["deep"] == "reach", "a card is added"
    turn(one, "o")
    one.page.get_by_role("button", name=card, exact=True).click()
    one.page.wait_for_function(f"() => !{DEEPER}")


@pytest.mark.rotating(2)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nobody_is_left_out(lecture, scheme):
    one = lecture("masks", scheme=scheme)
    for kind in ("hero", "ask", "how"):
        go(one, find(one, kind))
        assert violations(one) == []
    said = one.page.locator(".lecture-voice").inner_text()
    assert place(one).split(" / ")[0] in said
    for button in one.page.locator(".lecture-bar button").all():
        box = button.bounding_box()
        assert min(box["width"], box["height"]) >= 44
        assert button.get_attribute("aria-label")


def test_pages_follow_each_other_and_back_returns_to_the_screen_before(lecture):
    """Also three times at once, where a run of the page that is left still writes its address."""
    one = lecture("scores")
    turn(one, "PageUp")
    one.page.wait_for_url("**/query_key_value?**")
    at, count = place(ready(one)).split(" / ")
    assert at == count, "the page before ends with its end"

    one = lecture("scores")
    last = one.page.evaluate(SCREENS)
    for number in (3, last):
        go(one, number)
    for presses in (1, 3):
        turn(one, "PageDown")
        one.page.wait_for_url("**/masks?**")
        assert place(ready(one)).startswith("1 / ")
        assert one.choices["lecture"] == "1"
        turn(one, "ArrowRight")
        if presses == 1:
            one.page.go_back()
            one.page.wait_for_function("() => attentionLecture.at === 0")
            one.page.go_back()
        else:
            one.page.evaluate("for (const n of [0, 1, 2]) setTimeout(() => history.back(), 50 * n)")
        one.page.wait_for_function("() => location.pathname === '/scores'")
        ready(one)
        if presses == 1:
            assert place(one) == f"{last} / {last}"
    one.page.wait_for_function("() => attentionLecture.at === 2")
    one.page.go_back()
    one.page.wait_for_function("() => attentionLecture.at === 0")


WATCH = """() => {
  globalThis.shown = [];
  const look = () => {
    const words = document.querySelector('.stMarkdown, h1, .st-key-hero');
    const isSeen = words?.checkVisibility({ visibilityProperty: true });
    if (isSeen && !('lectureStands' in document.documentElement.dataset))
      globalThis.shown.push(...[words.textContent.trim()].filter(Boolean));
    requestAnimationFrame(look);
  };
  look();
}"""


def test_what_a_lecturer_chose_is_in_the_link(visit):
    """And a link to a lecture shows nothing of the page before it stands."""
    one = visit("masks", is_still=True)
    one.page.add_init_script(f"({WATCH})()")
    ready(one.follow("masks", **ON, mine="masks:2.1.3.4.5.6.7"))
    assert one.page.evaluate("globalThis.shown") == []
    assert (place(one), one.page.evaluate(KIND)) == ("1 / 7", "try")
    turn(one, "o")
    assert one.page.locator(".lecture-tile").count() == 8
    one.page.get_by_role("button", name="Leave out: A narrow window").click()
    one.page.get_by_role("button", name=re.compile("^Later: Which words")).click()
    assert one.choices["mine"] == "masks:3.1.4.5.6.7"
    turn(one, "Escape")
    assert place(one).endswith(" / 6")

    one.page.evaluate(TURN, f"/many_heads?{urlencode(ON)}")
    ready(one)
    turn(one, "o")
    plan = one.page.get_by_role("button", name=re.compile("^Lecture of 45 minutes"))
    plan.click()
    assert plan.get_attribute("aria-pressed") == "true"
    assert one.page.locator(".lecture-tile:not(.out)").count() == len(LESSON["many_heads"])
    assert one.choices["set"] == "45"
    turn(one, "Escape")
    assert place(one) == "1 / 3"
    go(one, 3, 1)
    turn(one, "PageDown")
    one.page.wait_for_url("**/kv_cache?**")  # the page between them is not part of it
    assert place(ready(one)) == f"1 / {len(LESSON['kv_cache'])}"
    assert one.choices["set"] == "45"
    turn(one, "o")
    plan.click()
    assert one.choices["set"] == "all"
    assert one.page.locator(".lecture-tile.out").count() == 0

    code = (FOLDER / "lecture" / "streamlit.js").read_text(encoding="utf-8")
    (listed,) = re.findall(r"export const PARTS = \{(.+?)\};", code, re.DOTALL)
    for selector in re.findall(r'"(\[data-testid=\w+\])"', listed):
        assert one.page.locator(selector).count(), f"{selector} hides nothing any more"
    assert one.page.locator("[data-testid=stApp]").get_attribute("data-test-script-state")
    others = [path for path in (FOLDER / "lecture").iterdir() if path.name != "streamlit.js"]
    assert not [path.name for path in others if "data-testid" in path.read_text(encoding="utf-8")]


def test_exercises_and_claims_follow_each_other_and_an_absurd_screen_is_told(lecture):
    note, absurd = ".lecture-note", "<b>x</b>"
    one = lecture("exercises", screen=absurd)
    assert absurd in one.page.locator(note).inner_text()
    assert place(one).startswith("1 / ")
    kinds = [turn(one, "ArrowRight") for _ in range(5)]
    assert kinds == ["ask", "answer", "ask", "answer", "ask"]

    one = lecture("claims", screen="99")
    at, count = place(one).split(" / ")
    assert at == count, "the last one there is"
    assert "99" in one.page.locator(note).inner_text()
    for asked in ("0", "-1"):
        one.page.evaluate(TURN, f"/claims?{urlencode({**ON, 'screen': asked})}")
        one.page.wait_for_function("() => attentionLecture.at === 0")
        assert asked in one.page.locator(note).inner_text()
        assert place(one) == f"1 / {count}"


def test_a_second_window_tells_what_to_say_and_a_handout_is_one_page(lecture):
    one = lecture("masks", lesson="45")
    with one.page.expect_popup() as opened:
        one.page.keyboard.press("p")
    sheet = opened.value
    sheet.wait_for_selector("section h1")
    assert "word sees all" in sheet.inner_text("section:nth-of-type(1)"), "the page's own words"
    assert "A narrow window" in sheet.inner_text("section:nth-of-type(2)")
    for box in sheet.locator(".miniature").all():
        room, stage = box.bounding_box(), box.locator(".stage").first.bounding_box()
        assert room["height"] / room["width"] == pytest.approx(WINDOW[1] / WINDOW[0], rel=0.02)
        left = stage["x"] - room["x"]
        assert 0 <= left <= room["width"] - stage["width"] < room["width"] / 2
    (left,) = re.findall(r"(\d+):\d\d left", sheet.inner_text("header"))
    assert 20 < int(left) <= 45, "minutes since the tab was opened"
    turn(one, "ArrowRight")
    assert "A narrow window" in sheet.inner_text("section:nth-of-type(1)")
    turn(one, "p")

    go(one, 1)
    one.page.evaluate("globalThis.print = () => { globalThis.printed = true; }")
    turn(one, "h")
    one.page.wait_for_function("() => globalThis.printed")
    paper = one.page.pdf(format="A4", print_background=True)
    assert len(re.findall(rb"/Type\s*/Page\b", paper)) == 1
    one.page.emulate_media(media="print")
    assert one.page.locator(".lecture-handout svg").is_visible()
    assert one.page.locator(".st-key-screen-hero-masked").is_visible()
    assert not one.page.locator(".lecture-bar").is_visible()
    one.page.emulate_media(media="screen")


def test_the_code_and_the_short_link_open_the_same_screen_on_a_phone(lecture, reader, address):
    """In the form for a phone."""
    one = lecture("masks", mask="window", seed="7", size=OLD_PROJECTOR)
    turn(one, "ArrowRight")
    turn(one, "q")
    one.page.wait_for_selector(".lecture-share svg")
    (code,) = zxingcpp.read_barcodes(Image.open(io.BytesIO(one.page.screenshot())))
    short = one.page.locator(".lecture-share strong").inner_text()
    assert code.text == one.page.url
    assert len(short) < len(f"{address}/") + 15
    turn(one, "q")
    phone = Visit(dressed(reader.new_page(), "light", PHONE), address)
    ready(phone.follow_raw(short.removeprefix(f"{address}/")))
    assert phone.choices == one.choices
    assert place(phone) == place(one)
    leave = phone.page.get_by_role("button", name="Leave lecture mode").bounding_box()
    assert leave
    assert leave["x"] + leave["width"] <= PHONE[0]
    go(phone, find(phone, "ask"))
    letters = phone.page.locator("[role=radiogroup] label:visible p").first
    assert letters.evaluate(LETTERS) > 20
    assert phone.errors == []
    phone.page.close()
