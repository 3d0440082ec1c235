"""Masks: what its pictures hold, what it refuses, and what it says to absurd links."""

import json
import re

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from explainers.attention import masks
from explainers.attention.scaled_dot_product import attention
from explainers.chapters.common.score_matrix import Lab, count_changed_rows
from explainers.chapters.masks import flex
from explainers.chapters.masks.changed_text import (
    BOTH,
    _write_percent,
    find_leak,
    list_next_words,
    measure_changes,
)
from explainers.chapters.masks.padded_batch import choose_second_sentence, measure_largest_change
from explainers.chapters.masks.side_by_side import count_cells
from explainers.chapters.masks.window_reach import NEVER, count_layers_needed
from explainers.toys.grammar import GRAMMARS
from explainers.toys.layers import draw_layer
from explainers.toys.sentence import MAX_TOKENS, SENTENCE
from explainers.ui.controls.mask_drawing import is_drawing, read_cells, write_cells
from tests.support.opening import PAGES, elements, opened, pictures
from tests.support.reading import said

PAGE = next(page for page in PAGES if page.stem == "05_masks")
UNTRAINED = {"weights": "untrained"}
WORDS = tuple(SENTENCE.split())
MARKS = {
    "two steps": "masked",
    "masks": "causal",
    "batch": "sentence 1",
    "leak": "0 after",
    "reach": "cone",
    "growing": "K, full",
}
"""A matrix by which each picture of the page is told from the others."""
CARDS = {"masks": "side_by_side", "batch": "batch", "reach": "reach", "growing": "one_pass"}
LAB = Lab(draw_layer(WORDS, 8, 1, 4, "full", seed=0), queries_down=True)


def unfolded(card, link=None):
    """The page with a card open."""
    return opened(PAGE, UNTRAINED | {"deep": card} | (link or {}))


def find_pictures(visit):
    return [json.loads(picture)[0] for picture in pictures(visit)]


def figure_of(visit, name):
    """One of the page's pictures, as it is sent."""
    drawn = [
        one
        for one in find_pictures(visit)
        if MARKS[name] in [panel["id"] for panel in one.get("panels", [])]
    ]
    assert len(drawn) == 1
    return drawn[0]


def panels(visit, figure):
    """{name: panel} of one of the page's pictures."""
    return {panel["id"]: panel for panel in figure_of(visit, figure)["panels"]}


def slider(visit, figure):
    return figure_of(visit, figure)["slider"]


def numbers(panel):
    """The cells of a panel; what is blank counts as 0."""
    return torch.tensor([[value or 0.0 for value in line] for line in panel["values"]])


def cones(visit):
    """The dots of the cone after one layer, two, …: the highest layer first, the words last."""
    return [torch.tensor(frame) for frame in panels(visit, "reach")["cone"]["frames"]]


def blank(panel):
    return torch.tensor([[value is None for value in line] for line in panel["values"]])


def test_cells_are_counted():
    found = panels(unfolded("side_by_side"), "masks")
    assert found["full"]["formula"] == "49 of 49 cells"
    assert found["causal"]["formula"] == "28 of 49 cells"
    assert found["window"]["formula"] == "18 of 49 cells"


@pytest.mark.parametrize("weights", ["untrained", "trained"])
def test_what_a_word_would_give_to_later_ones_is_what_full_attention_gives_them(weights):
    visit = unfolded("side_by_side", {"weights": weights})
    row = numbers(panels(visit, "masks")["full"])[2]
    [told] = re.findall(r"` announced ` gives (\d+) % of its attention", said(visit))
    assert int(told) == pytest.approx(100 * row[3:].sum().item(), abs=0.51)
    assert ":green-background[1.00]" in said(visit)


def test_the_question_knows_28():
    asking = unfolded("costs", {"predict": "true", "guess_cells": "28"})
    assert "Right: **28**." in said(asking)


