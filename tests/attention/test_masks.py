"""Who may look at whom, drawn: a row per query, a column per key, # where the query may look.

How far that reaches: by walking its arrows.
"""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers.masking_utils import chunked_causal_mask_function

from explainers.attention import masks
from explainers.attention.receptive_field import reach


def drawn(mask):
    return [
        " ".join("".join(".#"[allowed] for allowed in row) for row in rows)
        for rows in mask.reshape(-1, *mask.shape[-2:]).tolist()
    ]


PICTURES = {
    "full": ["##### ##### ##### ##### #####"],
    "causal": ["#.... ##... ###.. ####. #####"],
    "window of 3": ["#.... ##... ###.. .###. ..###"],
    "prefix of 3": ["###.. ###.. ###.. ####. #####"],
    "chunk of 3": ["#.... ##... ###.. ...#. ...##"],
}


@pytest.mark.parametrize("name", masks.RULES)
def test_rules_in_pictures(name):
    assert drawn(masks.build(masks.RULES[name], 5, 5)) == PICTURES[name]


@pytest.mark.parametrize("name", masks.RULES)
def test_while_decoding_the_queries_are_the_last_positions(name):
    whole = masks.build(masks.RULES[name], 5, 5)
    assert torch.equal(masks.build(masks.RULES[name], 2, 5), whole[-2:])


@pytest.mark.parametrize(("width", "length"), [(3, 7), (4, 13), (1, 5), (9, 8)])
def test_chunks_are_those_of_transformers(width, length):
    theirs = chunked_causal_mask_function(width, torch.zeros(1, dtype=torch.int))
    allowed = [
        [bool(theirs(0, 0, torch.tensor(q), torch.tensor(k))) for k in range(length)]
        for q in range(length)
    ]
    assert masks.build(masks.chunks(width), length, length).tolist() == allowed


def test_a_mask_drawn_by_hand_is_the_mask_that_was_drawn():
    cells = torch.tensor([[0, 1, 0], [1, 0, 1], [0, 0, 1]], dtype=torch.bool)
    assert drawn(masks.build(masks.drawn(cells), 3, 3)) == [".#. #.# ..#"]
    assert drawn(masks.build(masks.drawn(cells), 2, 3)) == ["#.# ..#"]


def test_sequences_of_different_lengths_in_one_batch():
    mask = masks.build(masks.causal & masks.padding(torch.tensor([4, 2, 1])), 4, 4)
    assert mask.shape == (3, 1, 4, 4)  # the same for every head
    assert drawn(mask) == ["#... ##.. ###. ####", "#... ##.. ##.. ##..", "#... #... #... #..."]


def test_a_query_with_nothing_to_look_at_is_refused_by_its_row():
    for rule, row in [
        (masks.Rule(lambda query_pos, key_pos: (key_pos <= query_pos) & (query_pos != 6)), 4),
        (masks.sliding_window(0), 0),
        (masks.causal & masks.padding(torch.tensor([7, 0])), 0),
        (masks.drawn(torch.ones(7, 7, dtype=torch.bool).triu(3)) & masks.causal, 0),
    ]:
        with pytest.raises(ValueError, match=rf"row {row} \(of 5 queries\) nothing to look at"):
            masks.build(rule, 5, 7)


@pytest.mark.parametrize(("q_len", "kv_len"), [(6, 5), (0, 5), (0, 0)])
def test_queries_that_are_not_the_last_positions_are_refused(q_len, kv_len):
    with pytest.raises(ValueError, match=f"{q_len} queries cannot be the last of {kv_len}"):
        masks.build(masks.full, q_len, kv_len)


CHANCES = st.integers(0, 2**16)


def any_mask(seed, length=6):
    return torch.rand(length, length, generator=torch.Generator().manual_seed(seed)) < 0.3


@given(CHANCES)
def test_agrees_with_walking_from_token_to_token(seed):
    batch = torch.stack([any_mask(seed), any_mask(seed + 1)])
    for mask, layers in zip(batch, reach(batch, 4).tolist(), strict=True):
        reached = [{row} for row in range(6)]
        for layer in layers:
            reached = [
                {key for place in places for key in range(6) if mask[place, key]}
                for places in reached
            ]
            assert [{key for key in range(6) if row[key]} for row in layer] == reached


def test_what_cannot_be_stacked_is_refused_with_its_sizes():
    with pytest.raises(ValueError, match="0 layers"):
        reach(masks.build(masks.full, 5, 5), 0)
    with pytest.raises(ValueError, match=r"\(5, 7\)"):
        reach(masks.build(masks.full, 5, 7), 2)
