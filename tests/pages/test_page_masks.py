"""Masks: what cannot be is refused in words, and a drawing comes back from its link."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from explainers.chapters.masks import cards
from explainers.chapters.masks.cards import measure_largest_change
from explainers.chapters.masks.hero import DrawnChoice
from explainers.toys.grammar import GRAMMARS, choose_other_ending
from explainers.toys.sentence import MAX_TOKENS, MOST_DRAWN
from explainers.ui.controls import controls
from explainers.ui.controls.name_controls import is_drawing, read_cells, write_cells
from tests.support.opening import PAGES, opened
from tests.support.reading import figures, hero, panels, said

PAGE = next(page for page in PAGES if page.stem == "05_masks")
UNTRAINED = {"weights": "untrained"}


def test_an_emptied_row_is_refused_by_its_name():
    visit = opened(PAGE, UNTRAINED | {"rule": "own", "cells": "1.3.0.f.1f.3f.7f"})
    assert "nothing to look at" in visit.warning[0].value
    assert not [p for one in figures(visit) for p in one["panels"] if p["id"] == "masked"]


@pytest.mark.parametrize("place", [(0, 1, 2), (1, 2, 0)])
def test_a_batch_that_changes_one_weight_is_found(place):
    alone, together = [torch.rand(7, 7), torch.rand(3, 3)], torch.zeros(2, 7, 7)
    together[0], together[1, :3, :3] = alone
    assert measure_largest_change(together, alone) == 0
    together[place] += 0.25
    together[1, 5, 6] = 9
    assert measure_largest_change(together, alone) == pytest.approx(0.25), "the filling is nobody's"


@pytest.mark.parametrize("language", GRAMMARS)
def test_words_that_the_page_adds_are_known_in_the_language_of_the_text(language):
    tokens, known = GRAMMARS[language].running.tokens, GRAMMARS[language].word_ids
    second = cards.choose_second_sentence(tokens)
    assert (len(second), len(cards.choose_second_sentence(second))) == (3, 2)
    assert {word.casefold() for word in (*second, choose_other_ending(tokens))} <= set(known)


@given(width=st.integers(2, 6), far=st.integers(1, 23))
def test_layers_needed_are_as_the_formula_says(width, far):
    layers = int(cards.count_layers_needed(width, far))
    assert layers * (width - 1) + 1 >= far + 1 > (layers - 1) * (width - 1) + 1
    assert cards.count_layers_needed(1, far) == cards.NEVER
    assert cards.count_layers_needed(1, 0) == "1"


def test_a_window_wider_than_the_text_is_causal_and_said_so():
    visit = opened(PAGE, UNTRAINED | {"deep": "side_by_side", "window": "20"})
    found = panels(visit, "scores")
    assert found["window"]["values"] == found["causal"]["values"]
    assert "A window of 20 is wider than this text of 7" in said(visit)
    assert visit.session_state["window"] == 20, "another text may have room for it"


def test_a_number_that_was_clicked_is_not_put_off():
    def counting():
        import streamlit as st

        from explainers.ui.controls import controls

        if "clicked" in st.session_state:
            controls.own_rope.put(st.session_state.pop("clicked"))
        controls.own_rope(0, st.session_state.get("room", 9))

    visit = AppTest.from_function(counting).run()
    visit.number_input(key="own_rope").set_value(7).run()
    shown = []
    for told in ({"room": 3}, {"room": 9}, {"room": 3}, {"clicked": 3}, {"room": 9}):
        for name, number in told.items():
            visit.session_state[name] = number
        shown.append(visit.run().number_input(key="own_rope").value)
    assert shown == [3, 7, 3, 3, 3]


NO_DRAWINGS = (
    *("", " ", "nonsense", "1..7", "01.03.07", "1.3.F", "-1", "8.8.8", "1" * 5_000),
    *(".".join(["ffffff"] * (MOST_DRAWN + 1)), "1.3.7\x00", "<script>", "٣"),
)


def test_what_is_no_drawing_is_taken_from_no_link_and_no_browser():
    choice = DrawnChoice(controls.drawn_cells, (), "full")
    assert choice.accepts("1.3.7")
    assert not [one for one in NO_DRAWINGS if is_drawing(one)]
    assert not [one for one in (*NO_DRAWINGS, 7, None) if choice.accepts(one)]
    visit = opened(PAGE, UNTRAINED | {"cells": "1" * 5_000, "text": "one two three"})
    assert "cells =" in visit.info[0].value
    assert len(visit.info[0].value) < 300
    assert hero(visit)["choices"]["cells"] == "full"


@given(st.integers(1, MAX_TOKENS), st.data())
def test_a_drawing_comes_back_from_its_link(side, data):
    row = st.lists(st.booleans(), min_size=side, max_size=side)
    cells = data.draw(st.lists(row, min_size=side, max_size=side))
    written = write_cells(cells)
    assert is_drawing(written)
    assert read_cells(written, side) == cells


def test_a_drawing_for_a_longer_text_is_cut_and_for_a_shorter_one_goes_on():
    cells = [[True, True, False], [False, True, True], [True, False, False]]
    written = write_cells(cells)
    assert read_cells(written, 2) == [line[:2] for line in cells[:2]]
    longer = [[True] * 4 + [False], [True] * 5]
    assert read_cells(written, 5) == [[*line, False, False] for line in cells] + longer
    visit = opened(PAGE, UNTRAINED | {"cells": "1.3", "text": "one two three"})
    assert not visit.info
    assert "drawn for 2 words, and the text has 3" in said(visit)
    causal = [[True, False, False], [True, True, False], [True, True, True]]
    assert read_cells(hero(visit)["choices"]["cells"], 3) == causal
