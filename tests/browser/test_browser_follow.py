"""A lecture that is followed: a lecturer and an audience, each in a browser of their own.

At night over several servers, and when their Redis server goes away.
"""

import contextlib
import csv
import re
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import TimeoutError as PlaywrightTimeoutError
from playwright.sync_api import expect

from tests.deploy.replicas import serve
from tests.follow import conftest as boards
from tests.support.visit import LIMIT, Visit, dressed

redis_server, server = boards.redis_server, boards.server

SIZES = {"lecturer": (1024, 768), "laptop": (1280, 900), "phone": (390, 844), "late": (820, 1180)}
STATE = """() => {
  const isHere = ([name]) => document.querySelector(`.st-key-${name}`);
  const choices = new URLSearchParams([...new URLSearchParams(location.search)].filter(isHere));
  choices.sort();
  const { at, step = 0, wanted, isHeld } = globalThis.attentionLecture ?? {};
  return isHeld && at >= 0 && wanted === null
    ? JSON.stringify([location.pathname, at, step, choices.toString()]) : null;
}"""
"""The page, the screen and the choices that somebody sees; another page may have more of them."""
TOP = "() => document.querySelector('[data-testid=stMainBlockContainer]').scrollTop"
MOVED = f"""([state, top]) => {{
  const now = ({STATE})();
  return now && (now !== state || ({TOP})() !== top);
}}"""
KIND = "() => document.documentElement.dataset.lectureKind"
LISTENS = (
    "() => 'lectureStands' in document.documentElement.dataset && attentionLecture.isComplete()"
)
STEPS_ON_A_PAGE = 3
ASK_AGAIN = 2_000
"""Milliseconds after which the lecturer's address is read anew: it is tidied up after a run."""


