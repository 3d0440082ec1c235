"""Small weights that have RoPE, and models past their trained length: made again, as reported."""

from dataclasses import asdict, replace

import pytest
import torch

from explainers import kept
from explainers.folders import ASSETS
from explainers.toys import layers
from explainers.toys import rotary_layers as longer
from explainers.toys.examples import make_generator
from explainers.toys.grammar import GRAMMARS
from explainers.toys.rotary_layers import PARTS, ROTARY_SEED, load_finder, load_writer
from explainers.toys.training import draw_pool
from workshop.toys import measure_longer_texts as measure
from workshop.toys import rotary_training
from workshop.toys import train_longer_texts as train
from workshop.toys.readable_training import MEASURED
from workshop.toys.tolerance import allows

each_language = pytest.mark.parametrize("language", GRAMMARS)


@each_language
def test_the_report_is_what_the_shipped_weights_do(language):
    row = rotary_training.read_rotary_rows(language)[0]
    allowed = kept.read(layers.name_weights("rotary", language)).tolerance[MEASURED]
    assert row.seed == ROTARY_SEED
    found = rotary_training.measure_rotary(
        row.seed, load_finder(language), load_writer(language), language
    )
    assert asdict(found) == pytest.approx(asdict(row), abs=allowed)
    assert row.found > 0.95 > 0.8 > row.found_unturned, "it needs to know where words stand"
    assert row.loss < row.loss_of_pairs - 0.1, "it knows more than the word before"
    assert row.loss < row.loss_first_layer - 0.1, "the second layer has learned something"


def test_filling_is_seen_by_itself_alone():
    joined = rotary_training.join_sentences(
        draw_pool(False, "en"), torch.tensor([0]), torch.tensor([1])
    )
    assert joined.mask[0].diagonal().all()
    assert torch.equal(joined.mask[0] & ~joined.is_real, torch.diag(~joined.is_real[0]))


@pytest.mark.parametrize("kind", PARTS)
def test_a_training_comes_out_the_same_again(kind):
    once, again = (rotary_training.train_rotary(kind, 1, "en", steps=3) for _ in range(2))
    assert all(map(torch.equal, once, again))
    assert len(once) == len(PARTS[kind])
    untrained = rotary_training.train_rotary(kind, 1, "en", steps=0)
    assert not any(map(torch.equal, once, untrained)), "everything learns"


def test_a_worse_training_is_noticed(monkeypatch):
    row = rotary_training.read_rotary_rows("en")[0]
    monkeypatch.setattr(rotary_training, "train_and_measure", lambda *_: ({}, row))
    assert rotary_training.check_rotary("en")
    worse = replace(row, loss=row.loss + 0.5)
    monkeypatch.setattr(rotary_training, "train_and_measure", lambda *_: ({}, worse))
    assert not rotary_training.check_rotary("en")


@pytest.mark.nightly("trains both again: half a minute; a few batches are trained daily")
@each_language
def test_the_kept_seed_comes_out_again(language):
    assert rotary_training.check_rotary(language)


def test_without_positions_the_order_of_earlier_tokens_is_lost_and_with_them_it_is_not():
    """In one layer: two see prefixes of different lengths."""
    parts = train.draw_parts(make_generator("test"))
    parts["1 output"] = torch.zeros_like(parts["1 output"])
    tokens = torch.tensor([[1, 2, 3, 4], [2, 1, 3, 4]])
    last = {
        k: train.predict_next(parts, tokens, longer.find_speeds(k, longer.PLAIN, 1.0))[:, -1]
        for k in longer.KINDS
    }
    apart = {kind: (one - other).abs().max() for kind, (one, other) in last.items()}
    assert apart[longer.NOWHERE] < 1e-5
    assert apart[longer.ROTARY] > 1e-3
    assert apart[longer.PARTIAL] > 1e-3


def test_the_same_seed_learns_the_same_and_further_training_leaves_the_model_alone():
    (parts, losses), (_same, again), (_other, others) = (
        train.train_model(longer.ROTARY, seed, 3) for seed in (1, 1, 2)
    )
    assert losses == again != others
    before = {name: part.detach().clone() for name, part in parts.items()}
    more = train.train_further(parts, longer.PI, 64, 1, 2)
    assert all(torch.equal(before[name], parts[name]) for name in parts)
    assert not torch.equal(more["words"], parts["words"])
    asked = [
        train.measure_model(parts, longer.ROTARY, way, 64, 4).loss
        for way in (longer.PLAIN, longer.PI, longer.NTK, longer.YARN)
    ]
    assert len(set(asked)) == 4


def test_what_is_shipped_is_of_all_models_and_seeds_and_small():
    keys = {(kind, way, 0) for kind, ways in measure.ASKED.items() for way in ways}
    keys |= {(longer.ROTARY, way, longer.FURTHER) for way in measure.TRAINED_FURTHER}
    assert set(longer.read_longer_results()) == keys
    for row in longer.read_longer_results().values():
        for numbers in (row.losses, row.rights):
            assert [len(of_seed) for of_seed in numbers] == [len(row.lengths)] * len(longer.SEEDS)
    assert (ASSETS / f"{longer.LONGER}.json").stat().st_size < 8_000
    row = longer.read_longer_results()[longer.ROTARY, longer.PLAIN, 0]
    shipped, (loss, _right) = (
        [of_seed[-1] for of_seed in row.losses],
        row.average(longer.LENGTHS[-1]),
    )
    assert allows(longer.LONGER, shipped, loss)
    assert not allows(longer.LONGER, shipped, 3 * loss)


def test_the_first_batches_come_out_again():
    """A change of the model, the task or the optimiser shows here; a processor's roundings not."""
    stored = kept.read(longer.LONGER)
    allowed, losses = stored.tolerance[measure.FIRST_LOSSES], stored.numbers["first_losses"]
    assert measure.measure_first_losses() == pytest.approx(losses, abs=allowed)
