"""In front of a class: few screens, read from the last row, turned by keys, and shared."""

import io
import re
from pathlib import Path

import pytest
import zxingcpp
from PIL import Image

from explainers.ui.browser_files import FOLDER
from explainers.ui.lecture.screens import LESSON, MOST_SCREENS
from tests.browser.test_looks import violations
from tests.support.browser_fixtures import PAGES, WINDOW, Visit

ON = {"lecture": "true", "predict": "true"}
OLD_PROJECTOR, BIG = (1024, 768), (1920, 1080)
DIGITS, LEAST_DIGITS, MOTION = 18, 16, 1500
"""Pixels on screen; milliseconds after which what moves has come to its place."""
SMALLER = {"long_sequences", "growing_memory"}
"""Pages whose steps are a table that digits of 18 pixels leave no room for."""
LOOK = Path(__file__).parents[1].joinpath("support", "lecture.js").read_text(encoding="utf-8")
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
PICTURE = """() => attentionLecture.shown().map(({ node }) => [...node.querySelectorAll('*')]
  .find(({ shadowRoot }) => shadowRoot)?.shadowRoot.querySelector('.hero') ?? null).find(Boolean)"""
DRAWN = f"() => attentionLecture.isComplete() && !({PICTURE})()?.matches('.waiting')"
"""An experiment may have to wait for the server."""
SAME_PICTURE = {("does_it_matter", "random")}
"""Experiments that say something else of what is seen already."""
DEEPER = "attentionLecture.screens.some((one) => one.kind === 'deeper')"


@pytest.fixture
def lecture(visit):
    """Open a page in front of a class."""

    def opened(path: str = "", **more) -> Visit:
        return ready(visit(path, **{**ON, **more}))

    return opened


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
    """To a screen by its number, from 1."""
    visit.page.evaluate("([number, step]) => attentionLecture.go(number, step)", [number, step])
    visit.page.evaluate(STILL)


def find(visit: Visit, kind: str) -> int:
    """The number of the first screen of a kind."""
    found = "(kind) => attentionLecture.screens.findIndex((one) => one.kind === kind) + 1"
    number: int = visit.page.evaluate(found, kind)
    assert number, f"there is no {kind}"
    return number


def seen(visit: Visit) -> str:
    """All words that can be read outside of pictures."""
    script = "attentionLecture.shown().map(({ node }) => node.innerText).join(' ')"
    return " ".join(visit.page.evaluate(script).split())


def test_a_page_is_walked_by_keys_and_no_step_asks_the_server(lecture):
    one = lecture("scores")
    sent, kinds = one.sent, [one.page.evaluate(KIND)]
    for key in ("ArrowRight", " ", "PageDown", "ArrowRight", "Enter", "ArrowRight", "ArrowRight"):
        kinds.append(turn(one, key))
    assert kinds == ["hero", "try", "try", "try", "ask", "answer", "how", "end"]
    assert place(one) == "7 / 7"
    assert [turn(one, "ArrowLeft"), turn(one, "PageUp"), turn(one, "PageUp")] == [
        *("how", "answer", "ask")
    ]
    assert place(one) == "5 / 7"
    assert one.sent == sent
    assert one.choices["screen"] == "5"


def test_an_experiment_changes_the_picture_and_is_taken_back(lecture):
    one = lecture("scores")
    shown = "attentionLecture.screens[0].parts(0).at(-1).node"
    label = f"[...{shown}.querySelectorAll('*')].find((e) => e.shadowRoot).shadowRoot"
    read = f"{label}.querySelector('.hero').ariaLabel"
    before = one.page.evaluate(read)
    turn(one, "ArrowRight")
    assert one.page.evaluate(read) != before
    turn(one, "ArrowLeft")
    assert one.page.evaluate(read) == before


def test_a_question_then_what_comes_out_with_its_picture(lecture):
    one = lecture("masks")
    go(one, find(one, "ask"))
    options = one.page.locator("[role=radiogroup] label:visible").all_inner_texts()
    assert len(options) > 1
    assert "Answer:" not in seen(one)
    assert turn(one, "Enter") == "answer"
    assert "Answer: in more than one." in seen(one)
    assert one.page.locator(".panel:visible").count() > 0
    assert one.choices["screen"].endswith(".2")


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
            if one.page.evaluate(LOOK, least)["problems"]:
                one.page.wait_for_timeout(MOTION)
            problems = one.page.evaluate(LOOK, least)["problems"]
            found += [f"{number}.{step}: {problem}" for problem in problems]
    assert not found, "\n".join(found)


