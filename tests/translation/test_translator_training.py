"""How the translator learns and is measured, what shipped seeds do, what weights matter."""

import json
import runpy
import sys

import pytest
import torch
from torch.nn.functional import pad
from torch.testing import assert_close

from explainers import kept
from explainers.attention import masks
from explainers.attention.scaled_dot_product import attention
from explainers.translation import alignment, model, translator
from explainers.translation.corpus import (
    BEGIN,
    END,
    PAD,
    RUNNING_PAIR,
    PaddedIds,
    vietnamese_vocabulary,
)
from explainers.translation.translator import SEEDS, load_translator
from tests.support.drawn import drawn
from tests.support.translators import force, make_untrained_translator
from workshop import keep
from workshop.translation import evaluation, evaluation_report, sentences, train, training_set
from workshop.translation.train import BATCH_SIZE, Training, make_batches

FEW = sentences.draw_test_sets(5)
SENTENCES = 250


@pytest.fixture
def small(monkeypatch, folder):
    """Few sentences, and files of its own."""
    for module in (training_set, evaluation):
        monkeypatch.setattr(module, "draw_test_sets", lambda count=5: FEW)
    make_batches.cache_clear()
    yield folder
    make_batches.cache_clear()


def test_targets_are_the_input_one_step_later(small):
    some = make_batches(SENTENCES)
    assert sum(len(batch.decoder_input) for batch in some) == SENTENCES
    assert {len(batch.decoder_input) for batch in some} == {BATCH_SIZE, SENTENCES % BATCH_SIZE}
    for batch in some:
        for both in zip(batch.decoder_input, batch.targets, strict=True):
            given, wanted = (row[row != PAD].tolist() for row in both)
            assert (given[0], wanted[-1]) == (BEGIN, END)
            assert given[1:] == wanted[:-1]
        assert batch.source.ids.shape == (len(batch.decoder_input), batch.source.lengths.max())


def train_again(seed):
    training = Training(seed, 40, SENTENCES)
    for _ in range(3):
        training.step()
    return training.export_parameters()


def test_training_again_gives_the_same(small):
    first, again, other = map(train_again, (0, 0, 1))
    assert {part.dtype for part in first.values()} == {torch.float16}
    assert all(torch.equal(part, again[name]) for name, part in first.items())
    assert not torch.equal(first["words"], other["words"])


def test_padding_adds_no_loss(small):
    """And the loss is the mean over syllables: a sentence twice as long counts twice."""
    batch, untrained = make_batches(SENTENCES)[0], make_untrained_translator().model

    def loss_of(some, more):
        source, given, targets = (
            pad(rows[some], (0, more), value=PAD)
            for rows in (batch.source.ids, batch.decoder_input, batch.targets)
        )
        padded = train.Batch(PaddedIds(source, batch.source.lengths[some]), given, targets)
        return train.compute_loss(untrained, padded, given)

    sizes = (batch.targets[:4] != PAD).sum(dim=-1).float()
    losses = torch.stack([loss_of([n], more=n) for n in range(4)])
    assert_close(loss_of(range(4), more=0), (losses @ sizes) / sizes.sum(), rtol=1e-4, atol=1e-4)


