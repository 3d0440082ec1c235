"""A lecture that is followed: a lecturer and an audience, each in a browser of their own."""

import csv
import os
import re
import subprocess
import sys
import time
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from benchmarks.browser import wait_until_healthy
from tests.deploy.replicas import NGINX
from tests.follow import boards
from tests.follow.test_routes import free_port
from tests.support.browser_fixtures import LIMIT, ROOT, Visit

redis_server = boards.redis_server

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
KIND = "() => document.documentElement.dataset.lectureKind"
STEPS_ON_A_PAGE = 6
TABS = 7
"""Of one browser: one more than it opens connections to a host."""


class Person(Visit):
    """Somebody in the hall, with a screen of their own."""

    def state(self):
        """What is on the screen, as soon as something is."""
        return self.page.wait_for_function(STATE).json_value()

    def sees_what(self, lecturer):
        """Wait until both have the same on the screen; the address is tidied up after a run."""
        end = time.monotonic() + LIMIT / 1000
        while (mine := self.state()) != (other := lecturer.state()) and time.monotonic() < end:
            self.page.wait_for_timeout(20)
        assert mine == other

    def another_tab(self, code):
        """A second tab of the same browser that follows."""
        other = Person(self.page.context.new_page(), self.address)
        other.comes(code).state()
        return other

    def comes(self, code):
        """Open the link of a room."""
        return self.follow_raw(f"?follow={code}")

    @property
    def bar(self):
        return self.page.locator(".follow-bar")


@pytest.fixture
def people() -> list[Person]:
    """Who is in the hall."""
    return []


@pytest.fixture
def hall(browser, address, people):
    """A function that lets somebody in: hall("phone")."""

    def enter(name, where=address):
        width, height = SIZES[name]
        context = browser.new_context(viewport={"width": width, "height": height})
        people.append(Person(context.new_page(), where))
        return people[-1]

    yield enter
    for one in people:
        broken = one.page.locator("[data-testid=stException]").count()
        one.page.context.close()
        assert not one.errors
        assert not broken


@pytest.fixture
def lecturer(hall):
    """A lecturer whose room is open."""
    person = hall("lecturer")
    person.follow("scores", lecture="true", predict="true")
    open_room(person)
    return person


def open_room(lecturer):
    lecturer.state()
    lecturer.page.locator(".follow-lead").wait_for()
    lecturer.page.wait_for_function("() => attentionLecture.isComplete()")
    lecturer.page.wait_for_timeout(500)  # until then keys are kept for the lecture
    lecturer.page.keyboard.press("f")
    panel = lecturer.page.locator(".follow-panel")
    panel.wait_for()
    assert panel.locator("svg path:visible").count() == 1
    lecturer.page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    assert lecturer.state(), "Escape has left the panel, and not the lecture"


def code(lecturer, letters):
    """What is typed, and what the code to scan has."""
    text = lecturer.page.locator(".follow-panel strong").text_content()
    (short,) = re.findall(r"/\?follow=([a-z2-7]+)$", text)
    room = lecturer.page.evaluate("attentionFollow.leader.room")
    assert room.startswith(short)
    return {6: short, 16: room}[letters]


def turn(lecturer, followers):
    """One step, which may take several keys: a high screen is scrolled first. All take it."""
    before, end = lecturer.state(), time.monotonic() + LIMIT / 1000
    while lecturer.state() == before:
        assert time.monotonic() < end, before
        lecturer.page.keyboard.press("PageDown")
        lecturer.page.wait_for_timeout(300)
    for one in followers:
        one.sees_what(lecturer)


def leaf(lecturer, followers):
    """To the next page; everybody follows."""
    before = urlsplit(lecturer.page.url).path
    lecturer.page.evaluate("attentionLecture.leaf(1)")
    lecturer.page.wait_for_function("(before) => location.pathname !== before", arg=before)
    for one in followers:
        one.sees_what(lecturer)


