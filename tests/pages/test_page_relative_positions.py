"""Relative positions: drawn and said as RoPE, ALiBi and T5's buckets compute it."""

import importlib

import pytest
import torch
import transformers

from explainers.attention import masks
from explainers.attention.positions import sinusoidal
from explainers.attention.rotary import angles, rotary_attention, rotate
from explainers.attention.scaled_dot_product import attention
from explainers.attention.single_head import project
from explainers.chapters.relative_positions.compute import (
    D_MODEL,
    TURNED_DIM,
    MovedPair,
    draw_rotary_head,
)
from explainers.chapters.relative_positions.hero import compute_numbers
from explainers.toys import examples
from explainers.toys.sentence import SENTENCE
from explainers.translations import load_sections
from explainers.ui.text.numbers import write_decimals
from tests.support.opening import PAGES, opened
from tests.support.reading import hero

PAGE = next(page for page in PAGES if page.stem == "07_relative_positions")
TOKENS = tuple(SENTENCE.split())


KIMI = {"kv_lora_rank": 8, "qk_rope_head_dim": 4, "qk_nope_head_dim": 6, "v_head_dim": 6}
SMALL = {"hidden_size": 24, "num_attention_heads": 4, "num_key_value_heads": 4, "head_dim": 6}


@pytest.mark.parametrize(
    ("named", "module", "layer_class", "config_class", "sizes"),
    [
        ("Jamba", "jamba", "JambaAttention", "JambaConfig", {}),
        (
            "Granite 4.0-H",
            "granitemoehybrid",
            "GraniteMoeHybridAttention",
            "GraniteMoeHybridConfig",
            {"position_embedding_type": "nope", "mamba_n_heads": 4, "mamba_d_head": "auto"},
        ),
        ("Kimi Linear", "kimi_linear", "KimiLinearAttention", "KimiLinearConfig", KIMI),
    ],
)
def test_models_that_the_page_names_have_no_positions_in_attention(
    named, module, layer_class, config_class, sizes
):
    """Their layer is transformers': words in another order get the same outputs in that order."""
    assert named in load_sections("07_relative_positions")["losses"]
    code = importlib.import_module(f"transformers.models.{module}.modeling_{module}")
    config = getattr(transformers, config_class)(**SMALL, **sizes)
    config._attn_implementation = "eager"
    torch.manual_seed(0)
    layer = getattr(code, layer_class)(config, layer_idx=0).eval()
    x, order = torch.randn(1, 7, SMALL["hidden_size"]), torch.randperm(7)
    with torch.no_grad():
        output, shuffled = (layer(one, attention_mask=None)[0] for one in (x, x[:, order]))
    torch.testing.assert_close(shuffled, output[:, order])
    assert not torch.allclose(shuffled, output), "the order is another one"


FULL = masks.build(masks.full, 7, 7)


def head_of(seed):
    """The words' vectors, and the head that reads them."""
    x = examples.draw_embeddings(TOKENS, D_MODEL, seed).cpu()
    return x, examples.random_head(D_MODEL, TURNED_DIM, TURNED_DIM, seed)


def near(numbers, expected, within=2e-5):
    torch.testing.assert_close(
        torch.as_tensor(numbers), torch.as_tensor(expected), atol=within, rtol=0
    )


@pytest.mark.parametrize(("words", "shift"), [((2, 4), 64), ((6, 1), 7)])
def test_scores_of_words_that_move_together_are_those_of_attention(words, shift):
    sent = compute_numbers(MovedPair.of(draw_rotary_head(TOKENS, 5), words))
    x, head = head_of(5)
    start, place = -sent["least"], slice(shift, shift + 7)
    angle = angles(torch.arange(shift, shift + 7), TURNED_DIM, examples.LONGEST)
    rotary = rotary_attention(*project(x, head), FULL, angle).scores[words]
    near(sent["rotary"][start][shift], rotary.item())
    near(sum(sent["parts"][start][shift]), rotary.item(), 5e-5)
    waves = sinusoidal(100, D_MODEL, examples.LONGEST)[place]
    added = attention(*project(x + waves, head), FULL).scores[words]
    near(sent["added"][start][shift], added.item())


@pytest.mark.parametrize("apart", [-2, 1, 6])
def test_a_word_that_moves_alone_is_rotated_further(apart):
    sent, (x, head), shift = (
        compute_numbers(MovedPair.of(draw_rotary_head(TOKENS, 5), (2, 4))),
        head_of(5),
        9,
    )
    views, places = project(x, head), torch.tensor([2 + shift + apart, 4 + shift])
    angle = angles(places, TURNED_DIM, examples.LONGEST)
    query, key = rotate(torch.stack([views.query[2], views.key[4]]), angle)
    frame = apart - sent["least"]
    parts = (query * key).view(-1, 2).sum(dim=-1) / TURNED_DIM**0.5
    near(sent["parts"][frame][shift], parts)
    near(sent["rotary"][frame][shift], parts.sum().item())
    hands = [torch.view_as_complex(vector.view(-1, 2)) for vector in (query, key)]
    told = [torch.tensor(sent["query"][frame + shift]), torch.tensor(sent["key"][shift])]
    for hand, direction in zip(hands, told, strict=True):
        near(torch.polar(hand.abs(), direction), hand, 4e-4)
    between = (hands[0] * hands[1].conj()).angle().abs().rad2deg()
    near(torch.tensor(sent["between"][frame][shift]).float(), between, 0.51)
    waves = sinusoidal(100, D_MODEL, examples.LONGEST)
    added = (x[2] + waves[places[0]]) @ head.w_query @ ((x[4] + waves[places[1]]) @ head.w_key)
    near(sent["added"][frame][shift], added.item() / TURNED_DIM**0.5)


@pytest.mark.parametrize("words", [(0, 6), (6, 0), (3, 3)])
def test_no_word_is_moved_before_the_beginning(words):
    sent = compute_numbers(MovedPair.of(draw_rotary_head(TOKENS, 0), words))
    assert words[0] + sent["least"] >= 0
    moves = 7 - sent["least"]
    assert [len(sent[name]) for name in ("parts", "rotary", "added", "between")] == [moves] * 4
    asked = {"word": f"{words[0]}", "asked": f"{words[1]}", "apart": f"{sent['least'] - 1}"}
    visit = opened(PAGE, asked)
    assert hero(visit)["choices"]["apart"] == 0
    assert "apart =" in visit.info[0].value


def test_words_that_change_places_are_as_far_apart_and_their_score_is_another():
    choices = {"word": "6", "asked": "1", "seed": "3"}
    [tried] = [one for one in hero(opened(PAGE, choices))["experiments"] if one["name"] == "swap"]
    linked = {name: str(value) for name, value in tried["choices"].items()}
    swap = hero(opened(PAGE, choices | linked))
    asking, asked = swap["pair"]
    apart = tried["choices"]["apart"]
    assert asking + apart - asked == asked - asking, "the same distance"
    frames = -swap["least"], apart - swap["least"]
    scores = [write_decimals(swap["rotary"][at][0]) for at in frames]
    assert "from {} to {}".format(*scores) in tried["text"]
    assert scores[0] != scores[1], "of some pairs the change is too small to be seen"
