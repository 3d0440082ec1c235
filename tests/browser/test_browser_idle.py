"""A head that wants nothing, in a browser: switches, letters, and a training that is watched."""

import pytest
from playwright.sync_api import expect

PATH = "idle_heads"
SEEN = """() => {
  const host = [...document.querySelectorAll('[data-testid=stBidiComponentIsolated]')]
    .find((one) => one.shadowRoot.querySelector('.hero.idle'));
  const hero = host.shadowRoot.querySelector('.hero');
  const rows = [...hero.querySelectorAll('.stage > .idle-part')];
  const share = (part) => Math.round(parseFloat(part.style.width));
  const width = rows.slice(5).reduce((sum, part) => sum + share(part), 0);
  return {
    switches: [...hero.querySelectorAll('.idle-toggle[aria-checked=true]')]
      .map((one) => one.textContent),
    first: Math.round((100 * share(rows[6])) / width),
    itself: Math.round((100 * share(rows[7])) / width),
    nowhere: Math.round((100 * share(rows[8])) / width),
    keys: [...hero.querySelectorAll('.idle-key .name')]
      .filter((one) => one.checkVisibility()).map((one) => one.textContent),
    numbers: [...hero.querySelectorAll('.idle-number')].map((one) => one.textContent),
    gates: [...hero.querySelectorAll('.idle-gate')].map((one) => one.textContent).filter(Boolean),
  };
}"""
"""The switches that are on, and what the bar of the idle letters shows, in percent."""


def toggle(one, name):
    return one.page.locator(".hero").get_by_role("switch", name=name)


def told(one, what):
    """The percentage that the sentence has in bold for all idle letters."""
    return int(one.says.locator("strong").last.inner_text().split()[0].replace("\u00a0%", ""))


def test_the_bar_and_the_sentence_say_the_same_without_a_click(visit):
    one = visit(PATH)
    expect(one.says).to_contain_text("of their weight goes to ⟨s⟩")
    seen = one.page.evaluate(SEEN)
    assert seen["switches"] == ["first token ⟨s⟩"]
    assert abs(seen["first"] - told(one, "first")) <= 1
    assert seen["gates"] == []
    assert seen["keys"] == ["useful", "⟨s⟩", "itself", "elsewhere"], "no sink, and nothing nowhere"


def test_switches_change_picture_and_sentence_without_the_server(visit):
    one = visit(PATH)
    messages = one.sent
    toggle(one, "first token").click()
    expect(one.says).to_contain_text("scattered over other letters")
    assert one.sent == messages
    elsewhere = told(one, "elsewhere")
    seen = one.page.evaluate(SEEN)
    assert seen["itself"] + seen["first"] + elsewhere == pytest.approx(100, abs=2)
    toggle(one, "learned sink").click()
    expect(one.says).to_contain_text("falls into the sink")
    seen = one.page.evaluate(SEEN)
    assert abs(seen["nowhere"] - told(one, "nowhere")) <= 1
    assert "nowhere" in seen["keys"]
    one.wait_for_choice("given", "sink")


def test_a_letter_that_is_tapped_is_followed(visit):
    one = visit(PATH)
    letter = one.page.locator(".hero").get_by_role("radio").nth(9)
    letter.click()
    expect(one.says).to_contain_text("is idle")
    one.wait_for_choice("letter", "8")


@pytest.mark.parametrize("given", ["gate"])
def test_gates_are_told_where_there_are_some(visit, given):
    one = visit(PATH, given=given)
    expect(one.says).to_contain_text("open")
    assert len(one.page.evaluate(SEEN)["gates"]) == 2


def test_what_does_not_come_with_the_app_is_trained_while_one_looks_on(visit):
    one = visit(PATH, given="sink-gate")
    expect(one.says).to_contain_text("do not come with trained weights")
    one.page.locator(".hero").get_by_role("button", name="Train it now").click()
    status = one.page.locator(".hero .idle-training [role=status]")
    expect(status).to_contain_text("batch", timeout=20_000)
    expect(one.page.locator(".hero").get_by_role("button", name="Cancel")).to_be_visible()
    expect(status).to_contain_text("trained here just now, from seed 5", timeout=180_000)
    expect(one.says).to_contain_text("needs the letter before it")
    expect(one.page.locator(".hero").get_by_role("button", name="Train it now")).to_be_visible()


def test_a_training_can_be_cancelled(visit):
    one = visit(PATH)
    one.page.locator(".hero").get_by_role("button", name="Train it now").click()
    cancel = one.page.locator(".hero").get_by_role("button", name="Cancel")
    cancel.click(timeout=20_000)
    expect(one.page.locator(".hero").get_by_role("button", name="Train it now")).to_be_visible()
    expect(one.says).to_contain_text("of their weight goes to ⟨s⟩")
