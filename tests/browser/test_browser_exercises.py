"""The deck in a browser, and exercises: wrong, right, and a goal that is reached by a slider."""

import re

from playwright.sync_api import expect

from explainers.chapters.exercises.exercise_table import Goal, Prediction, read_exercises

OPEN = """() => {
  const hosts = [...document.querySelectorAll('[data-testid=stBidiComponentIsolated]')];
  const deck = hosts.map((host) => host.shadowRoot.querySelector('.deck')).find(Boolean);
  const { top, bottom } = deck.querySelector('.deck-card.open').getBoundingClientRect();
  return { name: deck.querySelector('.deck-card.open .deck-name').textContent, top, bottom,
    says: deck.querySelector('.says').textContent, ticks: deck.querySelectorAll('.done').length };
}"""


DONE = """(names) => JSON.stringify(names)
  === JSON.stringify(new URLSearchParams(location.search).getAll('done'))"""
TOP = "document.querySelector('[data-testid=stMain]').scrollTop"


def test_a_deck_opens_its_cards_at_once_and_a_row_keeps_to_its_kind(visit):
    reader = visit("exercises", done="a mixture")
    page = reader.page
    page.set_viewport_size({"width": 1280, "height": 800})
    page.get_by_role("radio", name="A score").wait_for()
    opened = page.evaluate(OPEN)
    assert opened["name"] == "A score"
    assert opened["top"] <= 260
    assert opened["ticks"] == 1
    assert f"1 of {len(read_exercises())} done. Next: A score" in opened["says"]
    field = page.get_by_role("textbox", name="Your answer").bounding_box()
    assert field["y"] + field["height"] < 800, "its task is seen without scrolling"
    page.get_by_role("radio", name="Heads for a budget").click()
    opened = page.evaluate(OPEN)  # no run of the server comes between
    assert opened["name"] == "Heads for a budget"
    assert "Next: Heads for a budget (about 3 minutes)" in opened["says"]
    expect(page.get_by_role("heading", name="Heads for a budget")).to_be_visible()
    reader.wait_for_choice("exercise", "heads for a budget")
    page.keyboard.press("ArrowRight")
    assert page.evaluate(OPEN)["name"] == "A model on two GPUs"
    page.keyboard.press("ArrowDown")
    assert page.evaluate(OPEN)["name"] == "Attention"
    expect(page.get_by_role("heading", name="Attention", exact=True)).to_be_visible()

    row = page.get_by_role("button", name="Reach a goal")
    row.click()
    assert page.evaluate(OPEN)["name"] == "Change one key"
    reader.wait_for_choice("kind", "reach")
    expect(row).to_have_attribute("aria-pressed", "true")
    page.get_by_role("radio", name="A mixture").click()
    expect(row).to_have_attribute("aria-pressed", "false")
    expect(page.get_by_role("heading", name="A mixture")).to_be_visible()

    reader.ready()
    page.set_viewport_size({"width": 1024, "height": 600})
    page.get_by_role("button", name=re.compile("Next:")).click()
    page.get_by_role("heading", name="Claims, checked", exact=True).wait_for()
    page.wait_for_function(f"() => {TOP} === 0")
    page.get_by_text("The learning path", exact=True).wait_for()
    assert page.evaluate(TOP) == 0, "Streamlit would stay at the end"


def test_a_wrong_answer_can_be_mended_and_a_goal_is_reached_by_its_slider(visit):
    reader = visit("exercises", exercise="a score", seed="5")
    page, task = reader.page, read_exercises()["a_score"].task(5)
    assert isinstance(task, Prediction)
    field = page.get_by_role("textbox", name="Your answer")
    field.fill(f"{task.answer + 7:.4f}")
    field.press("Enter")
    expect(page.get_by_text("is not it. Try again")).to_be_visible()
    assert "done" not in reader.choices
    field.fill(f"{task.answer:.4f}")
    field.press("Enter")
    expect(page.get_by_text("is right.").or_(page.get_by_text("is close enough"))).to_be_visible()
    reader.wait_for_choice("done", "a score")
    page.get_by_role("button", name="Next exercise").click()
    expect(page.get_by_role("heading", name="A weight of two")).to_be_visible()
    reader.wait_for_choice("done", "a score")

    name = "a temperature that flattens"
    page.get_by_role("radio", name=name.capitalize()).click()
    reader.wait_for_choice("exercise", name)
    goal = read_exercises()[name.replace(" ", "_")].task(5)
    assert isinstance(goal, Goal)
    wanted, steps = next(goal.solutions())["temperature"], goal.settings[0].values
    expect(page.get_by_text("Not reached yet.")).to_be_visible()
    slider = page.get_by_role("slider", name="Temperature")
    away = steps.index(wanted) - steps.index(goal.settings[0].default)
    for _ in range(abs(away)):
        slider.press("ArrowRight" if away > 0 else "ArrowLeft")
    expect(page.get_by_text("Reached.", exact=True)).to_be_visible()
    page.wait_for_function(DONE, arg=["a score", name])
