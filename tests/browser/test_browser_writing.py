"""Write with it: the browser computes the same probabilities as our functions."""

import pytest

from explainers.models.shipped_writing import MODEL, USUAL, read_shipped_writing
from explainers.models.told_steps import TEMPERATURES, TOP_PS, restrict_candidates

CHANCES = """async ([step, settings, heats, shares]) => {
  const host = [...document.querySelectorAll('[data-testid=stBidiComponentIsolated]')]
    .find((one) => one.shadowRoot.querySelector('.hero.writing'));
  const address = performance.getEntriesByType('resource').map((one) => one.name)
    .find((name) => name.includes('/heroes/writing_chances.js'));
  const { computeChances } = await import(address);
  return host && computeChances(step, settings, heats, shares);
}"""


@pytest.mark.parametrize(
    ("temperature", "top_k", "top_p"),
    [
        *((0, 0, 1), (0.3, 0, 0.9), (1.6, 0, 0.5), (1, 5, 1), (1.3, 20, 0.8), (2, 10, 0.5)),
        *((0.8, 1, 1), (0.3, 20, 1), (0.3, 10, 1)),
    ],
)
def test_the_browser_has_the_same_probabilities(visit, temperature, top_k, top_p):
    one = visit("writing", predict="false")
    shipped = read_shipped_writing(MODEL)
    assert shipped
    text = shipped.texts[USUAL]
    settings = {"temperature": temperature, "topK": top_k, "topP": top_p}
    for step in text.steps[::3]:
        sent = {"candidates": step.candidates, "kept": step.kept} | {
            "place": step.place,
            "logit": step.logit,
        }
        found = one.page.evaluate(CHANCES, [sent, settings, list(TEMPERATURES[1:]), list(TOP_PS)])
        expected = restrict_candidates(step, temperature, top_k, top_p)
        assert found["chances"] == pytest.approx(expected, abs=1e-6)
        if temperature and top_k:
            assert found["count"] == sum(one > 0 for one in expected)
        if step.place < len(expected):
            assert found["own"] == pytest.approx(expected[step.place], abs=1e-6)


def test_a_click_on_a_token_and_a_head_is_in_the_link(visit):
    one = visit("writing", predict="false", write_text=USUAL)
    words = one.page.locator("button.writing-word")
    words.nth(1).click()
    head = one.page.locator(".writing-heads button").nth(1)
    name = head.inner_text()
    head.click()
    one.page.wait_for_url(f"**write_head={name}*")
    assert "write_step=1" in one.page.url
    shares = one.page.locator(".writing-share").all()
    seen = [node for node in shares if float(node.evaluate("n => n.style.opacity")) == 1]
    assert seen, "the head's whole row"


def test_a_sentence_is_not_cut_in_the_name_of_a_head(visit):
    one = visit("writing", lecture="true")
    said = one.page.locator(".hero.writing .says").first
    said.filter(has_text=".").wait_for()
    text = said.inner_text()
    assert text.endswith(".")
    assert not text.endswith(("L13.", "L1."))
