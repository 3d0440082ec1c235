"""Masks: their pictures are what torch computes, and what cannot be is refused in words."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from explainers.attention import masks
from explainers.attention.rules import Mask, Rule
from explainers.attention.scaled_dot_product import attention
from explainers.chapters.common.score_matrix import Lab, count_changed_rows
from explainers.chapters.masks import flex
from explainers.chapters.masks.changed_text import BOTH, _write_percent, find_leak, measure_changes
from explainers.chapters.masks.hero import DrawnChoice, compute_numbers
from explainers.chapters.masks.padded_batch import choose_second_sentence, measure_largest_change
from explainers.chapters.masks.side_by_side import count_cells
from explainers.chapters.masks.window_reach import NEVER, count_layers_needed
from explainers.toys.grammar import GRAMMARS
from explainers.toys.layers import draw_layer
from explainers.toys.readable_head import FILM_SEED, load_readable_layer
from explainers.toys.sentence import MAX_TOKENS, SENTENCE
from explainers.ui.controls import controls
from explainers.ui.controls.mask_drawing import is_drawing, read_cells, write_cells
from tests.support.opening import PAGES, opened
from tests.support.reading import figures, hero, panels, said

PAGE = next(page for page in PAGES if page.stem == "05_masks")
UNTRAINED = {"weights": "untrained"}
WORDS = tuple(SENTENCE.split())
LAB = Lab(draw_layer(WORDS, 8, 1, 4, "full", seed=0), queries_down=True)
TRAINED = Lab(load_readable_layer(WORDS, "full", FILM_SEED), queries_down=True)


def unfolded(card, link=None):
    """The page with a card open."""
    return opened(PAGE, UNTRAINED | {"deep": card} | (link or {}))


def numbers(panel):
    """The cells of a panel; what is blank counts as 0."""
    return torch.tensor([[value or 0.0 for value in line] for line in panel["values"]])


def blank(panel):
    return torch.tensor([[value is None for value in line] for line in panel["values"]])


def read_bits(rows):
    return torch.tensor([[bool(row >> place & 1) for place in range(len(rows))] for row in rows])


def dilate(step):
    return Rule(lambda query, key: (key <= query) & ((query - key) % step == 0))


DILATED = Mask("dilated", dilate, "Distance", 2, 1)


@pytest.mark.parametrize("mask", [*masks.MASKS, DILATED], ids=lambda mask: mask.name)
def test_every_frame_of_the_picture_is_what_attention_computes(mask):
    """Also of a mask that is new in the table."""
    sent = compute_numbers(TRAINED, (*masks.MASKS, DILATED))["masks"]
    [frames] = [one["frames"] for one in sent if one["name"] == mask.name]
    assert len(frames) == (8 - mask.least if mask.parameter else 1)
    for number, frame in enumerate(frames, mask.least):
        allowed = TRAINED.mask(mask.of(number))
        assert torch.equal(read_bits(frame["allowed"]), allowed)
        expected = attention(*TRAINED.views, allowed).weights
        torch.testing.assert_close(torch.tensor(frame["weights"]), expected, atol=6e-5, rtol=0)


def test_a_mask_shares_out_what_full_attention_gave_to_others():
    """Softmax after −∞ is full attention's row, cut and divided by what is left of it."""
    link = {"window": "2", "prefix": "4", "chunk": "3", "seed": "3"}
    found = panels(unfolded("side_by_side", link), "scores")
    full = numbers(found["full"])
    for name, cells in {"causal": 28, "window": 13, "prefix": 34, "chunk": 13}.items():
        kept = full.masked_fill(blank(found[name]), 0)
        assert int((~blank(found[name])).sum()) == cells
        torch.testing.assert_close(
            numbers(found[name]), kept / kept.sum(dim=-1, keepdim=True), atol=1e-5, rtol=1e-4
        )