HOLD_REST = """() => {
  const { follower } = attentionFollow, ask = follower.askForRest;
  let isAsked = false;
  follower.askForRest = () => { isAsked = true; };
  globalThis.fetchRest = () => { follower.askForRest = ask; if (isAsked) ask(); };
}"""
"""The rest of a page is not asked for before `fetchRest()`."""
COUNT = "attentionLecture.screens.length"


def choose(lecturer, followers):
    """Another choice of the lecturer's: everybody has it."""
    lecturer.page.evaluate("document.querySelector('.st-key-predict input').click()")
    lecturer.wait_for_choice("predict", "false")
    for one in followers:
        one.sees_what(lecturer)
        assert "predict=false" in one.state()


def test_an_audience_follows_twenty_steps_over_three_pages(lecturer, hall):
    laptop, phone = hall("laptop").comes(code(lecturer, 6)), hall("phone").comes(code(lecturer, 16))
    for one in (laptop, phone):
        one.sees_what(lecturer)
        expect(one.bar).to_contain_text("Following")
    expect(lecturer.page.locator(".follow-lead")).to_have_text("◉ 2")
    choose(lecturer, [laptop, phone])
    for _ in range(STEPS_ON_A_PAGE):
        turn(lecturer, [laptop, phone])
    laptop.page.evaluate(HOLD_REST)
    leaf(lecturer, [laptop, phone])
    assert 1 <= laptop.page.evaluate(COUNT) < lecturer.page.evaluate(COUNT)
    laptop.page.evaluate("fetchRest()")

    phone.page.locator(".lecture-bar button").nth(1).click()  # to the next screen: lets go
    expect(phone.bar).to_contain_text(re.compile(r"^The lecturer is at 0\d · follow again"))
    its_own = phone.state()
    for _ in range(STEPS_ON_A_PAGE):
        turn(lecturer, [laptop])
    assert phone.state() == its_own
    leaf(lecturer, [laptop])
    phone.bar.get_by_role("button").first.click()
    phone.sees_what(lecturer)

    late = hall("late").comes(code(lecturer, 6))
    late.sees_what(lecturer)
    for _ in range(STEPS_ON_A_PAGE):
        turn(lecturer, [laptop, phone, late])
    expect(lecturer.page.locator(".follow-lead")).to_have_text("◉ 3")


def test_who_loads_the_page_again_goes_on(lecturer, hall):
    phone = hall("phone").comes(code(lecturer, 6))
    phone.sees_what(lecturer)
    phone.page.reload()
    phone.sees_what(lecturer)
    lecturer.page.reload()
    lecturer.state()
    turn(lecturer, [phone])
    phone.bar.get_by_role("button", name="Stop following").click()
    expect(phone.bar).to_have_count(0)
    assert "follow" not in phone.choices
    expect(lecturer.page.locator(".follow-lead")).to_have_text("◉ 0")


def test_a_class_votes_and_sees_the_answer_afterwards(lecturer, hall, tmp_path):
    laptop, phone = hall("laptop").comes(code(lecturer, 6)), hall("phone").comes(code(lecturer, 6))
    while lecturer.page.evaluate(KIND) != "ask":
        turn(lecturer, [])
    votes = lecturer.page.locator(".follow-votes")
    for one, letters in ((laptop, "A"), (phone, "AB")):
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
    turn(lecturer, [laptop, phone])
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
    download.value.save_as(tmp_path / "votes.csv")
    rows = list(csv.DictReader((tmp_path / "votes.csv").open(encoding="utf-8")))
    counts = {(row["vote"], row["option"]): int(row["votes"]) for row in rows}
    assert (counts["1", "A"], counts["1", "B"], counts["2", "B"]) == (1, 1, 1)
    assert sum(counts.values()) == 3


def serve(port, base="", **environment):
    """The app in a process of its own."""
    command = [sys.executable, "-m", "streamlit", "run", "app.py", f"--server.port={port}"]
    environment = {**os.environ, **environment}
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)
    wait_until_healthy(f"http://localhost:{port}{base}")
    return process