def test_only_one_question_stands_before_a_picture():
    asking = opened(PAGE, UNTRAINED | {"predict": "true"})
    assert [radio.key for radio in asking.radio] == ["guess_leak"]
    assert [one.get("kind") for one in find_pictures(asking)] == ["masked", None]
    answered = opened(PAGE, UNTRAINED | {"predict": "true", "guess_leak": "in more than one"})
    assert len(find_pictures(answered)) == 3
    assert "Right: **in more than one**." in said(answered)
    assert "6 of 6 rows change" in " ".join(said(answered).replace("**", "").split())


@pytest.mark.parametrize(
    ("link", "cells"),
    [
        ({}, 28),
        ({"rule": "window", "window": "2"}, 13),
        ({"rule": "own", "cells": "1.3.6.8.10.21.7f"}, 16),
    ],
)
def test_what_the_mask_of_the_first_picture_leaves_is_shown_in_two_steps(link, cells):
    visit = opened(PAGE, link)
    found = panels(visit, "two steps")
    assert (~blank(found["masked"])).sum() == (~blank(found["weights"])).sum() == cells
    hidden = numbers(found["masked"]).masked_fill(blank(found["masked"]), -torch.inf)
    weights = numbers(found["weights"])
    torch.testing.assert_close(weights, hidden.softmax(dim=-1), atol=1e-3, rtol=1e-3)


def test_a_mask_shares_out_what_full_attention_gave_to_others():
    """Softmax after −∞ is full attention's row, cut and divided by what is left of it."""
    link = {"window": "2", "prefix": "4", "chunk": "3"}
    found = panels(unfolded("side_by_side", link), "masks")
    full = numbers(found["full"])
    for name, cells in {"causal": 28, "window": 13, "prefix": 34, "chunk": 13}.items():
        kept = full.masked_fill(blank(found[name]), 0)
        assert int((~blank(found[name])).sum()) == cells
        torch.testing.assert_close(
            numbers(found[name]), kept / kept.sum(dim=-1, keepdim=True), atol=1e-5, rtol=1e-4
        )


def test_an_emptied_row_is_refused_by_its_name():
    link = {"rule": "own", "cells": "1.3.0.f.1f.3f.7f"}
    visit = opened(PAGE, UNTRAINED | link)
    assert not visit.exception
    emptied = torch.tensor(read_cells("1.3.0.f.1f.3f.7f", 7))
    with pytest.raises(ValueError, match="nothing to look at") as refused:
        masks.build(masks.drawn(emptied), 7, 7)
    assert [warning.value for warning in visit.warning] == [f"Refused: {refused.value}."]
    shown = [panel["id"] for one in find_pictures(visit) for panel in one.get("panels", [])]
    assert "masked" not in shown, "there are no weights to be shown"
    card = said(unfolded("empty", link))
    assert "row 2, the word ` announced `" in card
    assert "**nan**" in card


def test_an_empty_row_is_nan_and_spreads():
    code = "\n".join(block.value for block in unfolded("empty").main.code)
    assert f"weights[2] = {[float('nan')] * 7}" in code
    assert f"output[2]  = {[float('nan')] * 4}" in code
    cells = LAB.mask(masks.causal).clone()
    cells[2] = False
    first = attention(*LAB.views, cells).output
    assert first.isnan().any(dim=-1).tolist() == [n == 2 for n in range(7)]
    second = attention(first, first, first, LAB.mask(masks.sliding_window(1))).output
    assert second.isnan().all(), "even where the weight of the empty row is 0"


