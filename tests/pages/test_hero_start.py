"""The start page's picture: its numbers are torch's, and its remarks are the picture's numbers."""

import json
import math

import pytest
import streamlit as st
import torch
from torch.nn.functional import scaled_dot_product_attention

from explainers.chapters.common.reader_sentence import find_nearest_sentence
from explainers.chapters.start.hero import (
    MASKS,
    compute_first_pictures,
    compute_numbers,
    list_experiments,
)
from explainers.toys.grammar import GRAMMARS, find_unknown_words
from explainers.toys.readable_head import FILM_SEED, film_of, load_readable_layer
from explainers.toys.sentence import SENTENCE, split_words
from explainers.ui.controls import controls
from explainers.ui.figure.hero import Hero, HeroChoice
from explainers.ui.page import Prose
from explainers.ui.page_parts.first_picture import FILE
from explainers.ui.text.numbers import write_percent
from tests.support.opening import ROOT

TOKENS = tuple(SENTENCE.split())
WORD = TOKENS.index("announced")


@pytest.fixture(scope="module")
def layers():
    return {rule: load_readable_layer(TOKENS, rule, FILM_SEED) for rule in MASKS}


@pytest.fixture(scope="module")
def films():
    return {rule: film_of(TOKENS, rule) for rule in MASKS}


@pytest.fixture(scope="module")
def numbers(layers, films):
    return compute_numbers(layers, films)


@pytest.fixture(scope="module")
def experiments(layers, films):
    return list_experiments(Prose(str(ROOT / "pages" / "01_start.py")), layers, films, WORD)


@pytest.mark.parametrize("rule", MASKS)
def test_the_picture_shows_what_torch_computes(numbers, layers, rule):
    query, key, value = (torch.tensor(numbers[name]) for name in ("query", "key", "value"))
    shown, mask = numbers["masks"][rule], layers[rule].mask
    assert shown["allowed"] == mask.tolist()
    expected = scaled_dot_product_attention(query, key, value, attn_mask=mask)
    torch.testing.assert_close(torch.tensor(shown["output"]), expected, atol=5e-3, rtol=5e-3)
    weights = torch.tensor(shown["weights"])
    assert (weights[~mask] == 0).all()
    assert (weights[mask] > 0).all(), "the picture tells little from nothing"
    torch.testing.assert_close(weights.sum(-1), torch.ones(len(TOKENS)), atol=5e-4, rtol=0)
    scores = query @ key.T / math.sqrt(key.shape[1])
    torch.testing.assert_close(torch.tensor(numbers["scores"]), scores, atol=5e-3, rtol=5e-3)
    assert len(shown["film"]) == len(numbers["batches"]) == len(numbers["losses"])
    torch.testing.assert_close(torch.tensor(shown["film"][-1]), weights, atol=2e-3, rtol=0)
    assert float(numbers["losses"][-1]) < float(numbers["losses"][0]) / 2


def list_leaves(found, place=()):
    """Everything in nested lists and dicts, by its place."""
    if isinstance(found, list | dict):
        pairs = found.items() if isinstance(found, dict) else enumerate(found)
        return {
            at: leaf for key, one in pairs for at, leaf in list_leaves(one, (*place, key)).items()
        }
    return {place: found}


def test_what_a_new_server_shows_first_is_what_the_page_computes():
    kept, computed = (
        list_leaves(json.loads(FILE.read_text(encoding="utf-8"))),
        list_leaves(compute_first_pictures()),
    )
    assert kept.keys() == computed.keys()
    for place, number in computed.items():
        if isinstance(number, float):  # another processor rounds otherwise
            assert kept[place] == pytest.approx(number, abs=2e-3), place
        else:
            assert kept[place] == number, place


def test_percentages_are_rounded_as_in_the_browser():
    told = {0: "0 %", 0.004: "< 1 %", 0.005: "1 %", 0.125: "13 %", 1: "100 %"}
    for weight, written in told.items():
        assert write_percent(weight).replace("\N{NO-BREAK SPACE}", " ") == written


def test_a_sentence_of_unknown_words_gets_the_nearest_known_one():
    assert find_unknown_words(TOKENS) == []
    wanted = ("The", "fans", "ate", "players", "after", "Thursday")
    assert find_unknown_words(wanted) == ["ate"]
    nearest = find_nearest_sentence(wanted).split()
    assert find_unknown_words(tuple(nearest)) == []
    assert {"fans", "after", "Thursday"} <= set(nearest)


def test_a_choice_is_taken_back_before_it_was_drawn(monkeypatch):
    monkeypatch.setattr(st, "session_state", {})
    hero = Hero("start", "", {}, (HeroChoice(controls.followed_word, range(3), 2),), ())
    for told, kept in (({"word": 2}, None), ({"word": 0}, 0), ({"word": 9}, 0), ({"word": 2}, 2)):
        hero.take(told)
        assert st.session_state.get("word") == kept


def test_a_browser_may_ask_for_what_is_offered_and_for_what_a_button_chooses(experiments):
    words = HeroChoice(controls.followed_word, range(3), 2)
    hero = Hero("start", "", {}, (words,), (), experiments)
    asked = [0, 2, *(one.choices["word"] for one in experiments if "word" in one.choices)]
    assert max(asked) > 2, "of another sentence, which is longer"
    assert all(hero.accepts(words, value) for value in asked)
    for value in (max(asked) + 1, True, 2.0, "2", None, [2]):
        assert not hero.accepts(words, value)


def test_the_other_sentences_are_of_the_language_of_the_text():
    for language, verbs in {"en": ["announced", "praised"], "vi": ["công bố", "khen ngợi"]}.items():
        tokens = GRAMMARS[language].running.tokens
        one = {rule: load_readable_layer(tokens, rule, FILM_SEED) for rule in MASKS}
        shown = {rule: film_of(tokens, rule) for rule in MASKS}
        tried = list_experiments(Prose(str(ROOT / "pages" / "01_start.py")), one, shown, WORD)
        moved, other = (one.choices for one in tried[1:3])
        assert [split_words(one["text"])[one["word"]] for one in (moved, other)] == verbs
        words = (split_words(moved["text"]), tokens)
        assert len({tuple(sorted(map(str.casefold, each))) for each in words}) == 1, (
            "in another order"
        )
