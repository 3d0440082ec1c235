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
from tests.support.opening import PAGES, elements, opened, pictures, widgets
from tests.support.reading import sizes

TOKENS = ("The", "ceo", "Zebra", "announced", "zebra", "EARNINGS", "gnu")
GQA = Configuration(4, 2, 8, "causal")
SWITCHED = [page for page in PAGES if page.stem in {"03_query_key_value", "04_scores"}]
each_page = pytest.mark.parametrize("page", SWITCHED, ids=lambda page: page.stem)
CARDS = {
    "03_query_key_value": {"deep": "sizes"},
    "04_scores": {"deep": "steps"},
    "05_masks": {"deep": "side_by_side"},
}
"""Where one head of any size is in a card."""
KNOWN_ONLY = {"03_query_key_value", "04_scores"}
"""Pages that draw nothing of words that the readable head does not know."""
MASKS = next(page for page in PAGES if page.stem == "05_masks")
UNTRAINED = {"weights": "untrained"}
with_masks = pytest.mark.parametrize("page", [*SWITCHED, MASKS], ids=lambda page: page.stem)


def test_a_known_word_has_its_row_in_any_case():
    known = load_heads(GQA, 1, "en")
    x, unknown = known.read_words(TOKENS)
    rows = x - sinusoidal(len(TOKENS), layers.D_MODEL, LONGEST).to(x.device)
    for place, word in ((0, "the"), (1, "CEO"), (3, "announced"), (5, "earnings")):
        row = known.embedding[known.words.index(word)]
        torch.testing.assert_close(rows[place], row, atol=1e-5, rtol=0)
    assert unknown == ("Zebra", "zebra", "gnu")


def test_an_unknown_word_has_a_row_of_its_own():
    known = load_heads(GQA, 1, "en")
    x, _ = known.read_words(TOKENS)
    rows = x - sinusoidal(len(TOKENS), layers.D_MODEL, LONGEST).to(x.device)
    torch.testing.assert_close(rows[2], rows[4], atol=1e-5, rtol=0)
    assert not torch.allclose(rows[2], rows[6], atol=0.1)
    alone, _ = known.read_words(("gnu",))
    placed = sinusoidal(1, layers.D_MODEL, LONGEST).to(x.device)
    torch.testing.assert_close(alone - placed, rows[6:], atol=1e-5, rtol=0)
    many, unknown = known.read_words(tuple(f"word{n}" for n in range(200)))
    assert len(unknown) == 200
    spread = (many - sinusoidal(200, layers.D_MODEL, LONGEST).to(x.device)).std()
    assert spread.item() == pytest.approx(known.embedding.std().item(), rel=0.05)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ((3, 1, 4, "full", 0), "query heads 3: trained are 1, 2, 4, 8"),
        ((4, 3, 4, "full", 0), "KV heads for 4 query heads 3: trained are 1, 2, 4"),
        ((2, 4, 4, "full", 0), "KV heads for 2 query heads 4: trained are 1, 2"),
        ((4, 4, 32, "full", 0), "d_k for 4 query heads 32: trained are 4, 8, 16"),
        ((1, 1, 5, "full", 0), "d_k for 1 query heads 5: trained are 4, 8, 16, 32, 64"),
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
    monkeypatch.setitem(layers.WEIGHTS_FILES, "en", tmp_path / "none.safetensors")
    load_heads.cache_clear()
    with pytest.raises(FileNotFoundError, match=r"python -m explainers\.toys"):
        load_layer(("The",), GQA, seed=0)


def test_a_single_head_is_a_layer_with_one_head():
    layer = load_layer(TOKENS, Configuration(1, 1, 16, "window of 3"), 1)
    assert torch.equal(layer.mask.cpu(), masks.build(masks.RULES["window of 3"], 7, 7))
    one, many = single_head(*layer.single()), run_heads(layer.x, layer.heads, layer.mask)
    torch.testing.assert_close(one.weights, many.weights[0])
    torch.testing.assert_close(one.output @ layer.heads.w_output, many.output)


@pytest.mark.parametrize("seed", layers.SEEDS)
@pytest.mark.parametrize("head_dim", layers.HEAD_DIMS)
def test_announced_looks_most_at_earnings_with_any_d_k(head_dim, seed):
    tokens = ("The", "CEO", "announced", "record", "earnings", "on", "Friday")
    layer = load_layer(tokens, Configuration(1, 1, head_dim, "full"), seed)
    weights = single_head(*layer.single()).weights
    assert tokens[int(weights[2].argmax())] == "earnings"


def badges(visit):
    found = [e.value for e in elements(visit.main) if e.type == "markdown"]
    return [value for value in found if value.startswith(":gray-badge[")]


def captions(visit):
    return " ".join(caption.value for caption in visit.caption)


def opened_there(page, link=None):
    """The page, open where its reader chooses the weights."""
    return opened(page, {**CARDS.get(page.stem, {}), **(link or {})})


def switch(visit, weights):
    """Choose other weights, with a control or in the picture at the top."""
    if "weights" in widgets(visit):
        widgets(visit)["weights"].set_value(weights)
    else:
        visit.session_state["weights"] = weights
    return visit.run()


