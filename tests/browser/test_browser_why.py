"""*Why did it look there* in a browser: bars are removed by a click, words are chosen."""

import json

from playwright.sync_api import expect

from explainers.chapters.why_it_looked.shipped_cells import FILE
from explainers.models.registry import WHEEL_MODELS
from tests.support.real_models import real

PAGE = "why_it_looked"


def percent(weight):
    return "< 1 %" if weight < 0.005 else f"{100 * weight:.0f} %"


def results(one):
    """The weights at the foot of the picture that can be seen, without their narrow spaces."""
    shares = one.page.locator(".why-weight + .text").evaluate_all(
        "(all) => all.filter((node) => node.style.opacity !== '0').map((node) => node.innerText)"
    )
    return [share.replace("\xa0", " ") for share in shares]


def test_a_click_on_a_bar_removes_it_and_another_click_puts_it_back(visit):
    one = visit(PAGE)
    kept = json.loads(FILE.read_text())["cells"]["17.3"]
    _side, _places, predicted, _into_head, measured, others = kept["removals"]["key.L16.H0"]
    expect(one.page.locator(".why-note")).to_have_text(
        "head L16.H0, at “Lee”, looked at “Ann”: 93\xa0%"
    )
    assert results(one) == [percent(kept["weight"])]
    bar = one.page.get_by_role("button", name="head L16.H0 +15.38")
    assert "Without head L16.H0" in one.says_after(bar)
    expect(bar).to_have_attribute("aria-pressed", "true")
    assert results(one) == [*map(percent, (kept["weight"], predicted, measured, others))]
    one.wait_for_choice("why_removed", "key.L16.H0")
    assert "Without" not in one.says_after(bar)
    one.wait_for_choice("why_removed", None)
    three = one.page.get_by_role("button", name="remove the first 3").first
    assert "MLP 0, " in one.says_after(three)
    one.wait_for_choice("why_removed", "query_three")


def test_an_experiment_and_another_language_keep_the_choice(visit):
    one = visit(PAGE)
    one.page.get_by_role("button", name="Go one step back").click()
    expect(one.says).to_contain_text("to the token before it, Ann")
    one.wait_for_choice("why_cell", "16.0")
    spoken = visit(PAGE, lang="vi", why_cell="16.0", why_removed="key.MLP15")
    expect(spoken.says).to_contain_text("Không có MLP 15")
    expect(spoken.page.locator(".why-title.key")).to_have_text("“Ann” đưa ra gì: khóa của nó")


def test_words_of_a_text_of_ones_own_are_chosen_and_merged(visit):
    real(WHEEL_MODELS[0].id)
    text = "Thẩm phán trẻ gặp Ann. Thẩm phán trẻ cảm ơn."
    one = visit(PAGE, lang="vi", why_whose="own", why_text=text, as_words="true", why_query="12")
    words = one.page.locator(".why-token")
    spelled = "Thẩm phán trẻ gặp Ann . Thẩm phán trẻ cảm ơn ."
    expect(words).to_have_text(spelled.split(), timeout=90_000)
    words.filter(has_text="phán").first.click()
    expect(one.page.locator(".why-title.key")).to_contain_text("“phán”")
    words.filter(has_text="cảm").click()
    expect(one.page.locator(".why-title.query")).to_contain_text("“cảm”")
    one.wait_for_choice("why_key", None)
    assert not one.errors