def test_an_emptied_row_is_refused_by_its_name_and_is_nan_that_spreads():
    link = {"rule": "own", "cells": "1.3.0.f.1f.3f.7f"}
    visit = opened(PAGE, UNTRAINED | link)
    [warning] = visit.warning
    assert warning.value.startswith("Refused: ")
    assert "nothing to look at" in warning.value
    assert not [p for one in figures(visit) for p in one["panels"] if p["id"] == "masked"]
    assert "row 2, the word ` announced `" in said(unfolded("empty", link))
    cells = LAB.mask(masks.causal).clone()
    cells[2] = False
    first = attention(*LAB.views, cells).output
    assert first.isnan().any(dim=-1).tolist() == [n == 2 for n in range(7)]
    second = attention(first, first, first, LAB.mask(masks.sliding_window(1))).output
    assert second.isnan().all(), "even where the weight of the empty row is 0"


@pytest.mark.parametrize("link", [{"seed": "0"}, {"weights": "trained", "seed": "1"}])
def test_a_hidden_word_leaks_through_a_0_and_not_through_infinity(link):
    """A trained head is sharp: what leaks through it may be as small as some millionths."""
    found = panels(opened(PAGE, UNTRAINED | link), "0 after")
    after, before = (found[f"{way}: new − old"] for way in ("0 after", "−∞ before"))
    assert after["rows"] == after["columns"] == list(WORDS[:-1]), "the last word is two words"
    assert (numbers(after).abs().amax(dim=-1) > 1e-4).all()
    assert numbers(before).abs().max() < 1e-4
    torch.testing.assert_close(numbers(found["−∞ before"]).sum(dim=-1), torch.ones(7))
    if "weights" in link:
        return
    assert (numbers(found["0 after"]).sum(dim=-1)[:-1] < 0.99).all()
    new = LAB.reading((*WORDS[:-1], "Monday")).weights(masks.full)
    moved = (new - LAB.weights(masks.full))[:-1, :-1].tril()
    torch.testing.assert_close(numbers(after), 100 * moved, atol=1e-4, rtol=1e-4)


def test_a_share_too_small_to_be_printed_is_not_printed_as_0():
    told = {0.5: "50.00", 2.4e-3: "0.24", 3.8e-6: "0.0004", 1e-7: "less than 0.0001"}
    assert {share: _write_percent(100 * share) for share in told} == told


@pytest.mark.parametrize("place", [(0, 1, 2), (1, 2, 0), (1, 0, 1)])
def test_a_batch_that_changes_one_weight_is_found(place):
    alone = [torch.rand(7, 7), torch.rand(3, 3)]
    together = torch.zeros(2, 7, 7)
    for sentence, weights in zip(together, alone, strict=True):
        sentence[: len(weights), : len(weights)] = weights
    assert measure_largest_change(together, alone) == 0
    together[place] += 0.25
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


@pytest.mark.parametrize("width", [1, 2, 4])
def test_the_dots_of_the_cone_are_the_cells_that_masks_reach(width):
    mask = masks.build(masks.sliding_window(width), 7, 7).float()
    visit = unfolded("reach", {"reach_window": f"{width}", "layers": "8", "predict": "true"})
    cone = panels(visit, "cone")["cone"]
    for layers, drawn in enumerate(cone["frames"], 1):
        below = [torch.linalg.matrix_power(mask, n)[-1] > 0 for n in range(layers + 1)]
        above = [torch.zeros(7, dtype=torch.bool)] * (8 - layers)
        assert torch.equal(torch.tensor(drawn).bool(), torch.stack([*above, *below]))
    assert layers == 8
    seen = {1: "only itself", 2: "the one before it", 4: "the 3 before it"}
    assert f"{seen[width]}. Number" in said(visit)


@given(width=st.integers(2, 6), far=st.integers(1, 23))
def test_layers_needed_are_as_the_formula_says(width, far):
    layers = int(count_layers_needed(width, far))
    assert layers * (width - 1) + 1 >= far + 1 > (layers - 1) * (width - 1) + 1
    assert (count_layers_needed(1, far), count_layers_needed(1, 0)) == (NEVER, "1")


