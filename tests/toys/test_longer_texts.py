"""Models past their trained length: the task, the model, what was shipped, and training again."""

import pytest
import torch

from explainers import kept
from explainers.folders import ASSETS
from explainers.toys.examples import make_generator
from explainers.toys.rotary_layers import (
    FURTHER,
    KINDS,
    LENGTHS,
    LONGER,
    NOWHERE,
    NTK,
    PARTIAL,
    PI,
    PLAIN,
    ROTARY,
    SEEDS,
    YARN,
    find_speeds,
    read_longer_results,
)
from workshop.toys.measure_longer_texts import (
    ASKED,
    FIRST_LOSSES,
    TRAINED_FURTHER,
    measure_first_losses,
)
from workshop.toys.tolerance import allows
from workshop.toys.train_longer_texts import (
    VOCABULARY,
    draw_parts,
    draw_repeats,
    measure_model,
    predict_next,
    train_further,
    train_model,
)


def test_what_can_be_known_was_read_before():
    tokens, is_known = draw_repeats(20, 30, make_generator("test"))
    assert tokens.shape == (20, 31)
    assert is_known.shape == (20, 30)
    for row, known in zip(tokens.tolist(), is_known.tolist(), strict=True):
        for place in range(30):
            found = [row[n + 1] for n in range(place) if row[n] == row[place]]
            assert bool(found) == known[place]
            assert set(found) <= {row[place + 1]}


@pytest.mark.parametrize("kind", KINDS)
def test_no_token_sees_what_follows(kind):
    parts, speed = draw_parts(make_generator("test")), find_speeds(kind, PLAIN, 1.0)
    tokens = draw_repeats(2, 12, make_generator("test")).tokens
    logits = predict_next(parts, tokens, speed)
    assert logits.shape == (2, 13, VOCABULARY)
    other = tokens.clone()
    other[:, -1] = (other[:, -1] + 1) % VOCABULARY
    assert torch.equal(predict_next(parts, other, speed)[:, :-1], logits[:, :-1])


def test_without_positions_the_order_of_earlier_tokens_is_lost_and_with_them_it_is_not():
    """In one layer: two see prefixes of different lengths."""
    parts = draw_parts(make_generator("test"))
    parts["1 output"] = torch.zeros_like(parts["1 output"])
    tokens = torch.tensor([[1, 2, 3, 4], [2, 1, 3, 4]])
    last = {k: predict_next(parts, tokens, find_speeds(k, PLAIN, 1.0))[:, -1] for k in KINDS}
    apart = {kind: (one - other).abs().max() for kind, (one, other) in last.items()}
    assert apart[NOWHERE] < 1e-5
    assert apart[ROTARY] > 1e-3
    assert apart[PARTIAL] > 1e-3


def test_the_same_seed_learns_the_same_and_further_training_leaves_the_model_alone():
    (parts, losses), (_same, again), (_other, others) = (
        train_model(ROTARY, seed, 3) for seed in (1, 1, 2)
    )
    assert losses == again != others
    before = {name: part.detach().clone() for name, part in parts.items()}
    more = train_further(parts, PI, 64, 1, 2)
    assert all(torch.equal(before[name], parts[name]) for name in parts)
    assert not torch.equal(more["words"], parts["words"])
    asked = [measure_model(parts, ROTARY, way, 64, 4).loss for way in (PLAIN, PI, NTK, YARN)]
    assert len(set(asked)) == 4


def test_what_is_shipped_is_of_all_models_and_seeds_and_small():
    keys = {(kind, way, 0) for kind, ways in ASKED.items() for way in ways}
    keys |= {(ROTARY, way, FURTHER) for way in TRAINED_FURTHER}
    assert set(read_longer_results()) == keys
    for row in read_longer_results().values():
        for numbers in (row.losses, row.rights):
            assert [len(of_seed) for of_seed in numbers] == [len(row.lengths)] * len(SEEDS)
    assert (ASSETS / f"{LONGER}.json").stat().st_size < 8_000
    row = read_longer_results()[ROTARY, PLAIN, 0]
    shipped, (loss, _right) = [of_seed[-1] for of_seed in row.losses], row.average(LENGTHS[-1])
    assert allows(LONGER, shipped, loss)
    assert not allows(LONGER, shipped, 3 * loss)


def test_the_first_batches_come_out_again():
    """A change of the model, the task or the optimiser shows here; a processor's roundings not."""
    stored = kept.read(LONGER)
    allowed, losses = stored.tolerance[FIRST_LOSSES], stored.numbers["first_losses"]
    assert measure_first_losses() == pytest.approx(losses, abs=allowed)
