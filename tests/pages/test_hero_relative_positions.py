"""The picture that opens the page on relative positions: torch's numbers, complete sentences."""

import json

import pytest
import torch

from explainers.attention import masks
from explainers.attention.positions import sinusoidal
from explainers.attention.rotary import angles, rotary_attention, rotate
from explainers.attention.scaled_dot_product import attention
from explainers.attention.single_head import project
from explainers.chapters.relative_positions.hero import compute_numbers
from explainers.chapters.relative_positions.moved_pair import MovedPair
from explainers.chapters.relative_positions.position_scores import D_MODEL, TURNED_DIM
from explainers.chapters.relative_positions.takeaway import compute_moved_pair
from explainers.toys import examples
from explainers.toys.sentence import SENTENCE
from explainers.ui.text.numbers import bound_rounding, write_decimals
from tests.support.opening import ROOT, opened
from tests.support.reading import hero

PAGE = ROOT / "pages" / "07_relative_positions.py"
TOKENS = tuple(SENTENCE.split())
SPEEDS = torch.tensor([1, 0.1, 0.01, 0.001])
FULL = masks.build(masks.full, 7, 7)


def head_of(seed):
    """The words' vectors, and the head that reads them."""
    x = examples.draw_embeddings(TOKENS, D_MODEL, seed).cpu()
    return x, examples.random_head(D_MODEL, TURNED_DIM, TURNED_DIM, seed)


def close(numbers, expected, within=2e-5):
    torch.testing.assert_close(
        torch.as_tensor(numbers), torch.as_tensor(expected), atol=within, rtol=0
    )


@pytest.mark.parametrize(("words", "shift"), [((2, 4), 64), ((6, 1), 7), ((0, 0), 0)])
def test_scores_of_words_that_move_together_are_those_of_attention(words, shift):
    sent = compute_numbers(MovedPair.of(TOKENS, words, 5))
    x, head = head_of(5)
    start, place = -sent["least"], slice(shift, shift + 7)
    angle = angles(torch.arange(shift, shift + 7), TURNED_DIM, examples.LONGEST)
    rotary = rotary_attention(*project(x, head), FULL, angle).scores[words]
    close(sent["rotary"][start][shift], rotary.item())
    close(sum(sent["parts"][start][shift]), rotary.item(), 5e-5)
    waves = sinusoidal(100, D_MODEL, examples.LONGEST)[place]
    added = attention(*project(x + waves, head), FULL).scores[words]
    close(sent["added"][start][shift], added.item())


@pytest.mark.parametrize("apart", [-2, 1, 6])
def test_a_word_that_moves_alone_is_rotated_further(apart):
    sent, (x, head), shift = compute_numbers(MovedPair.of(TOKENS, (2, 4), 5)), head_of(5), 9
    views, places = project(x, head), torch.tensor([2 + shift + apart, 4 + shift])
    angle = angles(places, TURNED_DIM, examples.LONGEST)
    query, key = rotate(torch.stack([views.query[2], views.key[4]]), angle)
    frame = apart - sent["least"]
    parts = (query * key).view(-1, 2).sum(dim=-1) / TURNED_DIM**0.5
    close(sent["parts"][frame][shift], parts)
    close(sent["rotary"][frame][shift], parts.sum().item())
    hands = [torch.view_as_complex(vector.view(-1, 2)) for vector in (query, key)]
    told = [torch.tensor(sent["query"][frame + shift]), torch.tensor(sent["key"][shift])]
    for hand, direction in zip(hands, told, strict=True):
        close(torch.polar(hand.abs(), direction), hand, 4e-4)
    between = (hands[0] * hands[1].conj()).angle().abs().rad2deg()
    close(torch.tensor(sent["between"][frame][shift]).float(), between, 0.51)
    waves = sinusoidal(100, D_MODEL, examples.LONGEST)
    added = (x[2] + waves[places[0]]) @ head.w_query @ ((x[4] + waves[places[1]]) @ head.w_key)
    close(sent["added"][frame][shift], added.item() / TURNED_DIM**0.5)


def test_what_is_taken_away_is_what_is_seen():
    sent = compute_numbers(MovedPair.of(TOKENS, (2, 4), 5))
    taken = compute_moved_pair(TOKENS, (2, 4), 3, 40, 5)["parts"]
    frame = 3 - sent["least"]
    close(taken[0], [*sent["parts"][frame][40], sent["rotary"][frame][40]])
    close(taken[1, -1].item(), sent["added"][frame][40])


def test_hands_turn_and_the_angle_between_them_stays():
    moved = MovedPair.of(TOKENS, (2, 4), 5)
    start, shifts = -moved.least, torch.arange(65)[:, None]
    for vectors in (moved.query[start : start + 65], moved.key):
        hands = torch.view_as_complex(vectors.view(65, -1, 2))
        turns = torch.polar(torch.ones(65, 4), shifts * SPEEDS)
        close(hands / hands[:1], turns, 1e-4)
    between = moved.angles_between()[start]
    assert (between - between[0]).abs().max() < 0.01
    assert (moved.query - moved.query[0]).abs().amax() > 0.5
    rotary, added = moved.scores()
    assert (rotary - rotary[:, :1]).abs().max() < 1e-4
    assert (added[:, 1:] - added[:, :1]).abs().amax(dim=1).min() > 0.1


@pytest.mark.parametrize("words", [(0, 6), (6, 0), (3, 3)])
def test_no_word_is_moved_before_the_beginning(words):
    moved = MovedPair.of(TOKENS, words, 0)
    assert words[0] + moved.least >= 0
    sent = compute_numbers(moved)
    moves = 7 - sent["least"]
    assert [len(sent[name]) for name in ("parts", "rotary", "added", "between")] == [moves] * 4
    assert {len(row) for row in sent["added"]} == {65}
    assert len(sent["query"]) == 64 + moves
    assert len(json.dumps(sent)) < 90_000


def test_what_is_said_of_rounding_is_true():
    moved = MovedPair.of(TOKENS, (2, 4), 0)
    sent, rotary = compute_numbers(moved), moved.scores()[0]
    changes = (rotary - rotary[:, :1]).abs()
    for said, row in zip(sent["roundings"], changes.tolist(), strict=True):
        bound = float(said.removeprefix("less than "))
        assert max(row) < bound <= 1e-4
        assert said == bound_rounding(max(row))


def test_words_that_change_places_are_as_far_apart_and_their_score_is_another():
    choices = {"word": "6", "asked": "1", "seed": "3"}
    [tried] = [one for one in hero(opened(PAGE, choices))["experiments"] if one["name"] == "swap"]
    linked = {name: str(value) for name, value in tried["choices"].items()}
    swap = hero(opened(PAGE, choices | linked))
    assert swap["choices"] == tried["choices"]
    asking, asked = swap["pair"]
    apart = tried["choices"]["apart"]
    assert asking + apart - asked == asked - asking, "the same distance"
    frames = -swap["least"], apart - swap["least"]
    scores = [write_decimals(swap["rotary"][at][0]) for at in frames]
    assert "from {} to {}".format(*scores) in tried["text"]
    assert scores[0] != scores[1], "of some pairs the change is too small to be seen"


@pytest.mark.parametrize(
    ("asked", "shown"),
    [({"shift": "41"}, 41), ({"shift": "65"}, 0), ({"apart": "-2"}, -2), ({"apart": "-3"}, 0)],
)
def test_a_link_moves_the_words(asked, shown):
    visit = opened(PAGE, asked)
    [name] = asked
    assert hero(visit)["choices"][name] == shown
    assert bool(visit.info) == (asked[name] in {"65", "-3"})
