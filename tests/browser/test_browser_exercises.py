"""Exercises done in a browser: wrong, right, and a goal that is reached by a slider."""

from playwright.sync_api import expect

from explainers.chapters.exercises.exercise_table import Goal, Prediction, read_exercises


def test_a_wrong_answer_can_be_mended_and_a_right_one_counts(visit):
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
    expect(page.get_by_text("is right.").or_(page.get_by_text("is near enough"))).to_be_visible()
    reader.wait_for_choice("done", "a score")
    page.get_by_role("button", name="Next exercise").click()
    expect(page.get_by_role("heading", name="A weight of two")).to_be_visible()
    reader.wait_for_choice("done", "a score")
    assert not reader.errors


def test_a_goal_is_reached_by_turning_its_setting(visit):
    name = "a temperature that flattens"
    reader = visit("exercises", exercise=name, seed="5")
    page, task = reader.page, read_exercises()[name.replace(" ", "_")].task(5)
    assert isinstance(task, Goal)
    wanted, steps = next(task.solutions())["temperature"], task.settings[0].values
    expect(page.get_by_text("Not reached yet.")).to_be_visible()
    slider = page.get_by_role("slider", name="Temperature")
    away = steps.index(wanted) - steps.index(task.settings[0].default)
    for _ in range(abs(away)):
        slider.press("ArrowRight" if away > 0 else "ArrowLeft")
    expect(page.get_by_text("Reached.", exact=True)).to_be_visible()
    reader.wait_for_choice("done", name)
    assert not reader.errors