def test_the_whole_way_with_a_few_steps(small, monkeypatch, capsys):
    """Trained, kept, loaded, evaluated, reported: the numbers of the report are the weights'."""
    monkeypatch.setattr(sys, "argv", ["translation", "evaluate", "--json"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("workshop.translation", run_name="__main__")
    assert ended.value.code == 1
    assert "python -m workshop.translation train" in capsys.readouterr().err
    for seed in SEEDS:
        train.make_weights(seed, steps=2, num_sentences=120)
    shown = capsys.readouterr()
    assert ("2/2" in shown.err, shown.out) == (True, "")
    result = evaluation.evaluate_translators(5)
    assert list(result.seeds) == list(SEEDS)
    monkeypatch.setattr(evaluation, "evaluate_translators", lambda: result)
    runpy.run_module("workshop.translation", run_name="__main__")
    [line] = capsys.readouterr().out.splitlines()
    assert line == result.format_json()
    for module in (keep, kept):
        monkeypatch.setattr(module, "ASSETS", small)
    monkeypatch.setattr(evaluation_report, "MARKDOWN_REPORT", small / "REPORT.md")
    evaluation_report.write_report(result, "made by a test")
    again = evaluation_report.read_report()
    evaluation_report.read_report.cache_clear()
    kept.read.cache_clear()
    assert again == (result, "made by a test")


def test_alignment_is_measured_where_the_page_reads_it():
    """In batches with filling as in each sentence alone; the last layer, the mean of its heads."""
    translator = make_untrained_translator(4)
    both = [*FEW.unseen, *FEW.held_out_pairs]
    links, lenient = [], []
    for weights, pair in zip(
        alignment.compute_cross_weights(translator.model, both), both, strict=True
    ):
        alone = force(translator, pair.source, pair.target).cross
        assert_close(weights, alone, atol=1e-5, rtol=1e-4)
        mean = alone[-1].mean(dim=0)
        links.append(alignment.read_links(mean, len(pair.source), len(pair.target)))
        lenient.append(pair.sure - pair.weak)
    found = evaluation.evaluate_seed(translator, FEW)
    gold, wanted = alignment.pool_links(pair.sure for pair in both), alignment.pool_links(links)
    assert found.aer == alignment.score_alignment(wanted, gold, gold).aer
    assert (
        found.aer_if_weak_may_be
        == alignment.score_alignment(wanted, alignment.pool_links(lenient), gold).aer
    )
    assert len(found.rows) == 2 * len(evaluation.READINGS) * model.NUM_LAYERS


def test_exact_match_counts_whole_sentences(monkeypatch):
    """A translator that always writes the running sentence."""
    written = torch.tensor([[*vietnamese_vocabulary().encode(RUNNING_PAIR.target), END, PAD]])
    monkeypatch.setattr(evaluation, "greedy_search", lambda *_: written.expand(4, -1))
    start = RUNNING_PAIR._replace(source=("sales", "rose"))
    others = [pair for pair in FEW.unseen if pair.target != RUNNING_PAIR.target]
    asked, untrained = [RUNNING_PAIR, start, *others[:2]], make_untrained_translator().model
    assert evaluation.measure_exact_match(untrained, asked) == 0.5


def test_what_is_shipped_is_small_and_translates_the_running_sentence():
    for file in (translator.FIRST_FILE, translator.OTHERS_FILE):
        assert file.stat().st_size <= 2_000_000
    for seed in SEEDS:
        found = load_translator(seed).translate(RUNNING_PAIR.source)
        assert found.syllables == RUNNING_PAIR.target
    report = evaluation_report.read_report()
    written = evaluation_report.MARKDOWN_REPORT.read_text(encoding="utf-8")
    assert written == evaluation_report.format_report(*report)
    reported = json.loads(report.evaluation.format_json())
    assert reported["exact_match_unseen"] >= 0.99
    assert reported["exact_match_held_out_pairs"] >= 0.98
    assert reported["aer"] < 0.03


@pytest.mark.nightly("five seconds; weights and report come from one run")
def test_the_report_is_what_the_shipped_weights_do():
    """On some of the sentences: near what the report says of all."""
    some = sentences.draw_test_sets(60)
    for seed in SEEDS:
        found = evaluation.evaluate_seed(load_translator(seed), some)
        reported = evaluation_report.read_report().evaluation.seeds[seed]
        assert found.aer == pytest.approx(reported.aer, abs=0.015)
        assert found.exact_match_unseen >= 0.95
        assert found.exact_match_held_out_pairs >= 0.93
        own = {row[:3]: row.aer for row in found.rows}
        for row in reported.rows:
            assert own[row[:3]] == pytest.approx(row.aer, abs=0.07)
        predicted, read = (
            own[model.NUM_LAYERS - 1, evaluation.MEAN_OF_HEADS, row]
            for row in ("predicted", "input")
        )
        assert predicted < 0.2 * read


BATCH, HEADS, Q_LEN, KV_LEN, HEAD_DIM = 2, 3, 5, 7, 4
LENGTHS = torch.tensor([4, 7])
MASK = masks.build(masks.padding(LENGTHS), 1, KV_LEN)

QUERY = drawn(BATCH, HEADS, Q_LEN, HEAD_DIM)
KEY, VALUE = drawn(2, BATCH, HEADS, KV_LEN, HEAD_DIM)
LEARNED = attention(QUERY, KEY, VALUE, MASK)


def test_weights_in_place_of_learned_ones():
    """What is hidden stays hidden; even, the peak alone, or the same numbers in other places."""
    for instead in (model.uniform_attention, model.peak_attention, model.permuted_attention):
        run = instead(QUERY, KEY, VALUE, MASK)
        assert_close(run.weights.sum(dim=-1), torch.ones(BATCH, HEADS, Q_LEN).double())
        assert (run.weights[0, ..., 4:] == 0).all()
        assert_close(run.scores, LEARNED.scores)
        assert_close(run.output, run.weights @ VALUE)
    even, peak, moved = (
        instead(QUERY, KEY, VALUE, MASK).weights
        for instead in (model.uniform_attention, model.peak_attention, model.permuted_attention)
    )
    assert_close(even[0, ..., :4], torch.full((HEADS, Q_LEN, 4), 1 / 4).double())
    assert_close(even[1], torch.full((HEADS, Q_LEN, 7), 1 / 7).double())
    assert torch.equal(peak.argmax(dim=-1), LEARNED.weights.argmax(dim=-1))
    assert set(peak.unique().tolist()) == {0.0, 1.0}
    assert_close(moved.sort(dim=-1).values, LEARNED.weights.sort(dim=-1).values)
    assert (moved[1] != LEARNED.weights[1]).any(dim=-1).all()
    first_rows = model.permuted_attention(QUERY[..., :2, :], KEY, VALUE, MASK).weights
    assert_close(first_rows, moved[..., :2, :])
