"""The page on queries, keys and values: its picture's numbers, its questions, its cards."""

import re
from urllib.parse import parse_qsl

import pytest
import torch

from explainers.attention.single_head import single_head
from explainers.chapters.common.one_head import attend
from explainers.chapters.query_key_value import query_key_roles
from explainers.chapters.query_key_value.hero import (
    KEY_MATRICES,
    LEARNED,
    compute_numbers,
    find_pair,
    make_layers,
)
from explainers.toys.readable_head import FILM_SEED, film_of, load_readable_layer
from explainers.toys.sentence import SENTENCE
from explainers.ui.controls import controls
from explainers.ui.page_parts.check_yourself import seed_recall
from explainers.ui.text.numbers import write_decimals
from tests.support.opening import PAGES, elements, opened
from tests.support.reading import hero, heroes

PAGE, CLAIMS = PAGES[2], PAGES[-1]
TOKENS = tuple(SENTENCE.split())
DIGITS = 5e-5
CHOICES = [(learned, own) for learned in LEARNED for own in KEY_MATRICES]


def sent(link=None):
    """What the page sends to its picture."""
    visit = opened(PAGE, link)
    assert not visit.exception
    return hero(visit)


@pytest.mark.parametrize(("learned", "own"), CHOICES)
def test_the_picture_has_the_numbers_that_torch_computes(learned, own):
    shown = compute_numbers(make_layers(TOKENS))["heads"][learned][own]
    layer = make_layers(TOKENS)[learned, own]
    matrices = {name: torch.tensor(rows) for name, rows in shown["matrices"].items()}
    x = torch.tensor(shown["x"])
    for name in ("query", "key", "value"):
        made = x @ matrices[name]
        torch.testing.assert_close(made, torch.tensor(shown[name]), atol=5e-3, rtol=1e-3)
    scores = torch.tensor(shown["query"]) @ torch.tensor(shown["key"]).T / 2
    torch.testing.assert_close(scores, torch.tensor(shown["scores"]), atol=5e-3, rtol=1e-3)
    weights = single_head(*layer.single()).weights
    torch.testing.assert_close(torch.tensor(shown["weights"]), weights, atol=DIGITS, rtol=0)
    assert torch.tensor(shown["weights"]).sum(-1).sub(1).abs().max() < 5 * DIGITS


def test_trained_is_the_end_of_the_training_and_untrained_its_beginning():
    layers, film = make_layers(TOKENS), film_of(TOKENS, "full")
    for learned, stage in LEARNED.items():
        weights = attend(layers[learned, "own"])[1].weights
        torch.testing.assert_close(weights, film.weights[stage])
    shipped = load_readable_layer(TOKENS, "full", FILM_SEED)
    assert torch.equal(layers["trained", "own"].x, shipped.x)


@pytest.mark.parametrize("learned", LEARNED)
def test_with_one_matrix_for_both_scores_lose_their_direction(learned):
    layers = make_layers(TOKENS)
    views, steps = attend(layers[learned, "w_q"])
    assert torch.equal(views.query, views.key)
    torch.testing.assert_close(steps.scores, steps.scores.T)
    own = attend(layers[learned, "own"])[1].scores
    assert (own - own.T).abs().max() > 1


def test_choices_come_from_the_link_and_go_into_it():
    hero = sent({"weights": "untrained", "w_k": "w_q", "word": "4"})
    assert hero["choices"] == {"word": 4, "weights": "untrained", "w_k": "w_q"}
    assert hero["kind"] == "views"
    assert hero["tokens"] == list(TOKENS)
    assert sent()["choices"] == {"word": 2, "weights": "trained", "w_k": "own"}
    visit = opened(PAGE, {"weights": "half"})
    assert "weights" in visit.info[0].value
    assert controls.weights.key not in visit.query_params


def test_experiments_say_what_the_picture_then_shows():
    hero = sent()
    ask, tied, untrained = hero["experiments"]
    last, found = find_pair(make_layers(TOKENS)["trained", "own"])
    assert (TOKENS[last], TOKENS[found]) == ("Friday", "announced")
    heads = hero["heads"]
    assert ask["choices"] == {"word": last}
    percent = round(100 * heads["trained"]["own"]["weights"][last][found])
    assert f"{percent}\N{NO-BREAK SPACE}%" in ask["text"]
    before, now = (heads["trained"][own]["scores"] for own in KEY_MATRICES)
    shown = before[last][found], before[found][last], now[last][found]
    assert re.findall(r"−?\d+\.\d+", tied["text"]) == [write_decimals(score) for score in shown]
    assert now[last][found] == pytest.approx(now[found][last], abs=1e-4)
    largest = round(100 * max(heads["untrained"]["own"]["weights"][2]))
    assert f"{largest}\N{NO-BREAK SPACE}%" in untrained["text"]
    assert all(len(one["text"].split()) <= 30 for one in hero["experiments"])