def test_a_phone_shows_the_form_for_a_phone(lecture):
    one = lecture("masks", size=(390, 844))
    assert one.page.locator(".hero.masked").evaluate("(hero) => hero.currentCSSZoom") > 0.9
    leave = one.page.get_by_role("button", name="Leave lecture mode").bounding_box()
    assert leave["x"] + leave["width"] <= 390
    go(one, find(one, "ask"))
    letters = one.page.locator("[role=radiogroup] label:visible p").first
    sizes = "(words) => parseFloat(getComputedStyle(words).fontSize) * words.currentCSSZoom"
    assert letters.evaluate(sizes) > 20


def test_digits_are_large_on_a_large_screen(lecture):
    one = lecture("scores", size=BIG)
    for number in (1, 6):
        go(one, number)
        told = one.page.evaluate(LOOK, 18)
        assert told["problems"] == []


def test_the_next_page_follows_and_back_returns_to_the_screen_before(lecture):
    one = lecture("scores")
    last = one.page.evaluate("attentionLecture.screens.length")
    go(one, 3)
    go(one, last)
    turn(one, "PageDown")
    one.page.wait_for_url("**/masks?**")
    ready(one)
    assert place(one).startswith("1 / ")
    assert one.choices["lecture"] == "true"
    turn(one, "ArrowRight")
    one.page.go_back()
    one.page.wait_for_function("() => attentionLecture.at === 0")
    one.page.go_back()
    one.page.wait_for_function("() => location.pathname === '/scores'")
    ready(one)
    assert place(one) == f"{last} / {last}"
    one.page.go_back()
    one.page.wait_for_function("() => attentionLecture.at === 2")


def test_back_pressed_three_times_at_once_is_three_steps_back(lecture):
    """Also where a run of the page that is left still writes its address."""
    one = lecture("scores")
    for number in (3, 7):
        go(one, number)
    turn(one, "PageDown")
    one.page.wait_for_url("**/masks?**")
    ready(one)
    turn(one, "ArrowRight")
    one.page.evaluate("for (let n = 0; n < 3; n++) setTimeout(() => history.back(), 50 * n)")
    one.page.wait_for_function("() => location.pathname === '/scores'")
    ready(one)
    one.page.wait_for_function("() => attentionLecture.at === 2")
    one.page.go_back()
    one.page.wait_for_function("() => attentionLecture.at === 0")


def test_the_page_before_ends_with_its_end(lecture):
    one = lecture("query_key_value")
    turn(one, "PageUp")
    one.page.wait_for_url("**/tokens?**")
    ready(one)
    at, count = place(one).split(" / ")
    assert at == count


def test_keys_pressed_before_it_stands_are_kept_and_obeyed(visit):
    one = visit("scores")
    one.page.keyboard.press("l")
    one.page.get_by_text("Lecture mode starts").wait_for()
    for _ in range(2):
        one.page.keyboard.press("ArrowRight")
    ready(one)
    one.page.wait_for_function("() => attentionLecture.at === 2")
    assert one.page.get_by_text("Lecture mode starts").count() == 0


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


def test_a_link_to_a_lecture_shows_nothing_of_the_page_before_it_stands(reader, address):
    page = reader.new_page()
    page.add_init_script(f"({WATCH})()")
    one = Visit(page, address).follow("masks", **ON)
    ready(one)
    assert page.evaluate("globalThis.shown") == []
    page.close()


def test_a_remote_control_turns_the_screen_also_from_a_field(lecture):
    one = lecture("scores")
    turn(one, "c")
    field = one.page.get_by_role("textbox", name="Sentence")
    field.click()
    before = place(one)
    for key in (" ", "ArrowLeft", "q", "o"):
        field.press(key)
    assert place(one) == before
    field.press("PageDown")
    one.page.evaluate(STILL)
    assert place(one) != before


def test_enter_leaves_the_field_so_that_the_next_key_is_a_key(lecture):
    one = lecture("scores")
    turn(one, "c")
    field = one.page.get_by_role("textbox", name="Sentence")
    field.fill("The team praised young fans on Sunday")
    field.press("Enter")
    one.wait_for_choice("text", "The team praised young fans on Sunday")
    one.page.keyboard.press("b")
    assert one.page.locator(".lecture-blank").is_visible()
    assert one.choices["text"] == "The team praised young fans on Sunday"


def test_what_takes_time_begins_by_a_button_on_its_screen(lecture):
    one = lecture("inspector", text="The cat sat on the cat")
    number = find(one, "slow")
    go(one, number)
    shown = "attentionLecture.shown().length"
    assert one.page.evaluate(shown) == 1, "no picture yet"
    button = one.page.get_by_role("button", name="Load all-MiniLM-L6-v2 and run it")
    assert button.bounding_box()["height"] >= 44
    assert turn(one, "Enter") == "slow"
    one.wait_for_choice("started", "other_model")
    one.page.wait_for_function(f"() => {shown} === 2")
    ready(one)
    assert one.page.evaluate("attentionLecture.at") == number - 1
    pictures = one.page.locator(".hero.mosaic:visible")
    assert "all-MiniLM-L6-v2" in pictures.get_attribute("aria-label")
    assert one.choices.get("real_model") is None
    assert one.page.evaluate(LOOK, LEAST_DIGITS)["problems"] == []


