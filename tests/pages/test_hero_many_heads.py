"""The picture of multi-head attention shows what torch computes, for every choice of heads."""

from random import Random

import pytest
import torch

from explainers.attention.multi_head import multi_head
from explainers.chapters.many_heads.heads_at_equal_parameters import (
    make_equal_heads,
    recall_layer_numbers,
    recall_remaining_share,
)
from explainers.chapters.many_heads.hero import compute_small_layers, list_switches
from explainers.chapters.many_heads.selection import Selection
from explainers.toys.layers import NUM_HEADS, load_layer
from explainers.toys.sentence import SENTENCE, split_words
from tests.support.opening import PAGES, opened
from tests.support.reading import hero

PAGE = next(page for page in PAGES if page.stem == "06_many_heads")
TOKENS = tuple(split_words(SENTENCE))
OTHER = ("On", "Sunday", "the", "coach", "proudly", "praised", "young", "fans")
ANNOUNCED = TOKENS.index("announced")


@pytest.mark.parametrize("tokens", [TOKENS, OTHER], ids=" ".join)
@pytest.mark.parametrize("heads", NUM_HEADS)
def test_weights_and_how_long_what_heads_add_is_are_torchs(tokens, heads):
    shown = compute_small_layers(tokens)[str(heads)]
    layer = load_layer(tokens, make_equal_heads(heads), 0)
    run = multi_head(layer.x, layer.heads, layer.mask)
    torch.testing.assert_close(torch.tensor(shown["weights"]), run.weights.cpu(), atol=1e-4, rtol=0)
    for off in ({0}, {*range(0, heads, 2)}):
        lost = (run.output - Selection.of(layer, 0, off).output).norm(dim=-1).square()
        parts = torch.tensor(shown["parts"])[:, [*off]][:, :, [*off]]
        torch.testing.assert_close(parts.sum(dim=(1, 2)), lost.cpu(), atol=1e-3, rtol=1e-3)


def test_one_head_gives_all_to_one_word_and_four_find_both():
    """What the page's idea rests on."""
    numbers = compute_small_layers(TOKENS)
    ceo, earnings = TOKENS.index("CEO"), TOKENS.index("earnings")
    [single] = numbers["1"]["weights"]
    assert single[ANNOUNCED][ceo] < 0.01 < 0.99 < single[ANNOUNCED][earnings]
    four = numbers["4"]["weights"]
    assert max(rows[ANNOUNCED][ceo] for rows in four) > 0.9
    assert max(rows[ANNOUNCED][earnings] for rows in four) > 0.9


def test_every_choice_of_the_picture_is_among_what_is_sent():
    assert len({*list_switches(8)}) == len(list_switches(8)) == 2 ** max(NUM_HEADS)
    assert list_switches(11)[1] == "a", "a digit for each head"
    sent = hero(opened(PAGE, {"heads": "8", "off": ["1", "7"], "word": "4"}))
    assert sent["choices"] == {"word": 4, "heads": "8", "off": "17"}


def test_recalls_are_computed():
    asked = recall_remaining_share(Random(3))
    assert asked.answer == 100 - int(asked.given["share"])
    layer = recall_layer_numbers(Random(3))
    assert layer.answer == 4 * int(layer.given["d_model"]) ** 2
    assert int(layer.given["heads"]) * int(layer.worked["d_k"]) == int(layer.given["d_model"])
