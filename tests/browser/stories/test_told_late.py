"""A choice of a picture costs the server nothing until somebody wants what depends on it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from playwright.sync_api import expect

from benchmarks.browser import find_server
from tests.support.visit import Visit

BELOW = ".st-key-follows-two-steps-of-any"
ENTRIES = "history.length"
AT_ONCE = """([chosen, clicked]) => {
  const hero = document.querySelector('.st-key-hero [data-testid=stBidiComponentIsolated]');
  hero.shadowRoot.querySelector(chosen).click();
  setTimeout(() => document.querySelector(clicked).click());
}"""
"""A choice that the picture tells, and a click elsewhere before Streamlit's script has sent it."""
NEXT, SCRIPT = ".st-key-way-on button", ".st-key-take-py button"
LINK = "[data-testid=stSidebarNavLink][href$='/query_key_value']"
CARD = ".st-key-go-deeper summary"
CLICK = "(button) => button.click()"
LATER = """() => {
  const now = performance.now.bind(performance);
  performance.now = () => now() + 20_000;
  return new Promise((done) => setTimeout(done, 200)); // files look again meanwhile
}"""
SOCKETS = """globalThis.sockets = [];
globalThis.WebSocket = class extends WebSocket {
  constructor(address, protocols) {
    super(address, protocols.slice(0, 2)); // the third names the session to go on with
    sockets.push(this);
  }
};"""
"""A connection that is cut goes on in another session, as on a server that has never seen it."""
CUT = "() => sockets.at(-1).close()"
IS_CUT = """() =>
  document.querySelector('[data-testid=stApp]').dataset.testConnectionState !== 'CONNECTED'"""
REFUSE = """const write = History.prototype.replaceState;
History.prototype.replaceState = function (...all) {
  if (globalThis.isRefused) throw new DOMException("too often", "SecurityError");
  return write.apply(this, all);
};"""
"""As Safari does, which writes a hundred addresses in ten seconds."""


def choose_word(one: Visit, place: int) -> None:
    """Click on a word of the picture, and wait until the address says so."""
    one.hero.first.locator(".words button").nth(place).click()
    one.wait_for_choice("word", None if place == 2 else f"{place}")


def expect_word(one: Visit, place: int) -> None:
    """In the end it is the one that is followed."""
    chosen = one.hero.first.locator(".words button").nth(place)
    expect(chosen).to_have_attribute("aria-checked", "true")


def test_thirty_clicks_ask_for_no_run_and_what_is_below_comes_when_it_is_seen(visit):
    one = visit("masks", is_still=True)
    sent, entries = one.sent, one.page.evaluate(ENTRIES)
    for place in [3, 5, 4, 0, 6, 1] * 5:
        choose_word(one, place)
    assert one.sent == sent
    assert one.page.evaluate(ENTRIES) == entries
    one.after_run(one.page.locator(BELOW).scroll_into_view_if_needed)
    assert one.sent == sent + 1
    drawn = one.drawn()
    one.page.reload()
    assert one.ready().drawn() == drawn
    expect_word(one, 1)

    choose_word(one, 6)  # while what depends on it is in sight
    assert one.redrawn(drawn) != drawn
    one.page.locator(BELOW).scroll_into_view_if_needed()
    drawn = one.redrawn(drawn)
    link = {**one.choices}
    assert visit("masks", is_still=True, **link).drawn() == drawn


def test_whatever_is_asked_for_takes_what_was_chosen_along(visit):
    one = visit("masks", is_still=True)
    choose_word(one, 5)
    sent = one.sent
    card = one.page.locator(".st-key-go-deeper summary").first
    one.after_run(lambda: card.evaluate("(summary) => summary.click()"))
    one.expect_in_link(word="5", deep="side_by_side")
    assert one.sent == sent + 1, "one message for both"
    assert one.drawn() == visit("masks", is_still=True, **one.choices).drawn()

    choose_word(one, 4)
    one.page.get_by_text("Settings").first.click()
    again = one.page.get_by_role("button", name="Reset all choices")
    one.after_run(again.click)
    one.expect_in_link(word=None, deep=None)
    expect_word(one, 2)

    choose_word(one, 4)
    one.turn_to("masks")  # for the server nothing has changed since the last link
    expect_word(one, 2)

    choose_word(one, 6)
    one.page.locator(NEXT).evaluate("(button) => button.click()")
    one.page.wait_for_url("**/many_heads*")
    one.ready()
    expect_word(one, 6)
    choose_word(one, 3)
    one.page.get_by_role("navigation").get_by_role("link", name="Queries").click()
    one.page.wait_for_url("**/query_key_value*")
    one.ready()
    expect_word(one, 3)


def take_script(one: Visit, act: Callable[[], object]) -> str:
    """What stands in the script that comes when something is done."""
    with one.page.expect_download() as download:
        act()
    return download.value.path().read_text(encoding="utf-8")


def test_files_are_of_what_was_chosen(visit):
    """They cost nothing until one is taken; then the page is drawn first."""
    one = visit("masks", is_still=True, size=(1280, 400))
    choose_word(one, 5)
    sent, script = one.sent, one.page.locator(SCRIPT)
    one.after_run(one.page.locator(BELOW).scroll_into_view_if_needed)
    script.scroll_into_view_if_needed()
    one.ready()
    assert one.sent == sent + 1
    for asked in (3, 4):  # the page and the file, and then the file alone
        assert "word=5" in take_script(one, script.click)
        assert one.sent == sent + asked
    six = ".words button:nth-of-type(7)"
    assert "word=6" in take_script(one, lambda: one.page.evaluate(AT_ONCE, [six, SCRIPT]))