def test_a_hidden_word_leaks_through_a_0_and_not_through_infinity():
    visit = opened(PAGE, UNTRAINED)
    found = panels(visit, "leak")
    after, before = found["0 after: new − old"], found["−∞ before: new − old"]
    assert after["rows"] == after["columns"] == list(WORDS[:-1]), "the last word is two words"
    assert after["formula"] == "in percent: 6 of 6 earlier rows change"
    assert before["formula"] == "in percent: 0 of 6 earlier rows change"
    rows = numbers(after).abs().amax(dim=-1)
    assert (rows > 0.5 * 10 ** -after["places"]).all(), "every change can be read"
    word, by = WORDS[rows.argmin()], f"{rows.min():.2f}"
    least = f"in the row of ` {word} ` change least, by at most {by} percent"
    assert least in " ".join(said(visit).split())
    assert numbers(before).abs().max() < 1e-4
    new = LAB.reading((*WORDS[:-1], "Monday")).weights(masks.full)
    moved = (new - LAB.weights(masks.full))[:-1, :-1].tril()
    torch.testing.assert_close(numbers(after), 100 * moved, atol=1e-4, rtol=1e-4)
    assert (numbers(found["0 after"]).sum(dim=-1)[:-1] < 0.99).all()
    torch.testing.assert_close(numbers(found["−∞ before"]).sum(dim=-1), torch.ones(7))


@pytest.mark.parametrize("seed", [0, 1])
def test_a_sharp_heads_small_leaks_are_leaks_too(seed):
    """Its weights for the last word may be as small as some millionths."""
    link = {"weights": "trained", "seed": str(seed)}
    found = panels(visit := opened(PAGE, UNTRAINED | link), "leak")
    for way, changed in {"0 after": 6, "−∞ before": 0}.items():
        moved = numbers(found[f"{way}: new − old"]).abs().amax(dim=-1)
        assert int((moved > 1e-4).sum()) == changed
        assert f"{changed} of 6 earlier rows" in found[f"{way}: new − old"]["formula"]
    least = numbers(found["0 after: new − old"]).abs().amax(dim=-1).min()
    [told] = re.findall(r"change least, by at most ([\d.]+) percent", " ".join(said(visit).split()))
    assert float(told) == pytest.approx(least.item(), abs=0.005)
    assert float(told), "however small, it is not printed as 0"


@pytest.mark.parametrize(
    ("share", "told"), [(0.5, "50.00"), (2.4e-3, "0.24"), (3.8e-6, "0.0004"), (1e-7, "less")]
)
def test_a_share_too_small_to_be_printed_is_not_printed_as_0(share, told):
    assert _write_percent(100 * share).removesuffix(" than 0.0001") == told


@pytest.mark.parametrize(
    ("text", "real"),
    [(SENTENCE, (7, 3)), ("one two three", (3, 2)), ("x", (1, 3))],
    ids=["longer", "as long", "shorter"],
)
def test_nobody_looks_at_the_filling(text, real):
    found = panels(unfolded("batch", {"text": text}), "batch").values()
    for panel, words in zip(found, real, strict=True):
        hidden = blank(panel)
        assert not hidden[:, :words].any()
        assert hidden[:, words:].all()
        assert panel["columns"][words:] == ["[pad]"] * (max(real) - words)
        torch.testing.assert_close(
            numbers(panel).sum(dim=-1), torch.ones(max(real)), atol=1e-4, rtol=0
        )


@pytest.mark.parametrize("place", [(0, 1, 2), (1, 2, 0), (1, 0, 1)])
def test_a_batch_that_changes_one_weight_is_found(place):
    alone = [torch.rand(7, 7), torch.rand(3, 3)]
    together = torch.zeros(2, 7, 7)
    for sentence, weights in zip(together, alone, strict=True):
        sentence[: len(weights), : len(weights)] = weights
    assert measure_largest_change(together, alone) == 0
    together[place] += 0.25
    assert measure_largest_change(together, alone) == pytest.approx(0.25)
    together[1, 5, 6] = 9
    assert measure_largest_change(together, alone) == pytest.approx(0.25), "the filling is nobody's"


@pytest.mark.parametrize("language", GRAMMARS)
def test_words_that_the_page_adds_are_known_in_the_language_of_the_text(language):
    tokens, known = GRAMMARS[language].running.tokens, GRAMMARS[language].word_ids
    lab = Lab(draw_layer(tokens, 8, 1, 4, "full", seed=0), queries_down=True)
    second = choose_second_sentence(tokens)
    assert len(second) == 3
    assert {word.casefold() for word in (*second, find_leak(lab).new)} <= set(known)
    assert len(choose_second_sentence(second)) == 2