def pictures_there(page, visit):
    """The pictures of the layer that the reader chose: in a card they come last."""
    return pictures(visit)[-1:] if page.stem in CARDS else pictures(visit)


def badges_there(page, visit):
    """Where the numbers of these pictures come from."""
    return badges(visit)[-1:] if page.stem in CARDS else badges(visit)


@pytest.mark.rotating(2)
@each_page
def test_links_that_say_random_are_obeyed(page):
    """The name that untrained weights had once."""
    visit, today = opened_there(page, {"weights": "random"}), opened_there(page, UNTRAINED)
    assert pictures_there(page, visit) == pictures_there(page, today)
    assert not visit.info
    assert visit.session_state["weights"] == "untrained"
    assert "untrained: pattern without meaning, seed 0" in badges_there(page, visit)[0]
    assert pictures_there(page, switch(visit, "trained")) == pictures_there(
        page, opened_there(page)
    )


@pytest.mark.rotating(2)
@each_page
def test_sizes_of_the_readers_own_come_back_with_untrained_weights(page):
    visit = opened_there(page, UNTRAINED)
    visit.session_state["d_k"] = 10
    widgets(visit)["d_model"].set_value(32)
    if page == SWITCHED[0]:
        widgets(visit)["d_v"].set_value(6)
    before = pictures_there(page, visit.run())
    for weights in ("trained", "untrained"):
        switch(visit, weights)
        assert sizes(visit)[0] == 8, "the nearest that was trained"
        assert not visit.info
    assert (visit.session_state["d_model"], visit.session_state["d_k"]) == (32, 8)
    visit.session_state["d_k"] = 10
    assert pictures_there(page, visit.run()) == before


@pytest.mark.parametrize(("asked", "shown"), [("10", 8), ("128", 64), ("nonsense", 4)])
def test_a_link_to_a_size_that_was_not_trained(asked, shown):
    visit = opened_there(SWITCHED[1], {"weights": "trained", "d_k": asked})
    assert sizes(visit)[0] == shown
    said = f"d_k = ` {asked} `. Use one of 4, 8, 16, 32, 64; the page shows ` {shown} `."
    assert [said in info.value for info in visit.info] == [True]
    visit.session_state["d_k"] = 32
    assert not visit.run().info


@pytest.mark.rotating(2)
@each_page
def test_what_was_not_trained_is_said_and_no_choice_is_lost(page):
    link = {"weights": "trained", "d_k": "10", "seed": "7", "d_model": "32"}
    if page.stem not in KNOWN_ONLY:
        link["text"] = "The zebra"
    visit = opened_there(page, link)
    said = captions(visit)
    assert "seed 7" in said
    if page.stem not in KNOWN_ONLY:
        assert "zebra" in said
        assert "1 unknown" in badges_there(page, visit)[0]
    asked_for = {**link, "d_k": "8", "seed": "0"}
    assert pictures_there(page, visit)[0] == pictures_there(page, opened_there(page, asked_for))[0]
    back = switch(visit, "untrained")
    assert pictures_there(page, back) == pictures_there(
        page, opened_there(page, {**link, **UNTRAINED, "d_k": "8"})
    )


def test_the_readable_head_takes_any_mask_and_five_seeds():
    page = SWITCHED[1]
    full, prefix, seed_4, seed_5 = (
        opened_there(page, {"step": "weights"} | link)
        for link in ({}, {"mask": "prefix of 3"}, {"seed": "4"}, {"seed": "5"})
    )
    assert pictures_there(page, full) != pictures_there(page, prefix)
    assert "prefix of 3" not in captions(prefix)
    assert "trained: related words, seed 4" in badges_there(page, seed_4)[0]
    assert "no seed 5 among them, only 0, 1, 2, 3, 4; this is 0" in captions(seed_5)
    assert pictures_there(page, seed_5) == pictures_there(page, full)


@pytest.mark.rotating(3)
@with_masks
def test_where_trained_heads_are_wide_a_reader_can_train_as_well(page):
    def offered(visit):
        return [button.label for button in visit.button if button.label == "Train it here"]

    assert offered(opened_there(page, UNTRAINED | {"d_k": "16"})) == []
    assert offered(opened_there(page)) == (["Train it here"] if page == MASKS else [])
    assert offered(opened_there(page, {"d_k": "16"})) == ["Train it here"]


@pytest.mark.rotating(3)
@with_masks
def test_a_text_longer_than_any_that_was_learned_from_is_said_to_be(page):
    for length, said in [(layers.MAX_NEWS_TOKENS, False), (layers.MAX_NEWS_TOKENS + 1, True)]:
        visit = opened_there(page, {"weights": "trained", "text": "Friday " * length})
        assert (f"at most 8 words; this has {length}" in captions(visit)) == said


def test_accents_that_are_signs_of_their_own_belong_to_the_same_word():
    words = ("Vị", "CEO", "công bố", "lợi nhuận")
    apart = tuple(unicodedata.normalize("NFD", word) for word in words)
    assert apart != words
    one, other = (load_layer(tokens, GQA, 0) for tokens in (words, apart))
    assert not other.unknown
    assert torch.equal(one.x, other.x)
