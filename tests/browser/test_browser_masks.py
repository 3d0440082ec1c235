"""Masks in a browser: cells that are clicked, windows and layers that are dragged."""

from itertools import pairwise

from playwright.sync_api import expect

from tests.browser.test_browser import live_slider, panel, values

WORDS = 7


def cell(visit, name, row, column):
    return panel(visit, name).locator("tbody tr").nth(row).locator("td.cell").nth(column)


def allowed(visit, name="your mask"):
    """[row, column] of the cells that are set."""
    return [
        [i, j]
        for i, line in enumerate(values(visit, name))
        for j, value in enumerate(line)
        if value is not None
    ]


def test_a_click_draws_the_mask_and_it_is_in_the_link(visit):
    one = visit("masks")
    assert len(allowed(one)) == WORDS**2
    one.page.get_by_role("button", name="Start from causal").click()
    one.wait_for_choice("cells", "causal")
    assert allowed(one.ready()) == [[i, j] for i in range(WORDS) for j in range(i + 1)]
    before = one.drawn()
    cell(one, "your mask", 0, 6).click()
    one.wait_for_choice("cells", "41.3.7.f.1f.3f.7f")
    one.redrawn(before)
    assert [0, 6] in allowed(one)
    assert values(one, "weights")[0][6] > 0
    cell(one, "your mask", 2, 0).click()
    one.wait_for_choice("cells", "41.3.6.f.1f.3f.7f")
    followed = visit("masks", **one.choices)
    assert followed.drawn() == one.ready().drawn()
    one.page.get_by_role("button", name="Start from full").click()
    one.wait_for_choice("cells", None)


def test_a_click_beside_the_mask_shows_arithmetic_and_draws_nothing(visit):
    one = visit("masks", cells="causal")
    drawn = allowed(one)
    card = one.page.locator(".figure").filter(has=panel(one, "your mask")).locator(".card")
    for name, said in [("weights", "total ="), ("yours − full", "new − full =")]:
        cell(one, name, 2, 1).click()
        expect(card).to_contain_text(said)
        shown = values(one, name)[2][1]
        assert f"{shown:.4f}" in card.locator(".lines").inner_text().splitlines()[-1]
        assert allowed(one.ready()) == drawn
        assert one.choices["cells"] == "causal"
    cell(one, "your mask", 0, 6).click()
    one.wait_for_choice("cells", "41.3.7.f.1f.3f.7f")
    expect(card).to_be_hidden()


def test_back_takes_a_cell_back(visit):
    one = visit("masks")
    full = allowed(one)
    cell(one, "your mask", 0, 6).click()
    one.wait_for_choice("cells", "3f.7f.7f.7f.7f.7f.7f")
    assert [0, 6] not in allowed(one.ready())
    before = one.drawn()
    one.page.go_back()
    one.wait_for_choice("cells", None)
    one.redrawn(before)
    assert allowed(one) == full


def test_quick_clicks_are_all_heard(visit):
    one = visit("masks", cells="causal")
    panel(one, "your mask").evaluate(
        "(panel) => [3, 4, 5, 6].forEach((n) =>"
        " panel.querySelector('tbody').rows[0].querySelectorAll('td.cell')[n].click())"
    )
    one.wait_for_choice("cells", "79.3.7.f.1f.3f.7f")


def test_an_emptied_row_is_refused_and_nothing_is_lost(visit):
    one = visit("masks", cells="1.2.7.f.1f.3f.7f")
    cell(one, "your mask", 1, 1).click()
    one.wait_for_choice("cells", "1.0.7.f.1f.3f.7f")
    one.page.get_by_text("the mask leaves row 1 (of 7 queries) nothing to look at").first.wait_for()
    assert [1, 1] not in allowed(one.ready())
    assert len(allowed(one)) == 26
    cell(one, "your mask", 1, 0).click()
    one.wait_for_choice("cells", "1.1.7.f.1f.3f.7f")
    panel(one, "weights").wait_for()
    assert values(one.ready(), "weights")[1] == [1, *[None] * 6]


def test_across_a_click_means_the_pair_that_was_clicked(visit):
    one = visit("masks", queries="across", cells="causal")
    cell(one, "your mask", 6, 0).click()  # key 6 down the side, query 0 along the top
    one.wait_for_choice("cells", "41.3.7.f.1f.3f.7f")


def test_windows_and_layers_move_under_the_finger(visit):
    one = visit("masks")
    for label, name, key, last in [
        ("Width of the window", "window", "window", "24"),
        ("Layers stacked", "who knows of whom", "layers", "8"),
    ]:
        live = live_slider(one, label)
        seen, messages = [allowed(one, name)], one.sent
        live.focus()
        for step in ("1", "0"):
            live.evaluate(
                "(input, step) => { input.value = step; input.dispatchEvent(new Event('input')); }",
                step,
            )
            seen.append(allowed(one, name))
        assert all(a != b for a, b in pairwise(seen)), label
        assert one.sent == messages
        live.press("End")
        one.page.wait_for_function("(k) => new URLSearchParams(location.search).has(k)", arg=key)
        assert int(one.choices[key]) <= int(last)
        assert [6, 0] in allowed(one.ready(), name)


def test_a_wider_window_moves_what_was_won_and_lost(visit):
    one = visit("masks", window="2")
    before = values(one, "window − full")
    live_slider(one, "Width of the window").press("ArrowRight")
    one.wait_for_choice("window", None)  # three is the default
    one.ready()
    moved = values(one, "window − full")
    assert moved != before
    assert all(abs(sum(line)) < 1e-4 for line in moved)