def badges(visit):
    found = [e.value for e in elements(visit.main) if e.type == "markdown"]
    return [value for value in found if value.startswith(":gray-badge[")]


def test_badges_count_every_word_that_training_never_saw():
    visit = unfolded("batch", {"weights": "trained"})
    *shown, batch = badges(visit)
    assert len(shown) == 3
    assert not re.findall(r"\d+ unknown", " ".join(shown))
    assert re.findall(r"(\d+) unknown", batch) == ["1"], "the filling"
    assert "The head has never seen ` [pad] `" in said(visit)
    assert "[pad] `, so" not in said(unfolded("batch"))
    assert badges(unfolded("one_pass"))[-1].startswith(
        ":gray-badge[:material/info: untrained weights"
    )


def test_words_that_training_never_saw_are_drawn_where_untrained_weights_are_asked_for():
    visit = opened(PAGE, {"text": "The zebra saw gnus"})
    assert find_pictures(visit)[0]["tokens"] == SENTENCE.split()
    assert "New to it: ` zebra `, ` saw `, ` gnus `." in visit.info[0].value
    next(button for button in visit.button if "untrained" in button.label).click()
    visit.run()
    assert find_pictures(visit)[0]["tokens"] == ["The", "zebra", "saw", "gnus"]
    assert not visit.info
    assert visit.query_params["weights"] == "untrained"


def test_friday_needs_three_layers_to_reach_the_ceo():
    assert count_layers_needed(3, WORDS.index("Friday") - WORDS.index("CEO")) == "3"
    visit = unfolded("reach", {"predict": "true", "guess_reach": "3"})
    assert "Right: **3**." in said(visit)
    assert [frame[-1, 1].item() for frame in cones(visit)[:4]] == [0, 0, 1, 1]


@pytest.mark.parametrize("width", range(1, 6))
def test_the_dots_of_the_cone_are_the_cells_that_masks_reach(width):
    mask = masks.build(masks.sliding_window(width), len(WORDS), len(WORDS)).float()
    drawn = cones(unfolded("reach", {"reach_window": f"{width}"}))
    assert len(drawn) == 8
    for layers, cone in enumerate(drawn, 1):
        below = [torch.linalg.matrix_power(mask, n)[-1] > 0 for n in range(layers + 1)]
        above = [torch.zeros(len(WORDS), dtype=torch.bool)] * (8 - layers)
        assert torch.equal(cone.bool(), torch.stack([*above, *below]))


@given(width=st.integers(2, 6), far=st.integers(1, 23))
def test_layers_needed_are_as_the_formula_says(width, far):
    layers = int(count_layers_needed(width, far))
    assert layers * (width - 1) + 1 >= far + 1 > (layers - 1) * (width - 1) + 1


def test_layers_begin_where_the_question_ends():
    visit = unfolded("reach")
    assert slider(visit, "reach")["index"] == 3 - 1
    cone = panels(visit, "reach")["cone"]
    assert cone["values"] == cone["frames"][3 - 1]
    assert cone["rows"] == [*"876543210"]
    assert [int(frame[-1].sum()) for frame in cones(visit)] == [3, 5, 7, 7, 7, 7, 7, 7]


@pytest.mark.parametrize(
    ("width", "seen"), [("1", "only itself"), ("2", "the one before it"), ("4", "the 3 before it")]
)
def test_a_window_in_words(width, seen):
    asking = unfolded("reach", {"predict": "true", "reach_window": width})
    assert re.search(f"a word sees [^.]*{seen}\\. Number", said(asking))


def test_a_window_of_one_reaches_nobody():
    assert count_layers_needed(1, 5) == NEVER
    assert count_layers_needed(1, 0) == "1"
    visit = unfolded("reach", {"reach_window": "1", "layers": "8"})
    assert int(numbers(panels(visit, "reach")["cone"]).sum()) == 8 + 1


