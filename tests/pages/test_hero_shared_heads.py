"""The picture of shared heads: its weights are torch's, and what it counts is what is stored."""

import pytest
import torch

from explainers.attention.grouped_query import grouped_query, share_wrongly
from explainers.attention.latent import latent_attention
from explainers.attention.scaled_dot_product import attention
from explainers.chapters.shared_heads.hero import (
    GROUPS,
    SENTENCES,
    TURN,
    compute_numbers,
    find_largest,
)
from explainers.chapters.shared_heads.takeaway import make_latent_inputs
from explainers.local_numbers import write_value
from explainers.toys.grammar import read_running
from explainers.toys.layers import NUM_HEADS, Configuration, list_kv_heads, load_layer
from explainers.toys.sentence import SENTENCE
from explainers.translations import load_sections
from tests.support.opening import ROOT, opened
from tests.support.reading import hero

PAGE = ROOT / "pages" / "09_shared_heads.py"
TOKENS = tuple(SENTENCE.split())
ANNOUNCED = TOKENS.index("announced")
OTHERS = ("On", "Sunday", "the", "coach", "proudly", "praised", "young", "fans")
SHAPES = [(heads, kv_heads) for heads in NUM_HEADS for kv_heads in list_kv_heads(heads)]


@pytest.mark.parametrize(
    ("heads", "asked", "shown"), [("4", "8", "4"), ("2", "8", "2"), ("4", "3", "2")]
)
def test_there_are_no_more_kv_heads_than_query_heads(heads, asked, shown):
    assert hero(opened(PAGE, {"heads": heads, "kv_heads": asked}))["choices"]["kv_heads"] == shown


@pytest.mark.parametrize("tokens", [TOKENS, OTHERS, tuple(read_running("vi").tokens)], ids=len)
@pytest.mark.parametrize(("heads", "kv_heads"), SHAPES)
def test_weights_and_stored_numbers_are_torchs(tokens, heads, kv_heads):
    layer = load_layer(tokens, Configuration(heads, kv_heads, 64 // heads, "full"), 0)
    run = grouped_query(layer.x, layer.heads, layer.mask)
    sent = compute_numbers(tokens)["layers"][str(heads)][str(kv_heads)]
    right = sent[GROUPS]
    torch.testing.assert_close(torch.tensor(right["weights"]), run.weights.cpu(), atol=1e-4, rtol=0)
    assert right["read"] == [head // (heads // kv_heads) for head in range(heads)]
    assert right["stored"] == (run.key.numel() + run.value.numel()) // len(tokens)
    in_turn = [head % kv_heads for head in range(heads)]
    assert (TURN in sent) == (in_turn != right["read"])
    if TURN in sent:
        key, value = (share_wrongly(part, heads // kv_heads) for part in (run.key, run.value))
        wrong = attention(run.query, key, value, layer.mask).weights.cpu()
        drawn = torch.tensor(sent[TURN]["weights"])
        torch.testing.assert_close(drawn, wrong, atol=1e-4, rtol=0)
        assert sent[TURN]["read"] == in_turn
        assert sent[TURN]["stored"] == right["stored"]


def test_a_latent_is_what_mla_stores_for_a_word():
    run = latent_attention(*make_latent_inputs(("one",), 16, 0))
    sent, parts = compute_numbers(TOKENS)["latent"], [part.numel() for part in run.cached]
    assert sent["stored"] == sum(parts)
    assert [sent["latent"], sent["rope"]] == parts


@pytest.mark.parametrize("kv_heads", ["1", "2", "4"])
def test_heads_that_learned_to_share_still_find_both_words(kv_heads):
    """What the page's idea rests on."""
    layer = compute_numbers(TOKENS)["layers"]["4"][kv_heads][GROUPS]
    found = {TOKENS[place] for place in find_largest(layer["weights"], ANNOUNCED)}
    assert found == {"CEO", "earnings"}


def test_choices_of_a_link_are_obeyed():
    sent = hero(opened(PAGE, {"heads": "8", "kv_heads": "4", "dealing": "turn", "word": "1"}))
    assert sent["choices"] == {"heads": "8", "kv_heads": "4", "dealing": "turn", "word": 1}
    assert sent["elsewhere"] == []
    usual = {"heads": "4", "kv_heads": "2", "dealing": "groups", "word": 2}
    assert hero(opened(PAGE))["choices"] == usual


@pytest.mark.parametrize("language", ["en", "vi"])
def test_experiments_say_what_the_picture_will_show(language):
    sent = hero(opened(PAGE, {"lang": language}))
    layers = sent["layers"]
    one, more, dealt = sent["experiments"]
    assert one["choices"] == {"heads": "4", "kv_heads": "1", "dealing": "groups"}
    assert {"32", "128"} <= set(one["text"].replace(".", " ").split())
    word = sent["choices"]["word"]
    named = find_largest(layers["4"]["1"][GROUPS]["weights"], word)
    assert all(f"*{sent['tokens'][place]}*" in one["text"] for place in named)
    assert more["choices"] == {"heads": "8", "kv_heads": "2", "dealing": "groups"}
    assert " 32 " in more["text"]
    assert dealt["choices"] == {"heads": "4", "kv_heads": "2", "dealing": "turn"}
    right, wrong = (layers["4"]["2"][way] for way in (GROUPS, TURN))
    change = (torch.tensor(right["weights"]) - torch.tensor(wrong["weights"])).abs().max()
    assert write_value(change.item(), language, ".2f") in dealt["text"]
    assert "0 1 0 1" in dealt["text"]


def test_the_sentences_of_the_picture_are_sent_with_it():
    names = {name for name in load_sections("09_shared_heads") if name.startswith("hero_")}
    assert set(hero(opened(PAGE))["texts"]) == set(SENTENCES) == names