class Person(Visit):
    def state(self):
        """What is on the screen, as soon as something is."""
        return self.page.wait_for_function(STATE).json_value()

    def sees_what(self, lecturer):
        """Wait until both have the same on the screen."""
        same = f"(wanted) => ({STATE})() === wanted"
        for _ in range(LIMIT // ASK_AGAIN):
            with contextlib.suppress(PlaywrightTimeoutError):
                self.page.wait_for_function(same, arg=lecturer.state(), timeout=ASK_AGAIN)
                return
        assert self.state() == lecturer.state()

    def comes(self, code):
        """Open the link of a room."""
        return self.follow_raw(f"?follow={code}")

    @property
    def bar(self):
        return self.page.locator(".follow-bar")


@pytest.fixture
def people() -> list[Person]:
    return []


@pytest.fixture(scope="module")
def browsers(reader):
    """Each one's own; the lecturer's has been here before."""
    found = {"lecturer": reader}
    yield found
    for name in found.keys() - {"lecturer"}:
        found[name].close()


@pytest.fixture
def hall(browser, browsers, address, people):
    """A function that lets somebody in: hall("phone")."""

    def enter(name, where=address):
        if name not in browsers:
            browsers[name] = browser.new_context()
        page = dressed(browsers[name].new_page(), "light", SIZES[name])
        page.emulate_media(reduced_motion="reduce")
        people.append(Person(page, where))
        return people[-1]

    yield enter
    for one in people:
        broken = one.page.locator("[data-testid=stException]").count()
        one.page.close()
        assert not one.errors
        assert not broken


def comes_to_lead(hall, *where):
    lecturer = hall("lecturer", *where)
    lecturer.follow("scores", lecture="true", predict="true").state()
    lecturer.page.locator(".follow-lead").wait_for()
    lecturer.page.wait_for_function(LISTENS)
    lecturer.page.keyboard.press("f")
    panel = lecturer.page.locator(".follow-panel")
    panel.wait_for()
    assert panel.locator("svg path:visible").count() == 1
    lecturer.page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    assert lecturer.state(), "Escape has left the panel, and not the lecture"
    return lecturer


def code(lecturer, letters):
    """What is typed, and what the code to scan has."""
    text = lecturer.page.locator(".follow-panel strong").text_content()
    (short,) = re.findall(r"/\?follow=([a-z2-7]+)$", text)
    room = lecturer.page.evaluate("attentionFollow.leader.room")
    assert room.startswith(short)
    return {6: short, 16: room}[letters]


def turn(lecturer, followers):
    """One step, which may take several keys: a high screen is scrolled first. All take it."""
    before = lecturer.state()
    while lecturer.state() == before:
        top = lecturer.page.evaluate(TOP)
        lecturer.page.keyboard.press("PageDown")
        lecturer.page.wait_for_function(MOVED, arg=[before, top])
    for one in followers:
        one.sees_what(lecturer)


def leaf(lecturer, followers):
    before = urlsplit(lecturer.page.url).path
    lecturer.page.evaluate("attentionLecture.leaf(1)")
    lecturer.page.wait_for_function("(before) => location.pathname !== before", arg=before)
    for one in followers:
        one.sees_what(lecturer)


def choose(lecturer, followers):
    lecturer.page.evaluate("document.querySelector('.st-key-predict input').click()")
    lecturer.wait_for_choice("predict", "0")
    for one in followers:
        one.sees_what(lecturer)
        assert "predict=0" in one.state()


def choose_word(lecturer, followers, place):
    word = ".words button"
    lecturer.hero.first.locator(word).nth(place).evaluate("(button) => button.click()")
    for one in (lecturer, *followers):
        expect(one.hero.first.locator(word).nth(place)).to_have_attribute("aria-checked", "true")
        one.wait_for_choice("word", f"{place}")


HOLD_REST = """() => {
  const { follower } = attentionFollow, ask = follower.askForRest;
  let isAsked = false;
  follower.askForRest = () => { isAsked = true; };
  globalThis.fetchRest = () => { follower.askForRest = ask; if (isAsked) ask(); };
}"""
"""The rest of a page is not asked for before `fetchRest()`."""
COUNT = "attentionLecture.screens.length"
EVIL = "text=%3Cimg+src%3Dx+onerror%3Dalert(1)%3E&follow=bbbbbbbbbbbbbbbb&__proto__=1&d_k=3&d_k=4"
SAY = """async (query) => {
  const { room, secret } = attentionFollow.leader;
  const place = { page: 'masks', query, screen: 1, step: 0, round: 0 };
  const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${secret}` };
  const body = JSON.stringify({ ...place, number: Date.now() + 60000 });
  const answer = await fetch(`/lead/${room}`, { method: 'POST', headers, body });
  if (!answer.ok) throw new Error(answer.status);
}"""
"""What a lecture's own page would never say."""


def follow_let_go_come_back_and_leave(hall, _folder):
    lecturer = comes_to_lead(hall)
    listening = lecturer.page.locator(".follow-lead")
    phone = hall("phone").comes(code(lecturer, 16))
    phone.sees_what(lecturer)
    expect(phone.bar).to_contain_text("Following")
    expect(listening).to_have_text("◉ 1")
    choose(lecturer, [phone])
    choose_word(lecturer, [phone], 3)
    for _ in range(STEPS_ON_A_PAGE):
        turn(lecturer, [phone])
    phone.page.evaluate(HOLD_REST)
    leaf(lecturer, [phone])
    assert 1 <= phone.page.evaluate(COUNT) < lecturer.page.evaluate(COUNT)
    phone.page.evaluate("fetchRest()")

    phone.page.locator(".lecture-bar button").nth(1).click()  # to the next screen: lets go
    expect(phone.bar).to_contain_text(re.compile(r"^The lecturer is at 0\d · follow again"))
    its_own = phone.state()
    for _ in range(STEPS_ON_A_PAGE):
        turn(lecturer, [])
    assert phone.state() == its_own
    leaf(lecturer, [])
    phone.bar.get_by_role("button").first.click()
    phone.sees_what(lecturer)

    # A browser opens six connections to a host, and streams would take them all.
    other = Person(phone.page.context.new_page(), phone.address)
    other.comes(code(lecturer, 16)).state()
    turn(lecturer, [phone, other])
    expect(listening).to_have_text("◉ 1")  # tabs of one browser share a stream
    other.page.close()  # the last that was opened listens
    turn(lecturer, [phone])
    expect(listening).to_have_text("◉ 1")

    phone.page.reload()
    phone.sees_what(lecturer)
    lecturer.page.reload()
    lecturer.state()
    turn(lecturer, [phone])

    # What a message may say ends in an address of this server, whatever it is.
    lecturer.page.evaluate(SAY, EVIL)
    phone.page.wait_for_function("() => location.search.includes('onerror')")
    phone.ready()
    assert phone.choices["follow"] in code(lecturer, 16)
    phone.bar.get_by_role("button", name="Stop following").click()
    expect(phone.bar).to_have_count(0)
    assert "follow" not in phone.choices
    expect(listening).to_have_text("◉ 0")


def vote_and_let_another_device_lead_to_the_end(hall, folder):
    lecturer = comes_to_lead(hall)
    room = code(lecturer, 16)
    tablet, phone = hall("late").comes(code(lecturer, 6)), hall("phone").comes(room)
    while lecturer.page.evaluate(KIND) != "ask":
        turn(lecturer, [])
    votes = lecturer.page.locator(".follow-votes")
    for one, letters in ((tablet, "A"), (phone, "AB")):
        one.sees_what(lecturer)
        for letter in letters:
            button = one.page.locator(".follow-ballot").get_by_role("button", name=letter)
            button.click()
            expect(button).to_have_attribute("aria-pressed", "true")
        expect(one.bar).to_contain_text("Following")
    expect(votes).to_have_text("Votes: 2 (V)")
    lecturer.page.keyboard.press("v")
    expect(votes.locator("p output")).to_contain_text(["1", "1"])
    options = lecturer.page.locator("[class*=-ask-] [role=radiogroup] label p:visible").all()
    ends = [one.bounding_box()["x"] + one.bounding_box()["width"] for one in options]
    assert votes.bounding_box()["x"] > max(ends), "the bars stand beside the answers"
    assert not votes.locator(".right").count(), "the answer comes with the next screen"
    turn(lecturer, [tablet, phone])
    expect(phone.page.locator(".follow-ballot")).to_be_hidden()
    right = votes.locator(".right b").inner_text()
    assert right.endswith("✓")
    options = lecturer.page.locator("[class*=-ask-] [role=radiogroup]").first.locator("label")
    said = lecturer.page.locator("[class*=st-key-right-] strong").all_text_contents()
    assert options.nth("ABCDEF".index(right[0])).text_content() in said

    votes.get_by_role("button", name="Vote again").click()
    lecturer.page.keyboard.press("PageUp")
    phone.page.locator(".follow-ballot").get_by_role("button", name="B").click()
    expect(votes).to_have_text("Votes: 1 (V)")
    lecturer.page.keyboard.press("v")
    with lecturer.page.expect_download() as download:
        votes.get_by_role("button", name="CSV").click()
    download.value.save_as(folder / "votes.csv")
    rows = list(csv.DictReader((folder / "votes.csv").open(encoding="utf-8")))
    counts = {(row["vote"], row["option"]): int(row["votes"]) for row in rows}
    assert (counts["1", "A"], counts["1", "B"], counts["2", "B"]) == (1, 1, 1)
    assert sum(counts.values()) == 3

    asked: list[str] = []
    for one in (lecturer, tablet):
        one.page.on("request", lambda request: asked.append(request.url))
    shown = hand_over(lecturer, tablet, room)
    turn(tablet, [phone, lecturer])
    tablet.page.reload()
    tablet.state()
    leaf(tablet, [phone, lecturer])
    secret = tablet.page.evaluate("attentionFollow.leader.secret")
    assert not [url for url in asked if secret in url or shown in url]
    assert secret not in lecturer.page.evaluate("JSON.stringify(sessionStorage)")

    tablet.page.wait_for_function(LISTENS)
    tablet.page.keyboard.press("f")
    tablet.page.get_by_role("button", name="End it for everybody").click()
    for one in (phone, lecturer):
        expect(one.bar).to_contain_text("The lecture is over.")
    expect(tablet.page.locator(".follow-lead")).to_have_text("◎")
    expect(phone.comes("aaaaaa").bar).to_contain_text("No lecture has this code now.")


def hand_over(lecturer, tablet, room):
    """A device asks to lead, and the lecturer types its code, which is returned."""
    tablet.follow_raw(f"?follow={room}#lead").state()
    expect(tablet.bar).to_contain_text("type this code on the lecturer’s screen")
    shown = "".join(re.findall(r": ([a-z2-7]{3}) ([a-z2-7]{3})", tablet.bar.inner_text())[0])
    panel = lecturer.page.locator(".follow-panel")
    lecturer.page.keyboard.press("f")
    panel.get_by_role("button", name="Lead from another device").click()
    for typed in ("zzzzzz", shown.upper()):
        panel.get_by_role("textbox").fill(f"{typed[:3]} {typed[3:]}")
        panel.get_by_role("button", name="Hand over").click()
        if typed != shown.upper():
            expect(panel).to_contain_text("No device shows this code now.")
            lecturer.errors.clear()  # the browser has told of the refusal
    expect(lecturer.bar).to_contain_text("Following the lecturer")
    expect(tablet.page.locator(".follow-lead")).to_have_text("◉ 2")
    return shown


STORIES = follow_let_go_come_back_and_leave, vote_and_let_another_device_lead_to_the_end


@pytest.mark.rotating(2)
@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
def test_an_audience_can(hall, tmp_path, story):
    story(hall, tmp_path)


@pytest.fixture
def replicas(server, tmp_path):
    """Two replicas of the app with one Redis server; yields their addresses."""
    board = {"ATTENTION_BOARD": server.url}
    with serve(tmp_path / "one", **board) as one, serve(tmp_path / "other", **board) as other:
        yield [one.address, other.address]


@pytest.mark.nightly("starts two servers; by day tests/follow tries boards that lose Redis")
def test_replicas_share_a_lecture_and_go_on_without_redis(replicas, server, hall, people):
    lecturer = comes_to_lead(hall, replicas[0])
    phone, button = hall("phone", replicas[1]), lecturer.page.locator(".follow-lead")
    phone.comes(code(lecturer, 6)).sees_what(lecturer)
    turn(lecturer, [phone])
    expect(button).to_have_text("◉ 1")

    server.stop()
    expect(phone.bar).to_contain_text("cannot be reached")
    expect(button).to_have_attribute("title", re.compile("does not hear you"))
    expect(lecturer.page.locator(".follow-panel > p")).to_contain_text("does not hear you")
    with lecturer.page.expect_response("**/lead/*") as answer:
        turn(lecturer, [])
    assert answer.value.status == 503
    expect(button).to_have_attribute("title", re.compile("does not hear you"))
    expect(phone.bar).to_be_visible()
    assert phone.state() != lecturer.state()
    leaf(lecturer, [])
    server.start()  # empty: nobody else knows where the lecturer is
    phone.sees_what(lecturer)
    expect(phone.bar).to_contain_text("Following")
    expect(button).to_have_text("◉ 1")
    turn(lecturer, [phone])
    for person in people:
        person.errors.clear()  # browsers complain of what is away
