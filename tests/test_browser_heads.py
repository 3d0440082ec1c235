"""Page 06 in a browser: click a head, switch heads off, drag the probability of dropout."""

import re

import pytest
from playwright.sync_api import expect

pytest_plugins = ("browser_fixtures",)

PAGE = "many_heads"


def panel(visit, name):
    return visit.page.locator(f'.panel[aria-label="{name}"]').first


def values(visit, name):
    return panel(visit, name).evaluate(
        "(panel) => [...panel.querySelectorAll('tbody tr')].map("
        "(line) => [...line.querySelectorAll('td.cell')].map((cell) => cell.value))"
    )


def cell(visit, name, row, column):
    return panel(visit, name).locator("tbody tr").nth(row).locator("td.cell").nth(column)


def test_a_click_on_a_head_enlarges_it(visit):
    one = visit(PAGE)
    expect(panel(one, "head 0")).to_have_attribute("aria-current", "true")
    expect(panel(one, "weights of head 0")).to_be_visible()
    cell(one, "head 2", 4, 1).click()
    one.wait_for_choice("head", "2")
    one.wait_for_choice("word", "4")
    expect(panel(one, "head 2")).to_have_attribute("aria-current", "true")
    expect(panel(one, "head 0")).to_have_attribute("aria-current", "false")
    enlarged = panel(one, "weights of head 2")
    expect(enlarged).to_be_visible()
    assert values(one, "weights of head 2") == [
        [pytest.approx(weight, abs=1e-5) for weight in line] for line in values(one, "head 2")
    ]
    expect(panel(one, "parts").locator(".formula")).to_contain_text("earnings")
    expect(one.page.locator(".card:not([hidden])")).to_contain_text("head 2: query earnings")
    again = visit(PAGE, **{key: one.choices[key] for key in ("head", "word")})
    assert values(again, "weights of head 2") == values(one, "weights of head 2")


def test_with_queries_across_the_clicked_column_is_the_word(visit):
    one = visit(PAGE, queries="across")
    cell(one, "head 1", 4, 0).click()
    one.wait_for_choice("head", "1")
    one.wait_for_choice("word", "0")


def test_switching_a_head_off_changes_the_output(visit):
    one = visit(PAGE, weights="trained", d_k="16")
    before, drawn = values(one, "named"), one.drawn()
    for head in range(4):
        one.page.get_by_test_id("stButtonGroup").filter(has_text="Heads switched off").get_by_role(
            "button", name=str(head), exact=True
        ).click()
        drawn = one.redrawn(drawn)
        expect(panel(one, f"head {head}")).to_have_class(re.compile("muted"))
    after = values(one, "named")
    assert after[0] == before[0], "all heads"
    assert after[1] != before[1], "heads on"
    assert values(one, "shares") == [[0]] * 4
    assert "off=0&off=1&off=2&off=3" in one.page.url
    expect(one.page.get_by_text("All heads are switched off")).to_be_visible()


def test_dragging_dropout_asks_nobody(visit):
    one = visit(PAGE)
    line = one.page.locator("label.slider", has_text="Probability").locator("input")
    before, sent = values(one, "sums"), one.sent
    line.evaluate("(range) => { range.value = 5; range.dispatchEvent(new Event('input')); }")
    at_half = values(one, "sums")
    assert at_half != before
    assert one.sent == sent
    line.evaluate("(range) => range.dispatchEvent(new Event('change'))")
    one.wait_for_choice("dropout", "0.5")
    assert values(one.ready(), "sums") == at_half