def test_exercises_follow_each_other(lecture):
    one = lecture("exercises")
    kinds = [turn(one, "ArrowRight") for _ in range(2)]
    assert seen(one).startswith("A mixture ")
    kinds += [turn(one, "ArrowRight") for _ in range(3)]
    assert kinds == ["ask", "answer", "ask", "answer", "ask"]


def test_claims_follow_each_other(lecture):
    one = lecture("claims")
    kinds = [turn(one, "ArrowRight") for _ in range(4)]
    assert kinds == ["ask", "answer", "ask", "answer"]
    assert one.page.url.split("?")[0].endswith("/claims")


def test_code_is_shown_by_its_key_alone(lecture):
    one = lecture("masks")
    assert turn(one, "k") == "code"
    assert one.page.locator("pre:visible").count() == 1
    assert turn(one, "ArrowRight") == "hero"
    assert place(one).startswith("1 / ")


def test_screens_are_left_out_and_the_link_says_so(lecture, visit):
    one = lecture("masks")
    turn(one, "o")
    tiles = one.page.locator(".lecture-tile")
    assert tiles.count() == 8
    one.page.get_by_role("button", name="Leave out: A narrow window").click()
    one.page.get_by_role("button", name=re.compile("^Later: Which words")).click()
    assert one.choices["mine"] == "masks:3.1.4.5.6.7.8"
    turn(one, "Escape")
    assert place(one).endswith(" / 7")
    again = ready(visit("masks", **ON, mine="masks:3.1.4.5.6.7.8"))
    assert place(again) == "1 / 7"
    assert again.page.evaluate(KIND) == "try"


def test_a_shorter_lecture_leads_through_a_few_screens_of_a_few_pages(lecture):
    one = lecture("many_heads")
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
    ready(one)
    assert place(one) == f"1 / {len(LESSON['kv_cache'])}"
    assert one.choices["set"] == "45"
    assert one.page.evaluate("attentionLecture.choice.followed.minutes") == 45
    turn(one, "o")
    for number in range(len(LESSON["kv_cache"]), one.page.locator(".lecture-tile").count()):
        one.page.locator(".lecture-tile.out").first.get_by_role("button", name="Show:").click()
        assert one.page.locator(".lecture-tile:not(.out)").count() == number + 1
    plan.click()
    assert one.choices["set"] == "all"
    assert one.page.locator(".lecture-tile.out").count() == 0


def test_a_card_is_added_and_taken_away(lecture):
    one = lecture("masks")
    turn(one, "o")
    one.page.get_by_role("button", name="What each mask costs").click()
    one.page.wait_for_function(
        "() => attentionLecture.screens.some((one) => one.kind === 'deeper')"
    )
    assert one.choices["deep"] == "costs"
    turn(one, "o")
    one.page.get_by_role("button", name="What each mask costs", exact=True).click()
    one.page.wait_for_function(
        "() => !attentionLecture.screens.some((one) => one.kind === 'deeper')"
    )


def test_a_number_jumps_and_the_other_keys_do_what_the_list_says(lecture):
    one = lecture("masks")
    turn(one, "6")
    assert turn(one, "Enter") == "ask"
    letters = (
        "parseFloat(getComputedStyle(document.querySelector('[role=radiogroup] label p')).fontSize)"
    )
    zoom = f"{letters} * document.querySelector('[role=radiogroup] label p').currentCSSZoom"
    before = one.page.evaluate(zoom)
    turn(one, "+")
    assert one.page.evaluate(zoom) > before
    turn(one, "-")
    turn(one, "b")
    assert one.page.locator(".lecture-blank").is_visible()
    turn(one, "ArrowRight")
    assert not one.page.locator(".lecture-blank").is_visible()
    turn(one, "s")
    assert one.page.locator(".lecture-spotlight").is_visible()
    turn(one, "Escape")
    turn(one, "?")
    assert "presenter view" in one.page.locator(".lecture-help").inner_text()
    turn(one, "Escape")
    assert not one.page.locator(".lecture-help").is_visible()


