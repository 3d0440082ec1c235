"""The small weights that have RoPE: their training, and that they do what the report says."""

from dataclasses import asdict, replace

import pytest
import torch

from explainers import kept
from explainers.toys import layers
from explainers.toys.grammar import GRAMMARS
from explainers.toys.rotary_layers import PARTS, ROTARY_SEED, load_finder, load_writer
from explainers.toys.training import draw_pool
from workshop.toys import rotary_training
from workshop.toys.readable_training import MEASURED

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