PREFIX, BASE = "/course/attn", "/inner"
STRIPPING = """
daemon off; pid nginx.pid; error_log stderr crit;
events {{ worker_connections 256; }}
http {{
  access_log off; client_body_temp_path body; proxy_temp_path proxied;
  fastcgi_temp_path unused; uwsgi_temp_path unused; scgi_temp_path unused;
  map $http_upgrade $kind {{ default upgrade; "" close; }}
  server {{
    listen 127.0.0.1:{proxy};
    location {prefix}/ {{
      proxy_pass http://127.0.0.1:{port}/; proxy_http_version 1.1; proxy_buffering off;
      proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection $kind;
      proxy_set_header Host $http_host;
    }}
  }}
}}
"""
"""A proxy that takes away what stands before the paths: the app never hears of it."""


@pytest.fixture(params=["", BASE], ids=["stripped", "stripped, and a base"])
def address_behind(request, tmp_path):
    """Where browsers find an app whose proxy strips a prefix; it may have a base besides."""
    if not NGINX:
        pytest.skip("There is no nginx here, and it could not be installed.")
    port, proxy, base = free_port(), free_port(), request.param
    (tmp_path / "conf").write_text(STRIPPING.format(proxy=proxy, prefix=PREFIX, port=port))
    app = serve(port, base, STREAMLIT_SERVER_BASE_URL_PATH=base)
    command = [NGINX, "-p", str(tmp_path), "-c", str(tmp_path / "conf")]
    command += ["-g", "user root;"] if os.geteuid() == 0 else []
    nginx = subprocess.Popen(command)
    wait_until_healthy(address := f"http://127.0.0.1:{proxy}{PREFIX}{base}")
    yield address
    for process in (nginx, app):
        process.terminate()
        process.wait()


def test_an_audience_follows_behind_a_proxy_that_strips_a_prefix(address_behind, hall):
    lecturer = hall("lecturer", address_behind)
    lecturer.follow("scores", lecture="true", predict="true")
    open_room(lecturer)
    shown = lecturer.page.locator(".follow-panel strong").text_content()
    assert shown.startswith(f"{address_behind.removeprefix('http://')}/?follow=")
    phone = hall("phone", address_behind).comes(code(lecturer, 6))
    phone.sees_what(lecturer)
    turn(lecturer, [phone])
    leaf(lecturer, [phone])
    assert phone.page.url.startswith(f"{address_behind}/")


@pytest.fixture
def replicas(redis_server):
    """Two replicas of the app with one Redis server; yields their addresses."""
    redis_server.empty()
    ports = free_port(), free_port()
    processes = [serve(port, ATTENTION_BOARD=redis_server.url) for port in ports]
    yield [f"http://localhost:{port}" for port in ports]
    for process in processes:
        process.terminate()
        process.wait()


def test_replicas_share_a_lecture_and_go_on_without_redis(replicas, redis_server, hall, people):
    lecturer = hall("lecturer", replicas[0])
    lecturer.follow("scores", lecture="true", predict="true").state()
    open_room(lecturer)
    phone, button = hall("phone", replicas[1]), lecturer.page.locator(".follow-lead")
    phone.comes(code(lecturer, 6)).sees_what(lecturer)
    turn(lecturer, [phone])
    expect(button).to_have_text("◉ 1")

    redis_server.stop()
    expect(phone.bar).to_contain_text("cannot be reached")
    expect(button).to_have_attribute("title", re.compile("does not hear you"))
    expect(lecturer.page.locator(".follow-panel > p")).to_contain_text("does not hear you")
    with lecturer.page.expect_response("**/lead/*", timeout=3000) as answer:
        turn(lecturer, [])
    assert answer.value.status == 503
    expect(button).to_have_attribute("title", re.compile("does not hear you"))
    expect(phone.bar).to_be_visible()
    assert phone.state() != lecturer.state()
    leaf(lecturer, [])
    redis_server.start()  # empty: nobody else knows where the lecturer is
    phone.sees_what(lecturer)
    expect(phone.bar).to_contain_text("Following")
    expect(button).to_have_text("◉ 1")
    turn(lecturer, [phone])
    for person in people:
        person.errors.clear()  # browsers complain of what is away