def test_costs_are_the_closed_forms():
    n, width, prefix, chunk = 37, 5, 11, 4
    closed = {
        "full": n * n,
        "causal": n * (n + 1) // 2,
        "window": n * width - width * (width - 1) // 2,
        "prefix": n * (n + 1) // 2 + prefix * (prefix - 1) // 2,
        "chunk": n // chunk * chunk * (chunk + 1) // 2 + 1,
    }
    counted = count_cells({"window": width, "prefix": prefix, "chunk": chunk}, n)
    assert counted.items() >= closed.items()


def test_flexattention_reads_the_blocks_that_we_count():
    for name, rule in flex.make_rules().items():
        ours = flex.count_blocks(rule, 192, 32)
        assert flex.count_flex_blocks(rule, 192, 32) == ours, name
        assert ours.full <= ours.read
        assert flex.measure_difference(rule, 64, seed=3) <= 1e-6


@pytest.mark.parametrize("seed", range(3))
def test_one_more_word_changes_every_row_of_full_attention_and_none_of_causal(seed):
    moved = [measure_changes(WORDS, rule, seed) for rule in (BOTH["full"], BOTH["causal"])]
    changed = [[count_changed_rows(part) for part in (one.key, one.value)] for one in moved]
    assert changed == [[7, 7], [0, 0]]


def test_a_window_wider_than_the_text_is_causal_and_said_so():
    visit = unfolded("side_by_side", {"window": "20"})
    found = panels(visit, "scores")
    assert found["window"]["values"] == found["causal"]["values"]
    assert "A window of 20 is wider than this text of 7" in said(visit)
    assert visit.session_state["window"] == 20, "another text may have room for it"
    assert "is wider than" not in said(unfolded("side_by_side", {"window": "7"}))


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


@pytest.mark.parametrize("text", ["x", "x y"])
def test_a_text_too_short_for_questions(text):
    visit = unfolded("side_by_side", {"text": text, "predict": "true"})
    assert not visit.radio
    assert f"This text has {'2 words' if ' ' in text else '1 word'}." in said(visit)
    assert len(figures(visit)) == 2


@pytest.mark.parametrize(("words", "is_small"), [(12, False), (13, True)])
def test_tables_of_a_long_text_are_miniatures(words, is_small):
    visit = unfolded("side_by_side", {"text": " ".join(f"w{n}" for n in range(words))})
    drawn = [panel for one in figures(visit) for panel in one["panels"]]
    assert {panel["small"] for panel in drawn} == {is_small}


DRAWN = "1.3"
NO_DRAWINGS = (
    *("", " ", "nonsense", "1..7", "01.03.07", "1.3.F", "-1", "8.8.8", "1" * 5_000),
    *(".".join(["ffffff"] * 25), "1.3.7\x00", "<script>", "٣"),
)


def test_what_is_no_drawing_is_taken_from_no_link_and_no_browser():
    choice = DrawnChoice(controls.drawn_cells, (), "full")
    assert choice.accepts("1.3.7")
    assert not [one for one in NO_DRAWINGS if is_drawing(one)]
    assert not [one for one in (*NO_DRAWINGS, 7, None) if choice.accepts(one)]
    for cells in ("8.8.8", "1" * 5_000):
        visit = opened(PAGE, UNTRAINED | {"cells": cells, "text": "one two three"})
        [note] = visit.info
        assert "cells =" in note.value
        assert len(note.value) < 300
        drawing = read_cells(hero(visit)["choices"]["cells"], 3)
        assert torch.equal(torch.tensor(drawing), masks.build(masks.full, 3, 3))
    visit = opened(PAGE, UNTRAINED | {"cells": DRAWN, "text": "one two three"})
    assert not visit.info
    assert "drawn for 2 words, and the text has 3" in said(visit)
    goes_on = torch.tensor(read_cells(hero(visit)["choices"]["cells"], 3))
    assert torch.equal(goes_on, masks.build(masks.causal, 3, 3))


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