def test_costs_are_the_closed_forms():
    n, width, prefix, chunk = 37, 5, 11, 4
    assert (
        count_cells({"window": width, "prefix": prefix, "chunk": chunk}, n).items()
        >= {
            "full": n * n,
            "causal": n * (n + 1) // 2,
            "window": n * width - width * (width - 1) // 2,
            "prefix": n * (n + 1) // 2 + prefix * (prefix - 1) // 2,
            "chunk": n // chunk * chunk * (chunk + 1) // 2 + 1,
        }.items()
    )
    assert "| window of 3 | 18 | 3,069 | 0.3 % |" in said(unfolded("costs"))
    chosen = said(unfolded("costs", {"window": "2", "prefix": "4"}))
    assert "| window of 2 | 13 | 2,047 | 0.2 % |" in chosen
    assert "| prefix of 4 | 34 | 524,806 |" in chosen


def test_one_more_word_changes_every_row_of_full_attention_and_none_of_causal():
    for seed in (0, 1, 2):
        moved = {name: measure_changes(WORDS, rule, seed) for name, rule in BOTH.items()}
        assert [count_changed_rows(moved["full"].key), count_changed_rows(moved["full"].value)] == [
            7,
            7,
        ]
        assert [
            count_changed_rows(moved["causal"].key),
            count_changed_rows(moved["causal"].value),
        ] == [0, 0]


def test_a_window_wider_than_the_text_is_causal_and_said_so():
    visit = unfolded("side_by_side", {"window": "20"})
    found = panels(visit, "masks")
    assert found["window"]["values"] == found["causal"]["values"]
    assert "A window of 20 is wider than this text of 7" in said(visit)
    assert visit.session_state["window"] == 20, "another text may have room for it"
    assert "is wider than" not in said(unfolded("side_by_side", {"window": "7"}))


@pytest.mark.parametrize("text", ["x", "x y", "x y z", " ".join(f"w{n}" for n in range(24))])
def test_heads_read_texts_of_any_length(text):
    visit = unfolded("side_by_side", {"text": text, "queries": "across"})
    assert not visit.exception
    hero, *others = pictures(visit)
    assert "nan" not in "".join(others).lower()
    assert "NaN" not in hero


def test_a_number_that_was_clicked_is_not_put_off():
    def counting():
        import streamlit as st

        from explainers.ui.controls import controls

        if "clicked" in st.session_state:
            controls.row.put(st.session_state.pop("clicked"))
        controls.row(0, st.session_state.get("room", 9))

    visit = AppTest.from_function(counting).run()
    visit.number_input(key="row").set_value(7).run()
    shown = []
    for told in ({"room": 3}, {"room": 9}, {"room": 3}, {"clicked": 3}, {"room": 9}):
        for name, number in told.items():
            visit.session_state[name] = number
        shown.append(visit.run().number_input(key="row").value)
    assert shown == [3, 7, 3, 3, 3]


@pytest.mark.parametrize("predict", ["true", "false"])
@pytest.mark.parametrize("text", ["x", "x y"])
def test_a_text_too_short_for_questions(text, predict):
    visit = unfolded("side_by_side", {"text": text, "predict": predict})
    words = len(text.split())
    assert not visit.exception
    assert not visit.info
    assert not visit.radio
    assert not re.search(r"\b1 words|\b0 (earlier|before)", said(visit))
    assert f"This text has {'1 word' if words == 1 else '2 words'}." in said(visit)
    assert len(pictures(visit)) == 3
    for name in (mask.name for mask in masks.MASKS):
        sums = numbers(panels(visit, "masks")[name]).sum(dim=-1)
        torch.testing.assert_close(sums, torch.ones(words))


