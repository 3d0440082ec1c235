"""The picture of multi-head attention shows what torch computes, for every choice of heads."""

from random import Random

import pytest
import torch

from explainers.attention.multi_head import contributions, multi_head
from explainers.chapters.many_heads.heads_at_equal_parameters import (
    make_equal_heads,
    recall_layer_numbers,
    recall_remaining_share,
)
from explainers.chapters.many_heads.hero import (
    compute_numbers,
    find_indispensable_head,
    list_switches,
)
from explainers.toys.layers import NUM_HEADS, TrainedHeads, load_layer
from explainers.toys.sentence import SENTENCE, split_words
from tests.support.opening import PAGES, opened
from tests.support.reading import hero

PAGE = next(page for page in PAGES if page.stem == "06_many_heads")
TOKENS = tuple(split_words(SENTENCE))
OTHER = ("On", "Sunday", "the", "coach", "proudly", "praised", "young", "fans")
ANNOUNCED = TOKENS.index("announced")


@pytest.mark.parametrize("tokens", [TOKENS, OTHER], ids=" ".join)
@pytest.mark.parametrize("heads", NUM_HEADS)
def test_weights_votes_and_what_is_named_are_torchs(tokens, heads):
    numbers = compute_numbers(tokens)
    shown, layer = numbers["layers"][str(heads)], load_layer(tokens, make_equal_heads(heads), 0)
    run = multi_head(layer.x, layer.heads, layer.mask)
    torch.testing.assert_close(torch.tensor(shown["weights"]), run.weights.cpu(), atol=1e-4, rtol=0)
    known = layer.learned
    assert isinstance(known, TrainedHeads)
    size = len(known.words)
    parts = contributions(run.per_head, layer.heads.w_output)
    words = [word.casefold() for word in known.words]
    for off in {0, 1, 2**heads - 2, 2**heads - 1}:
        is_on = torch.tensor([float(not off >> head & 1) for head in range(heads)])
        scores = known.score_words((is_on[:, None, None].to(parts) * parts).sum(dim=0))
        for asker, (own, others, count) in enumerate(shown["named"][off]):
            places = {
                seen: words.index(token.casefold()) + size * (seen > asker)
                for seen, token in enumerate(tokens)
                if seen != asker
            }
            assert own == [seen for seen, place in places.items() if scores[asker, place] > 0]
            named = {known.words[place % size] for place in (scores[asker] > 0).nonzero()[:, 0]}
            assert {numbers["names"][place] for place in others} <= named
            assert len(own) + count >= len(named)
            votes = [row[asker] for row in shown["votes"]]
            for column, seen in enumerate(numbers["needed"][asker]):
                total = shown["bias"][asker][column] + sum(
                    float(on) * vote[column] for on, vote in zip(is_on, votes, strict=True)
                )
                assert total == pytest.approx(scores[asker, places[seen]].item(), abs=0.06)


def test_one_head_gives_all_to_one_word_and_four_find_both():
    """What the page's idea rests on."""
    numbers = compute_numbers(TOKENS)
    ceo, earnings = TOKENS.index("CEO"), TOKENS.index("earnings")
    assert numbers["needed"][ANNOUNCED] == [ceo, earnings]
    [single] = numbers["layers"]["1"]["weights"]
    assert single[ANNOUNCED][ceo] < 0.01 < 0.99 < single[ANNOUNCED][earnings]
    assert numbers["layers"]["1"]["named"][0][ANNOUNCED][0] == [earnings]
    four = numbers["layers"]["4"]
    assert max(rows[ANNOUNCED][ceo] for rows in four["weights"]) > 0.9
    assert max(rows[ANNOUNCED][earnings] for rows in four["weights"]) > 0.9
    assert four["named"][0][ANNOUNCED][0] == [ceo, earnings]
    head = find_indispensable_head(four["named"], ANNOUNCED)
    assert head == 1
    assert four["named"][1 << head][ANNOUNCED][0] == [ceo]


def test_every_choice_of_the_picture_is_among_what_is_sent():
    assert len({*list_switches(8)}) == len(list_switches(8)) == 2 ** max(NUM_HEADS)
    assert list_switches(11)[1] == "a", "a digit for each head"
    sent = hero(opened(PAGE, {"heads": "8", "off": ["1", "7"], "word": "4"}))
    assert sent["choices"] == {"word": 4, "heads": "8", "off": "17", "deep": ""}
    assert [len(layer["named"]) for layer in sent["layers"].values()] == [2, 4, 16, 256]


def test_recalls_are_computed():
    asked = recall_remaining_share(Random(3))
    assert asked.answer == 100 - int(asked.given["share"])
    layer = recall_layer_numbers(Random(3))
    assert layer.answer == 4 * int(layer.given["d_model"]) ** 2
    assert int(layer.given["heads"]) * int(layer.worked["d_k"]) == int(layer.given["d_model"])