def test_what_is_asked_is_one_sided_and_not_seen_in_the_picture():
    layer = make_layers(TOKENS)["trained", "own"]
    weights = single_head(*layer.single()).weights
    seen = controls.followed_word.default
    asking, found = query_key_roles.find_one_sided_pair(layer, seen)
    assert found not in (seen, asking)
    other = (weights - weights.T)[:, [place for place in range(len(TOKENS)) if place != seen]]
    assert weights[asking, found] - weights[found, asking] == other.max()
    answer, numbers = query_key_roles.compare_directions(layer, asking, found)
    assert answer == query_key_roles.NOTHING
    assert weights[asking, found] > 0.8
    assert weights[found, asking] < 0.1
    assert numbers["there"] == f"{round(100 * weights[asking, found].item())}\N{NO-BREAK SPACE}%"
    asked = opened(PAGE, {"predict": "true"})
    shown = opened(PAGE, {"predict": "true", "guess_directions": query_key_roles.HALF})
    said, before = (
        " ".join(remark.value for remark in visit.main.markdown) for visit in (shown, asked)
    )
    assert f"{numbers['back']}. One direction" in said
    assert "One direction" not in before


@pytest.mark.parametrize("text", ["Friday", "CEO announced"])
def test_short_sentences(text):
    visit = opened(PAGE, {"text": text, "predict": "true", "word": "6"})
    assert not visit.exception
    (hero,) = heroes(visit)
    assert hero["choices"]["word"] < len(hero["tokens"])


def test_words_that_the_head_does_not_know_are_named_and_can_be_swapped():
    visit = opened(PAGE, {"text": "The zebra announced record earnings"})
    assert not visit.exception
    assert "zebra" in visit.info[0].value
    assert "zebra" not in hero(visit)["tokens"]
    swap = next(button for button in visit.button if button.label.startswith("Swap the words"))
    swapped = swap.click().run()
    assert set(hero(swapped)["tokens"]) >= {"announced", "record", "earnings"}
    assert not swapped.info


def test_exchanged_matrices_mirror_the_table():
    for layer in make_layers(TOKENS[:3]).values():
        products, swapped = query_key_roles.exchange(layer).values()
        torch.testing.assert_close(swapped, products.T)
    layers = make_layers(TOKENS)
    assert query_key_roles.find_exchange(layers["trained", "own"]) == query_key_roles.MIRRORED
    assert query_key_roles.find_exchange(layers["trained", "w_q"]) == query_key_roles.SAME


def test_a_bias_on_the_keys_changes_nothing():
    measured = query_key_roles.measure_biases(make_layers(TOKENS)["trained", "own"])
    assert measured["on_keys"].startswith("less than 0.0000")
    assert float(measured["on_queries"]) > 0.1


def test_the_questions_at_the_end():
    for seed in range(20):
        shape = query_key_roles.recall_query_numbers(seed_recall("page", "shape", seed))
        words, d_model, d_k = (int(shape.given[name]) for name in ("words", "d_model", "d_k"))
        layer_query = torch.zeros(words, d_model) @ torch.zeros(d_model, d_k)
        assert shape.answer == layer_query.numel()
        assert shape.answer not in (words, d_model, d_k)
        growing = query_key_roles.recall_growing_matrix(seed_recall("page", "growing", seed))
        assert growing.answer in growing.options


def test_the_page_is_said_in_one_sentence():
    said = [remark.value for remark in opened(PAGE).main.markdown]
    assert len([one for one in said if one.startswith("**In one sentence.**")]) == 1


@pytest.mark.parametrize("card", ["parameters", "sizes", "swap", "biases"])
def test_cards_are_closed_until_a_link_opens_one(card):
    closed, open_ = opened(PAGE), opened(PAGE, {"deep": card})
    assert not open_.exception
    assert len(open_.main.markdown) > len(closed.main.markdown)


def test_the_card_on_biases_leads_to_the_claim_about_them():
    found = elements(opened(PAGE, {"deep": "biases"}).main)
    (link,) = [one.proto for one in found if one.type == "page_link"]
    asked = dict(parse_qsl(link.query_string))
    visit = opened(CLAIMS, asked)
    assert hero(visit)["choices"]["claim"] == asked["claim"] == "biases do not matter"
    assert not visit.info
