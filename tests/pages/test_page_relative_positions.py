"""Relative positions: drawn and said as RoPE, ALiBi and T5's buckets compute it."""

import importlib
import math

import pytest
import torch
import transformers

from explainers.attention.positions import sinusoidal
from explainers.attention.rotary import angles, rotate
from explainers.attention.single_head import project
from explainers.chapters.relative_positions import compute
from explainers.chapters.relative_positions.cards import compute_turns, find_new_angles
from explainers.chapters.relative_positions.hero import compute_numbers
from explainers.toys import examples
from explainers.toys.rotary_layers import PAIRS, WAYS
from explainers.toys.sentence import SENTENCE
from explainers.translations import load_sections
from explainers.ui.text.numbers import write_decimals
from tests.support.opening import PAGES, opened
from tests.support.reading import hero

PAGE = next(page for page in PAGES if page.stem == "07_relative_positions")
TOKENS = tuple(SENTENCE.split())


SMALL = {"hidden_size": 24, "num_attention_heads": 4, "num_key_value_heads": 4, "head_dim": 6}
KIMI = {"kv_lora_rank": 8, "qk_rope_head_dim": 4, "qk_nope_head_dim": 6, "v_head_dim": 6}
GRANITE = {"position_embedding_type": "nope", "mamba_n_heads": 4, "mamba_d_head": "auto"}
NAMED = [
    ("Jamba", "Jamba", "jamba", {}),
    ("Granite 4.0-H", "GraniteMoeHybrid", "granitemoehybrid", GRANITE),
    ("Kimi Linear", "KimiLinear", "kimi_linear", KIMI),
]


@pytest.mark.parametrize(("named", "family", "module", "sizes"), NAMED)
def test_models_that_the_page_names_have_no_positions_in_attention(named, family, module, sizes):
    """Their layer is transformers': words in another order get the same outputs in that order."""
    assert named in load_sections(PAGE.stem)["losses"]
    code = importlib.import_module(f"transformers.models.{module}.modeling_{module}")
    config = getattr(transformers, f"{family}Config")(**SMALL, **sizes)
    config._attn_implementation = "eager"
    torch.manual_seed(0)
    layer = getattr(code, f"{family}Attention")(config, layer_idx=0).eval()
    x, order = torch.randn(1, 7, SMALL["hidden_size"]), torch.randperm(7)
    with torch.no_grad():
        output, shuffled = (layer(one, attention_mask=None)[0] for one in (x, x[:, order]))
    torch.testing.assert_close(shuffled, output[:, order])
    assert not torch.allclose(shuffled, output), "the order is another one"


def near(numbers, expected, within=2e-5):
    torch.testing.assert_close(
        torch.as_tensor(numbers), torch.as_tensor(expected), atol=within, rtol=0
    )


TOGETHER = [((2, 4), 64, 0), ((6, 1), 7, 0)]
ALONE = [((2, 4), 9, apart) for apart in (-2, 1, 6)]


@pytest.mark.parametrize(("words", "shift", "apart"), TOGETHER + ALONE)
def test_words_are_rotated_as_far_as_they_move(words, shift, apart):
    sent = compute_numbers(compute.MovedPair.of(compute.draw_rotary_head(TOKENS, 5), words))
    x = examples.draw_embeddings(TOKENS, compute.D_MODEL, 5).cpu()
    head = examples.random_head(compute.D_MODEL, compute.TURNED_DIM, compute.TURNED_DIM, 5)
    views, (asking, asked) = project(x, head), words
    places = torch.tensor([asking + shift + apart, asked + shift])
    angle = angles(places, compute.TURNED_DIM, examples.LONGEST)
    query, key = rotate(torch.stack([views.query[asking], views.key[asked]]), angle)
    frame = apart - sent["least"]
    parts = (query * key).view(-1, 2).sum(dim=-1) / compute.TURNED_DIM**0.5
    near(sent["parts"][frame][shift], parts)
    near(sent["rotary"][frame][shift], parts.sum().item())
    hands = [torch.view_as_complex(vector.view(-1, 2)) for vector in (query, key)]
    told = [torch.tensor(sent["query"][frame + shift]), torch.tensor(sent["key"][shift])]
    for hand, direction in zip(hands, told, strict=True):
        near(torch.polar(hand.abs(), direction), hand, 4e-4)
    between = (hands[0] * hands[1].conj()).angle().abs().rad2deg()
    near(torch.tensor(sent["between"][frame][shift]).float(), between, 0.51)
    waves = sinusoidal(100, compute.D_MODEL, examples.LONGEST)
    asking_row, asked_row = x[[*words]] + waves[places]
    added = asking_row @ head.w_query @ (asked_row @ head.w_key)
    near(sent["added"][frame][shift], added.item() / compute.TURNED_DIM**0.5)


@pytest.mark.parametrize(
    ("changes", "answer"), [((0, 0), 0), ((1, 2), 1), ((-1, -2), 2), ((1, -2), 3)]
)
def test_the_answer_is_what_added_positions_do(changes, answer):
    added = torch.stack([torch.zeros(1, 2), -torch.ones(1, 2), torch.tensor([changes]).float()])
    assert compute.find_answer(added) == compute.ANSWERS[answer]


@pytest.mark.parametrize("words", [(0, 6), (6, 0), (3, 3)])
def test_no_link_moves_a_word_before_the_beginning(words):
    asking, asked = words
    link = {"word": f"{asking}", "asked": f"{asked}", "apart": f"{-asking - 1}"}
    visit = opened(PAGE, link)
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


def test_only_doing_nothing_leads_slow_pairs_to_new_angles():
    speed, trained, end = zip(*(compute_turns(way).values() for way in WAYS), strict=True)
    plain, pi, ntk, yarn = map(find_new_angles, WAYS)
    seen = trained[0]
    assert plain == (seen < math.tau).tolist()
    assert ntk == ((end[2] > 1.0001 * seen) & (seen < math.tau)).tolist()
    assert 0 < sum(ntk) < sum(plain) < PAIRS
    assert not any(pi)
    assert end[1].tolist() == pytest.approx(seen.tolist())
    assert not any(yarn)
    assert speed[3][0] == speed[0][0], "the fast pair is as it was"
