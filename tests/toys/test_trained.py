"""The shipped toy weights as pages read them, and the switch between trained and untrained."""

import re
import unicodedata

import pytest
import torch

from explainers.attention import masks
from explainers.attention.positions import sinusoidal
from explainers.attention.single_head import single_head
from explainers.toys import layers
from explainers.toys.examples import LONGEST
from explainers.toys.layers import Configuration, load_heads, load_layer
from explainers.toys.training import run_heads
from tests.support.opening import PAGES, opened, pictures, widgets
from tests.support.reading import sizes

TOKENS = ("The", "ceo", "Zebra", "announced", "zebra", "EARNINGS", "gnu")
GQA = Configuration(4, 2, 8, "causal")


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ((3, 1, 4, "full", 0), "query heads 3: trained are 1, 2, 4, 8"),
        ((4, 3, 4, "full", 0), "KV heads for 4 query heads 3: trained are 1, 2, 4"),
        ((4, 4, 32, "full", 0), "d_k for 4 query heads 32: trained are 4, 8, 16"),
        ((1, 1, 4, "prefix of 3", 0), "mask prefix of 3: trained are full, causal, window of 3"),
        ((1, 1, 4, "full", 2), "seed 2: trained are 0, 1"),
    ],
    ids=str,
)
def test_what_was_not_trained_is_refused(asked, told):
    *configuration, seed = asked
    with pytest.raises(ValueError, match=re.escape(told)):
        load_layer(("The",), Configuration(*configuration), seed)


def test_a_missing_file_says_how_it_is_made(monkeypatch, tmp_path):
    monkeypatch.setattr(layers, "ASSETS", tmp_path)
    load_heads.cache_clear()
    with pytest.raises(FileNotFoundError, match=r"python -m workshop\.toys"):
        load_layer(("The",), GQA, seed=0)


def test_a_single_head_is_a_layer_with_one_head():
    layer = load_layer(TOKENS, Configuration(1, 1, 16, "window of 3"), 1)
    assert torch.equal(layer.mask.cpu(), masks.build(masks.RULES["window of 3"], 7, 7))
    one, many = single_head(*layer.single()), run_heads(layer.x, layer.heads, layer.mask)
    torch.testing.assert_close(one.weights, many.weights[0])
    torch.testing.assert_close(one.output @ layer.heads.w_output, many.output)


def test_each_word_has_its_row_in_any_case_and_an_unknown_one_a_row_of_its_own():
    known = load_heads(GQA, 1, "en")

    def read_rows(tokens):
        x, unknown = known.read_words(tokens)
        return x - sinusoidal(len(tokens), layers.D_MODEL, LONGEST).to(x.device), unknown

    rows, unknown = read_rows(TOKENS)
    assert unknown == ("Zebra", "zebra", "gnu")
    for place, word in ((0, "the"), (1, "CEO"), (3, "announced"), (5, "earnings")):
        row = known.embedding[known.words.index(word)]
        torch.testing.assert_close(rows[place], row, atol=1e-5, rtol=0)
    torch.testing.assert_close(rows[2], rows[4], atol=1e-5, rtol=0)
    assert not torch.allclose(rows[2], rows[6], atol=0.1)
    torch.testing.assert_close(read_rows(("gnu",))[0], rows[6:], atol=1e-5, rtol=0)
    spread = read_rows(tuple(f"word{n}" for n in range(200)))[0].std()
    assert spread.item() == pytest.approx(known.embedding.std().item(), rel=0.05)
    words = ("Vị", "CEO", "công bố", "lợi nhuận")
    apart = tuple(unicodedata.normalize("NFD", word) for word in words)
    assert apart != words
    one, other = (load_layer(tokens, GQA, 0) for tokens in (words, apart))
    assert not other.unknown
    assert torch.equal(one.x, other.x)


SCORES = next(page for page in PAGES if page.stem == "04_scores")


def open_card(**link):
    """The page, open where its reader chooses the weights of one head of any size."""
    return opened(SCORES, {"deep": "steps", **link})


def captions(visit):
    return " ".join(caption.value for caption in visit.caption)


def last_picture(visit):
    """Of the layer that the reader chose."""
    return pictures(visit)[-1:]


def switch(visit, weights):
    """Choose other weights, with a control or in the picture at the top."""
    if "weights" in widgets(visit):
        widgets(visit)["weights"].set_value(weights)
    else:
        visit.session_state["weights"] = weights
    return visit.run()


def test_links_that_say_random_are_obeyed():
    """The name that untrained weights had once."""
    visit, today = open_card(weights="random"), open_card(weights="untrained")
    assert last_picture(visit) == last_picture(today)
    assert not visit.info
    assert visit.session_state["weights"] == "untrained"
    assert last_picture(switch(visit, "trained")) == last_picture(open_card())


def test_sizes_of_the_readers_own_come_back_with_untrained_weights():
    visit = open_card(weights="untrained")
    visit.session_state["d_k"] = 10
    widgets(visit)["d_model"].set_value(32)
    before = last_picture(visit.run())
    for weights in ("trained", "untrained"):
        switch(visit, weights)
        assert sizes(visit)[0] == 8, "the nearest that was trained"
        assert not visit.info
    assert (visit.session_state["d_model"], visit.session_state["d_k"]) == (32, 8)
    visit.session_state["d_k"] = 10
    assert last_picture(visit.run()) == before


def test_what_was_not_trained_is_said_and_no_choice_is_lost():
    link = {"weights": "trained", "d_k": "10", "seed": "7", "d_model": "32"}
    visit = open_card(**link)
    assert sizes(visit)[0] == 8
    said = "d_k = ` 10 `. Use one of 4, 8, 16, 32, 64; the page shows ` 8 `."
    assert [said in info.value for info in visit.info] == [True]
    assert "no seed 7 among them, only 0, 1; this is 0" in captions(visit)
    readable = open_card(step="weights", seed="5", mask="prefix of 3")
    assert "no seed 5 among them, only 0, 1, 2, 3, 4; this is 0" in captions(readable)
    assert "prefix of 3" not in captions(readable), "it takes any mask"
    assert last_picture(visit) == last_picture(open_card(**link | {"d_k": "8", "seed": "0"}))
    assert last_picture(visit) != last_picture(open_card(**link | {"d_k": "8", "seed": "1"}))
    back = switch(visit, "untrained")
    own = open_card(**link | {"d_k": "8", "weights": "untrained"})
    assert last_picture(back) == last_picture(own)
    back.session_state["d_k"] = 32
    assert not back.run().info
