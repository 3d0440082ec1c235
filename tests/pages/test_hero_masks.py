"""The picture of the masks: what it sends is what torch computes, and every mask is among it."""

import json

import pytest
import torch

from explainers.attention import masks
from explainers.attention.rules import Mask, Rule
from explainers.attention.scaled_dot_product import attention
from explainers.chapters.common.score_matrix import Lab
from explainers.chapters.masks.hero import compute_numbers
from explainers.toys.readable_head import FILM_SEED, load_readable_layer
from explainers.toys.sentence import SENTENCE
from explainers.translations import load_sections
from explainers.ui.text.numbers import write_percent
from tests.support.opening import PAGES, opened, pictures

PAGE = next(page for page in PAGES if page.stem == "05_masks")
TOKENS = tuple(SENTENCE.split())
LAB = Lab(load_readable_layer(TOKENS, "full", FILM_SEED), queries_down=True)


def sent(visit):
    return json.loads(pictures(visit)[0])[0]


def frame_of(numbers, name, number):
    mask = next(one for one in numbers["masks"] if one["name"] == name)
    return mask["frames"][number - mask["least"]]


def read_rows(rows):
    return torch.tensor([[bool(row >> place & 1) for place in range(len(rows))] for row in rows])


@pytest.mark.parametrize("mask", masks.MASKS, ids=lambda mask: mask.name)
def test_every_frame_is_what_torch_computes(mask):
    numbers = sent(opened(PAGE))
    count = 8 - mask.least if mask.parameter else 1
    for number in range(mask.least, mask.least + count):
        frame, allowed = frame_of(numbers, mask.name, number), LAB.mask(mask.of(number))
        assert torch.equal(read_rows(frame["allowed"]), allowed)
        expected = attention(*LAB.views, allowed).weights
        torch.testing.assert_close(torch.tensor(frame["weights"]), expected, atol=6e-5, rtol=0)
    frames = next(one for one in numbers["masks"] if one["name"] == mask.name)["frames"]
    assert len(frames) == count


def test_a_new_mask_of_the_table_is_in_the_picture():
    def dilate(step):
        return Rule(lambda query, key: (key <= query) & ((query - key) % step == 0))

    dilated = Mask("dilated", dilate, "Distance", 2, 1)
    numbers = compute_numbers(LAB, (*masks.MASKS, dilated))
    assert [mask["name"] for mask in numbers["masks"]][-1] == "dilated"
    assert numbers["masks"][-1]["parameter"] == "Distance"
    rows = read_rows(frame_of(numbers, "dilated", 2)["allowed"])
    assert rows.sum(dim=-1).tolist() == [1, 1, 2, 2, 3, 3, 4]


def test_the_buttons_are_the_table_of_masks():
    control = next(one for one in sent(opened(PAGE))["controls"] if one["key"] == "rule")
    assert [one["value"] for one in control["options"]] == [*(m.name for m in masks.MASKS), "own"]


def test_it_opens_on_the_verb_under_the_causal_mask():
    choices = sent(opened(PAGE))["choices"]
    assert choices == {
        "rule": "causal",
        "word": 2,
        "weights": "trained",
        "cells": "full",
        "window": 3,
        "prefix": 3,
        "chunk": 3,
    }


def test_what_can_be_tried_says_what_it_will_show():
    window, prefix, chunks, itself = sent(opened(PAGE))["experiments"]
    row = window["choices"]["word"]
    weights = LAB.weights(masks.sliding_window(window["choices"]["window"]))[row]
    assert f"{TOKENS[row]}* loses" in window["text"]
    assert f"gives {write_percent(weights.max().item())} to" in window["text"]
    row = prefix["choices"]["word"]
    gain = LAB.weights(masks.prefix(prefix["choices"]["prefix"]))[row]
    assert f"now {write_percent(gain[gain.argmax()].item())}." in prefix["text"]
    assert itself["choices"] == {"rule": "own", "cells": "1.2.4.8.10.20.40"}
    row = chunks["choices"]["word"]
    assert row == chunks["choices"]["chunk"] == 3
    lost = 1 - LAB.weights(masks.sliding_window(3))[row, row].item()
    assert f"*{TOKENS[row]}* is the first" in chunks["text"]
    assert f"give {write_percent(lost)} to" in chunks["text"]
    for experiment in (window, prefix, chunks, itself):
        assert len(experiment["text"].split()) <= 30


def test_every_sentence_has_the_numbers_that_the_picture_gives():
    given = {"mask", "word", "hidden", "words", "lost", "first", "before", "after"}
    for name, text in load_sections("05_masks").items():
        if name.startswith("hero_"):
            assert {part.split("}}")[0] for part in text.split("{{")[1:]} <= given


def test_a_drawing_that_is_none_is_not_taken_from_a_browser():
    from explainers.chapters.masks.hero import DrawnChoice
    from explainers.ui.controls import controls

    choice = DrawnChoice(controls.drawn_cells, (), "full")
    assert choice.accepts("1.3.7")
    for value in ("", "<b>", "8.8", 7, None):
        assert not choice.accepts(value)
