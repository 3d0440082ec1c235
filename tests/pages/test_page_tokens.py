"""The page on tokens cuts a text as published models do, where there are some."""

import json
import math

import pytest
import torch

from explainers.chapters.tokens.word_positions import find_turns
from explainers.models.registry import WHEEL_MODELS
from explainers.toys import examples
from explainers.toys.sentence import SENTENCE
from tests.support.opening import PAGES, elements, opened, pictures
from tests.support.reading import hero

PAGE = next(page for page in PAGES if page.stem == "02_tokens")
UNIT, WAYS = "model tokens", "ways"


def words_on(visit):
    return " ".join(e.value for e in elements(visit.main) if e.type in ("markdown", "error"))


def test_two_models_cut_our_sentence_differently(smollm2, minilm):
    for model, count, known in ((WHEEL_MODELS[0], 7, "49,152"), (WHEEL_MODELS[1], 9, "30,522")):
        visit = opened(PAGE, {"unit": UNIT, "tokenizer": model.name, "deep": WAYS})
        assert not visit.exception
        assert not visit.info
        sent, said = hero(visit), words_on(visit)
        assert (sent["choices"]["unit"], sent["choices"]["tokenizer"]) == (UNIT, model.name)
        assert len(sent["cuts"][model.name]) == count
        assert f"| {model.name} | {count} | {known} |" in said
        assert "real: published tokenizers" in said


def test_without_models_a_line_says_how_to_get_them(monkeypatch, tmp_path):
    monkeypatch.setenv("ATTENTION_MODELS", str(tmp_path))
    visit = opened(PAGE, {"unit": UNIT, "tokenizer": WHEEL_MODELS[0].name, "deep": WAYS})
    assert not visit.exception
    assert "python -m explainers.models fetch" in words_on(visit)
    assert "The link asks for unit = ` model tokens `" in visit.info[0].value
    names = [one["name"] for one in hero(visit)["experiments"]]
    assert names == ["nothing", "vietnamese", "characters"]


def test_a_broken_tokenizer_is_told(monkeypatch, tmp_path):
    folder = tmp_path / WHEEL_MODELS[0].id.replace("/", "--")
    folder.mkdir()
    (folder / "tokenizer.json").write_text("{")
    monkeypatch.setenv("ATTENTION_MODELS", str(tmp_path))
    visit = opened(PAGE, {"unit": UNIT, "deep": WAYS})
    assert not visit.exception
    assert "its tokenizer cannot be read" in words_on(visit)


def draw_wave(position, column, d_model, longest):
    """One number of P by the paper's formula, in plain Python."""
    angle = position / longest ** ((column - column % 2) / d_model)
    return math.cos(angle) if column % 2 else math.sin(angle)


def panels(visit):
    """{name: panel} of all pictures of matrices."""
    sent = [json.loads(one)[0] for one in pictures(visit) if one.startswith("[")]
    return {panel["id"]: panel for one in sent for panel in one.get("panels", [])}


def test_the_strips_of_a_word_are_its_sum():
    word = 5
    sent = panels(opened(PAGE, {"word": f"{word}"}))["sum"]
    embedding, position, x = sent["values"]
    drawn = examples.draw_embeddings(tuple(SENTENCE.split()), 8, 0)[word].tolist()
    assert embedding == pytest.approx(drawn, abs=1e-5)
    assert position == pytest.approx([draw_wave(word, n, 8, 10_000) for n in range(8)], abs=1e-5)
    total = torch.tensor(drawn) + torch.tensor(position)
    assert x == pytest.approx(total.tolist(), abs=1e-5)


def test_the_word_of_the_sum_is_chosen_by_its_name():
    visit = opened(PAGE, {"text": "the dog bites the man", "word": "1"})
    words = visit.selectbox(key="word")
    assert words.options == ["the (1)", "dog", "bites", "the (4)", "man"]
    assert words.value == 1
    words.select("the (4)").run()
    assert visit.query_params["word"] == "3"
    wave = [draw_wave(3, n, 8, 10_000) for n in range(8)]
    assert panels(visit)["sum"]["values"][1] == pytest.approx(wave, abs=1e-5)
    visit.text_input(key="text").set_value("dog bites").run()
    assert visit.selectbox(key="word").value == 1, "the nearest, where there are fewer words"
    assert not visit.info


def test_hands_turn_by_position_times_frequency():
    sent = panels(opened(PAGE, {"deep": "waves", "clock": "7", "longest": "100", "d_model": "4"}))
    hands = sent["hands"]
    assert len(hands["frames"]) == 64
    for position, ((fast_x, fast_y, slow_x, slow_y),) in enumerate(hands["frames"]):
        angle = position / 100 ** (2 / 4)
        assert (fast_x, fast_y) == pytest.approx((math.sin(position), math.cos(position)), abs=1e-4)
        assert (slow_x, slow_y) == pytest.approx((math.sin(angle), math.cos(angle)), abs=1e-4)
    assert hands["values"] == hands["frames"][7]
    assert find_turns(4, 100) == pytest.approx([math.tau, math.tau * 10], rel=1e-5)


def test_vectors_that_are_too_long_for_hands_show_the_first_ones():
    hands = panels(opened(PAGE, {"deep": "waves", "d_model": "128"}))["hands"]
    assert len(hands["columns"]) == 16
