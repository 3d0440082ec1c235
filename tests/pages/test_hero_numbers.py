"""First pictures: numbers that are computed in a way of their own, and what a browser may choose.

What is computed so, torch computes as well. All else that is sent is held by `tests/golden`.
"""

import json

import pytest
import streamlit as st
import torch

from explainers.attention import masks
from explainers.attention.multi_head import multi_head
from explainers.attention.tiled import tile_cells
from explainers.chapters.long_sequences.hero import TILE, count_read_tiles
from explainers.chapters.many_heads import (
    Selection,
    compute_small_layers,
    list_switches,
    make_equal_heads,
)
from explainers.chapters.scores import TEMPERATURES, compute_numbers
from explainers.chapters.start import compute_first_pictures
from explainers.toys.layers import FILM_SEED, NUM_HEADS, load_layer, load_readable_layer
from explainers.ui.controls import controls
from explainers.ui.figure.hero import Experiment, Hero, HeroChoice
from explainers.ui.page_parts.first_picture import FILE
from explainers.ui.text.numbers import write_percent
from tests.golden.compare import compare
from tests.ui.test_browser_arithmetic import run

OTHER = ("On", "Sunday", "the", "coach", "proudly", "praised", "young", "fans")
DRAGGED = """temperatures.map((temperature) => products.map((row) => {
  const weights = softmax(row, temperature);
  return { weights, output: sumWeighted(weights, value) };
}))"""


def test_what_is_dragged_on_the_page_on_scores_is_what_torch_computes():
    numbers = compute_numbers(load_readable_layer(OTHER, "full", FILM_SEED))
    given = {name: numbers[name] for name in ("products", "value", "temperatures")}
    computed = run("common/numbers.js", "softmax, sumWeighted", DRAGGED, **given)
    assert len(computed) == len(TEMPERATURES) > 30
    products = torch.tensor(numbers["products"], dtype=torch.double)
    value = torch.tensor(numbers["value"], dtype=torch.double)
    for temperature, rows in zip(TEMPERATURES, computed, strict=True):
        weights = (products / temperature).softmax(-1)
        told = torch.tensor([row["weights"] for row in rows], dtype=torch.double)
        torch.testing.assert_close(told, weights, atol=1e-12, rtol=1e-9)
        outputs = torch.tensor([row["output"] for row in rows], dtype=torch.double)
        torch.testing.assert_close(outputs, weights @ value, atol=1e-9, rtol=1e-9)


@pytest.mark.parametrize("heads", NUM_HEADS)
def test_how_long_what_heads_add_is_follows_from_its_parts(heads):
    """That of heads that are off is what the output loses."""
    sent = torch.tensor(compute_small_layers(OTHER)[str(heads)]["parts"])
    layer = load_layer(OTHER, make_equal_heads(heads), 0)
    run = multi_head(layer.x, layer.heads, layer.mask)
    for off in ({0}, {*range(0, heads, 2)}):
        lost = (run.output - Selection(layer, 0, off).output).norm(dim=-1).square()
        parts = sent[:, [*off]][:, :, [*off]]
        torch.testing.assert_close(parts.sum(dim=(1, 2)), lost.cpu(), atol=1e-3, rtol=1e-3)


def test_every_choice_of_heads_that_are_off_is_named_once():
    assert len({*list_switches(8)}) == len(list_switches(8)) == 2 ** max(NUM_HEADS)
    assert list_switches(11)[1] == "a", "a digit for each head"


@pytest.mark.parametrize("mask", masks.RULES)
def test_the_tiles_of_long_texts_are_those_that_the_mask_leaves(mask):
    for tokens in (1_024, 2_048):
        found = tile_cells(masks.RULES[mask], tokens, tokens, TILE, TILE)
        assert count_read_tiles(mask, tokens) == int((found > 0).sum())


def test_what_a_new_server_shows_first_is_what_the_page_computes():
    kept = json.loads(FILE.read_text(encoding="utf-8"))
    assert [*map(str, compare("", kept, json.loads(json.dumps(compute_first_pictures()))))] == []


def test_percentages_are_rounded_as_in_the_browser():
    told = {0: "0 %", 0.004: "< 1 %", 0.005: "1 %", 0.125: "13 %", 1: "100 %"}
    for weight, written in told.items():
        assert write_percent(weight).replace("\N{NO-BREAK SPACE}", " ") == written


WORDS = HeroChoice(controls.followed_word, range(3), 2)


def test_a_choice_is_taken_back_before_it_was_drawn(monkeypatch):
    monkeypatch.setattr(st, "session_state", {})
    hero = Hero("start", "", {}, (WORDS,), ())
    for told, kept in (({"word": 2}, None), ({"word": 0}, 0), ({"word": 9}, 0), ({"word": 2}, 2)):
        hero.take(told)
        assert st.session_state.get("word") == kept


def test_a_browser_may_ask_for_what_is_offered_and_for_what_a_button_chooses():
    """A button may choose a word of another sentence, which is longer."""
    hero = Hero("start", "", {}, (WORDS,), (), [Experiment("it", "", {"word": 7})])
    assert all(hero.accepts(WORDS, value) for value in (0, 2, 7))
    for value in (3, 8, True, 2.0, "2", None, [2]):
        assert not hero.accepts(WORDS, value)