def test_a_second_window_tells_what_to_say(lecture):
    one = lecture("masks", lesson="45")
    with one.page.expect_popup() as opened:
        one.page.keyboard.press("p")
    sheet = opened.value
    sheet.wait_for_selector("section h1")
    assert "Which words may attend to which?" in sheet.inner_text("section:nth-of-type(1)")
    assert "pair by pair" in sheet.inner_text("section:nth-of-type(1)"), "the page's own words"
    assert "A narrow window" in sheet.inner_text("section:nth-of-type(2)")
    for box in sheet.locator(".miniature").all():
        room, seen = box.bounding_box(), box.locator(".stage").first.bounding_box()
        assert room["height"] / room["width"] == pytest.approx(WINDOW[1] / WINDOW[0], rel=0.02)
        assert seen["x"] >= room["x"]
        assert seen["x"] + seen["width"] <= room["x"] + room["width"]
        assert seen["width"] > room["width"] / 2
    assert re.search(r"4[45]:\d\d left", sheet.inner_text("header"))
    turn(one, "ArrowRight")
    assert "A narrow window" in sheet.inner_text("section:nth-of-type(1)")


def test_a_handout_is_one_page(lecture):
    one = lecture("masks")
    one.page.evaluate("globalThis.print = () => { globalThis.printed = true; }")
    turn(one, "h")
    one.page.wait_for_function("() => globalThis.printed")
    paper = one.page.pdf(format="A4", print_background=True)
    assert len(re.findall(rb"/Type\s*/Page\b", paper)) == 1
    one.page.emulate_media(media="print")
    assert one.page.locator(".lecture-handout svg").is_visible()
    assert one.page.locator(".st-key-screen-hero-masked").is_visible()
    assert not one.page.locator(".lecture-bar").is_visible()


def test_the_code_and_the_short_link_open_the_same_screen(lecture, browser, address):
    one = lecture("query_key_value", seed="7", queries="across", size=OLD_PROJECTOR)
    turn(one, "ArrowRight")
    turn(one, "q")
    one.page.wait_for_selector(".lecture-share svg")
    photograph = Image.open(io.BytesIO(one.page.screenshot()))
    (code,) = zxingcpp.read_barcodes(photograph)
    short = one.page.locator(".lecture-share strong").inner_text()
    assert code.text == one.page.url
    assert len(short) < len(f"{address}/") + 15
    turn(one, "q")
    with browser.new_context(viewport={"width": 390, "height": 844}) as elsewhere:
        for link in (code.text, short):
            other = Visit(elsewhere.new_page(), address)
            other.follow_raw(link.removeprefix(f"{address}/"))
            ready(other)
            assert other.choices == one.choices
            assert place(other) == place(one)


@pytest.mark.parametrize(
    ("asked", "shown"), [("99", "last"), ("0", "1 /"), ("-1", "1 /"), ("<b>x</b>", "1 /")]
)
def test_an_absurd_screen_is_told(lecture, asked, shown):
    one = lecture("claims", screen=asked)
    at, count = place(one).split(" / ")
    assert at == (count if shown == "last" else "1")
    assert f"{asked}" in one.page.locator(".lecture-note").inner_text()


def test_a_hostile_short_link_is_told(visit):
    one = visit("scores", go="<script>alert(1)</script> [a](http://x.invalid)", d_k="8")
    note = one.page.locator("[data-testid=stAlert]").inner_text()
    assert "<script>alert(1)</script>" in note
    assert one.choices["d_k"] == "8"
    assert "go" not in one.choices


def test_a_key_ends_it_and_the_page_is_as_it_was(lecture):
    one = lecture("scores")
    turn(one, "ArrowRight")
    one.page.keyboard.press("Escape")
    one.wait_for_choice("lecture", None)
    one.wait_for_choice("screen", None)
    one.page.wait_for_selector("[data-testid=stSidebar]", state="visible")
    assert one.page.locator("h1").is_visible()
    assert one.page.locator(".hero .experiments").is_visible()


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


def test_what_a_lecture_knows_of_streamlit_is_there(lecture):
    """A selector that finds nothing any more hides nothing any more."""
    code = (FOLDER / "lecture" / "streamlit.js").read_text(encoding="utf-8")
    (listed,) = re.findall(r"export const PARTS = \{(.+?)\};", code, re.DOTALL)
    parts = re.findall(r'"(\[data-testid=\w+\])"', listed)
    one = lecture("kv_cache")
    for selector in parts:
        assert one.page.locator(selector).count(), selector
    assert one.page.locator("[data-testid=stApp]").get_attribute("data-test-script-state")
    others = [path for path in (FOLDER / "lecture").iterdir() if path.name != "streamlit.js"]
    assert not [path.name for path in others if "data-testid" in path.read_text(encoding="utf-8")]


def test_who_follows_hears_of_each_screen(lecture):
    one = lecture("masks")
    one.page.evaluate("""() => {
      globalThis.heard = [];
      addEventListener("attention-screen", ({ detail }) => heard.push(detail));
    }""")
    turn(one, "ArrowRight")
    go(one, 6, 1)
    heard = one.page.evaluate("heard")
    assert [(turned["page"], turned["screen"], turned["step"]) for turned in heard] == [
        *(("masks", 2, 0), ("masks", 6, 1))
    ]
    assert "lecture=true" in heard[0]["query"]