def test_a_server_that_was_started_again_finds_everybody(hall, people):
    port = free_port()
    address = f"http://localhost:{port}"
    process = serve(port)
    try:
        lecturer = hall("lecturer", address)
        lecturer.follow("scores", lecture="true", predict="true")
        open_room(lecturer)
        phone = hall("phone", address).comes(code(lecturer, 6))
        phone.sees_what(lecturer)
        process.terminate()
        process.wait()
        turn(lecturer, [])
        button = lecturer.page.locator(".follow-lead")
        expect(button).to_have_attribute("title", re.compile("cannot be reached"))
        process = serve(port)
        phone.sees_what(lecturer)
        expect(button).to_have_text("◉ 1")
    finally:
        for person in people:
            person.page.goto("about:blank")
            person.errors.clear()  # browsers complain of a server that is away
        process.terminate()
        process.wait()


def test_tabs_of_one_browser_share_a_stream(lecturer, hall):
    """A browser opens six connections to a host, and streams would take them all."""
    first = hall("phone").comes(code(lecturer, 16))
    first.sees_what(lecturer)
    tabs = [first.another_tab(code(lecturer, 16)) for _ in range(TABS - 1)]
    turn(lecturer, [first, *tabs])
    listening = lecturer.page.locator(".follow-lead")
    expect(listening).to_have_text("◉ 1")
    tabs.pop().page.close()  # the last that was opened listens
    turn(lecturer, [first, *tabs])
    expect(listening).to_have_text("◉ 1")


def test_another_device_leads_when_its_code_is_typed(lecturer, hall):
    room, asked = code(lecturer, 16), []
    phone, tablet = hall("phone").comes(room), hall("late")
    for one in (lecturer, tablet):
        one.page.on("request", lambda request: asked.append(request.url))
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
    turn(tablet, [phone, lecturer])
    tablet.page.reload()
    tablet.state()
    leaf(tablet, [phone, lecturer])
    secret = tablet.page.evaluate("attentionFollow.leader.secret")
    assert not [url for url in asked if secret in url or shown in url]
    assert secret not in lecturer.page.evaluate("JSON.stringify(sessionStorage)")


def test_the_lecturer_ends_it_for_everybody(lecturer, hall):
    phone = hall("phone").comes(code(lecturer, 6))
    phone.sees_what(lecturer)
    lecturer.page.keyboard.press("f")
    lecturer.page.get_by_role("button", name="End it for everybody").click()
    expect(phone.bar).to_contain_text("The lecture is over.")
    expect(lecturer.page.locator(".follow-lead")).to_have_text("◎")
    stranger = hall("laptop").comes("aaaaaa")
    expect(stranger.bar).to_contain_text("No lecture has this code now.")


def test_a_link_of_a_lecture_brings_nothing_but_a_page(lecturer, hall):
    """What a message may say ends in an address of this server, whatever it is."""
    evil = (
        "text=%3Cimg+src%3Dx+onerror%3Dalert(1)%3E&follow=bbbbbbbbbbbbbbbb&__proto__=1&d_k=3&d_k=4"
    )
    phone = hall("phone").comes(code(lecturer, 6))
    phone.sees_what(lecturer)
    lecturer.page.evaluate(
        """async (query) => {
          const { room, secret } = attentionFollow.leader;
          const place = { page: 'masks', query, screen: 1, step: 0, round: 0 };
          const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${secret}` };
          const body = JSON.stringify({ ...place, number: Date.now() + 60000 });
          const answer = await fetch(`/lead/${room}`, { method: 'POST', headers, body });
          if (!answer.ok) throw new Error(answer.status);
        }""",
        evil,
    )
    phone.page.wait_for_function("() => location.search.includes('onerror')", timeout=LIMIT)
    phone.page.wait_for_timeout(500)
    assert phone.choices["follow"] == code(lecturer, 16)