@pytest.mark.parametrize(("words", "is_small"), [(12, False), (13, True), (24, True)])
@pytest.mark.parametrize("card", [card for card in CARDS if card != "reach"])
def test_tables_of_a_long_text_are_miniatures(card, words, is_small):
    visit = unfolded(CARDS[card], {"text": " ".join(f"w{n}" for n in range(words))})
    for figure in (card, "leak", "two steps"):
        assert {panel["small"] for panel in panels(visit, figure).values()} == {is_small}


@pytest.mark.parametrize(
    "cells",
    [
        *("", " ", "nonsense", "1.3", "1..7", "01.03.07", "1.3.F", "-1", "8.8.8", "1" * 5_000),
        *(".".join(["ffffff"] * 25), "1.3.7\x00", "<script>", "٣"),
    ],
)
def test_an_absurd_drawing_in_a_link(cells):
    visit = opened(PAGE, UNTRAINED | {"cells": cells, "text": "one two three", "seed": "7"})
    rule = masks.full
    assert not visit.exception
    if cells == "1.3":  # a drawing for two words: the third one follows the causal rule
        assert not visit.info
        assert "drawn for 2 words, and the text has 3" in said(visit)
        rule = masks.causal
    else:
        assert ["cells =" in note.value for note in visit.info] == [True]
        assert len(visit.info[0].value) < 300
    drawing = find_pictures(visit)[0]["choices"]["cells"]
    assert torch.equal(torch.tensor(read_cells(drawing, 3)), masks.build(rule, 3, 3))
    assert visit.session_state["seed"] == 7


@pytest.mark.parametrize("value", ["", "0", "25", "1e999", "nan", "three", "2.5"])
def test_absurd_widths_lengths_and_layers_in_a_link(value):
    link = {"window": value, "prefix": value, "layers": value, "reach_window": value}
    visit = unfolded("reach", {**link, "seed": "7"})
    assert not visit.exception
    notes = " ".join(note.value for note in visit.info)
    refused = set(link) - ({"prefix"} if value == "0" else set())
    assert {key for key in link if f"{key} =" in notes} == refused
    assert visit.session_state["seed"] == 7


def rows(side):
    return st.lists(st.booleans(), min_size=side, max_size=side)


@given(st.integers(1, MAX_TOKENS).flatmap(lambda n: st.lists(rows(n), min_size=n, max_size=n)))
def test_a_drawing_comes_back_from_its_link(cells):
    written = write_cells(cells)
    assert is_drawing(written)
    assert read_cells(written, len(cells)) == cells


def test_a_drawing_for_a_longer_text_is_cut_and_for_a_shorter_one_goes_on():
    cells = [[True, True, False], [False, True, True], [True, False, False]]
    written = write_cells(cells)
    assert read_cells(written, 2) == [line[:2] for line in cells[:2]]
    longer = read_cells(written, 5)
    assert [line[:3] for line in longer[:3]] == cells
    assert [line[3:] for line in longer[:3]] == [[False, False]] * 3
    assert longer[3:] == [[True] * 4 + [False], [True] * 5]


def test_what_one_pass_trains_is_a_triangle():
    shown = list_next_words(("The", "CEO", "announced")).split("\n")
    assert shown == [
        "The               → CEO",
        "The CEO           → announced",
        "The CEO announced → ?",
    ]


def test_flexattention_reads_the_blocks_that_we_count():
    for name, rule in flex.make_rules().items():
        ours = flex.count_blocks(rule, 192, 32)
        assert flex.count_flex_blocks(rule, 192, 32) == ours, name
        assert ours.full <= ours.read
        assert flex.measure_difference(rule, 64, seed=3) <= 1e-6


def test_the_card_on_flexattention_compares_and_asks():
    shown = said(unfolded("costs", {"predict": "false"}))
    assert "| window of 256 | 229,504 | 21 | 21 | 7 |" in shown
    assert "| chunk of 256 | 131,584 | 12 | 12 | 4 |" in shown
    answer, options, named = flex.ask_chunk_blocks()
    assert (answer, options) == ("12", ["12", "21", "36"])
    assert (named["window"], named["all"]) == (21, 64)