def test_a_stop_of_the_tour_is_left_and_come_back_to_as_it_was(visit):
    one = visit("masks", is_still=True, tour="1")
    sent = one.sent
    choose_word(one, 5)
    drawn = one.drawn()
    assert one.sent == sent
    one.page.locator(".st-key-tour-next button").click()
    one.page.wait_for_url("**/many_heads*")
    one.ready()
    expect_word(one, 5)
    one.back()
    one.expect_in_link(word="5", tour="1")
    assert one.drawn() == drawn


def test_back_leads_from_page_to_page(visit):
    one = visit("masks", is_still=True)
    choose_word(one, 5)
    one.hero.get_by_role("radio", name="window", exact=True).click()
    one.expect_in_link(rule="window")
    drawn, link = one.hero.first.get_attribute("aria-label"), one.page.url
    one.page.locator(NEXT).click()
    one.page.wait_for_url("**/many_heads*")
    one.ready()
    choose_word(one, 0)
    one.back()
    assert one.page.url == link
    expect(one.hero.first).to_have_attribute("aria-label", drawn or "")
    one.after_run(one.page.go_forward)
    one.page.wait_for_url("**/many_heads*")
    one.expect_in_link(word="0")
    expect_word(one, 0)


def test_two_parts_of_a_page_that_speak_at_once_are_both_heard(visit):
    one = visit("masks", is_still=True)
    one.page.evaluate(AT_ONCE, ["button[value=untrained]", NEXT])
    one.page.wait_for_url("**/many_heads*")
    one.ready()
    one.back()
    one.expect_in_link(weights="untrained")


@contextmanager
def busy(one: Visit) -> Iterator[None]:
    """A server that answers only afterwards what was asked meanwhile."""
    server = find_server(one.address)
    server.suspend()
    try:
        yield
    finally:
        server.resume()


def choose_rule(one: Visit, name: str) -> None:
    """A mask, by its button in the picture."""
    one.radio(name).click()
    one.wait_for_choice("rule", name)


def restart_with(one: Visit, script: str) -> None:
    """Load the page again, with something else in its place."""
    one.page.add_init_script(script)
    one.page.reload()
    one.ready()


def test_a_choice_is_in_the_address_at_once(visit):
    """Who loads the page again in the same moment has it."""
    one = visit("masks", is_still=True)
    five = one.hero.first.locator(".words button").nth(5)
    said = five.evaluate("(word) => { word.click(); return location.search; }")
    assert said.endswith("&word=5")


def test_a_file_waits_for_a_server_that_is_slow(visit):
    one = visit("masks", is_still=True)
    choose_rule(one, "window")

    def click() -> None:
        with busy(one):
            one.page.locator(SCRIPT).evaluate(CLICK)
            one.page.evaluate(LATER)

    assert "rule=window" in take_script(one, click)


def test_a_card_that_was_asked_for_before_a_choice_is_drawn_with_it(visit):
    one = visit("does_it_matter", is_still=True, size=(1280, 400))
    card, effect = one.page.locator(CARD).first, one.radio("direct effect")

    def click() -> None:
        with busy(one):
            card.evaluate(CLICK)
            effect.evaluate(CLICK)
            one.expect_in_link(matter_view="direct effect")

    one.after_run(click)
    one.after_run(card.scroll_into_view_if_needed)
    one.expect_in_link(matter_view="direct effect")


def test_a_session_on_another_server_obeys_the_address(visit):
    one = visit("masks", is_still=True, size=(1280, 1800))
    restart_with(one, SOCKETS)
    one.after_run(lambda: choose_rule(one, "window"))
    drawn = one.drawn()
    one.page.evaluate(CUT)
    one.page.wait_for_function("() => sockets.length > 1 && attentionAddress.unheard.size === 0")
    assert one.ready().drawn() == drawn


def test_what_only_the_server_can_act_on_is_told_when_it_is_there_again(visit):
    one = visit("masks", is_still=True)
    restart_with(one, SOCKETS)
    one.page.context.set_offline(True)
    one.page.evaluate(CUT)
    one.page.wait_for_function(IS_CUT)
    one.radio("untrained").evaluate(CLICK)
    one.page.context.set_offline(False)
    one.expect_in_link(weights="untrained")
    one.errors.clear()  # that it was offline


def test_no_message_waits_for_an_address_that_may_not_be_written(visit):
    one = visit("masks", is_still=True)
    restart_with(one, REFUSE)
    one.page.evaluate("() => { globalThis.isRefused = true; }")
    one.hero.first.locator(".words button").nth(5).click()
    card = one.page.locator(CARD).first
    one.after_run(lambda: card.evaluate(CLICK))
    expect(card.locator("xpath=..").locator(".st-key-follows-side_by_side-of-any")).to_be_visible()


def test_a_link_does_not_overtake_what_is_told_in_the_same_turn(visit):
    one = visit("masks", is_still=True)
    one.page.evaluate(AT_ONCE, ["button[value=untrained]", LINK])
    one.page.wait_for_url("**/query_key_value*")
    one.expect_in_link(weights="untrained")
