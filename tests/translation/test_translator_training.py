"""How the translator learns and is measured, what shipped seeds do, what weights matter."""

import json
import runpy
import sys
from typing import Any

import pytest
import torch
from torch.testing import assert_close

from explainers.attention import masks
from explainers.attention.scaled_dot_product import attention
from explainers.translation import corpus, translator
from explainers.translation.alignment import (
    compute_cross_weights,
    pool_links,
    read_links,
    score_alignment,
)
from explainers.translation.corpus import RUNNING_PAIR
from explainers.translation.model import (
    NUM_LAYERS,
    Model,
    peak_attention,
    permuted_attention,
    uniform_attention,
)
from explainers.translation.translator import SEEDS, load_translator
from explainers.translation.vocabulary import BEGIN, END, PAD, vietnamese_vocabulary
from tests.support.translators import make_untrained_translator
from workshop.translation import evaluation, evaluation_report, train, training_set
from workshop.translation.evaluation import (
    MEAN_OF_HEADS,
    READINGS,
    evaluate_seed,
    measure_exact_match,
)
from workshop.translation.train import BATCH_SIZE, Training, draw_parameters, make_batches

FEW = corpus.draw_test_sets(5)
SENTENCES = 250


@pytest.fixture
def small(monkeypatch, folder):
    """Few sentences, and files of its own."""
    for module in (training_set, evaluation):
        monkeypatch.setattr(module, "draw_test_sets", lambda count=5: FEW)
    make_batches.cache_clear()
    yield folder
    make_batches.cache_clear()


def after(steps, seed=0):
    training = Training(seed, 40, SENTENCES)
    losses = [training.step() for _ in range(steps)]
    return training, losses


def test_targets_are_the_input_one_step_later(small):
    some = make_batches(SENTENCES)
    assert sum(len(batch.decoder_input) for batch in some) == SENTENCES
    assert {len(batch.decoder_input) for batch in some} == {BATCH_SIZE, SENTENCES % BATCH_SIZE}
    for batch in some:
        lengths = (batch.targets != PAD).sum(dim=-1)
        assert (batch.decoder_input[:, 0] == BEGIN).all()
        assert (batch.targets.gather(1, lengths[:, None] - 1) == END).all()
        for decoder_input, target, length in zip(
            batch.decoder_input, batch.targets, lengths, strict=True
        ):
            assert torch.equal(decoder_input[1:length], target[: length - 1])
        assert batch.source.ids.shape == (len(batch.decoder_input), batch.source.lengths.max())


def test_training_again_gives_the_same(small):
    first, again, other = (after(3, seed)[0].export_parameters() for seed in (0, 0, 1))
    assert {part.dtype for part in first.values()} == {torch.float16}
    assert all(torch.equal(part, again[name]) for name, part in first.items())
    assert not torch.equal(first["words"], other["words"])


def test_padding_adds_no_loss(small):
    batch = make_batches(SENTENCES)[0]
    model = Model.from_parameters(draw_parameters(0))
    alone = [one_of(batch, place) for place in range(4)]
    sizes = torch.tensor([(one.targets != PAD).sum() for one in alone]).float()
    losses = torch.stack([train.compute_loss(model, one, one.decoder_input) for one in alone])
    some = train.Batch(*(cut(part) for part in batch))
    together = train.compute_loss(model, some, some.decoder_input)
    assert_close(together, (losses @ sizes) / sizes.sum(), rtol=1e-4, atol=1e-4)


def cut(part):
    return type(part)(*(one[:4] for one in part)) if isinstance(part, tuple) else part[:4]


def one_of(batch, place):
    """One sentence without any padding."""
    length, words = (batch.targets[place] != PAD).sum(), batch.source.lengths[place]
    source = type(batch.source)(batch.source.ids[place, :words][None], words[None])
    decoder_input, targets = (
        rows[place, :length][None] for rows in (batch.decoder_input, batch.targets)
    )
    return train.Batch(source, decoder_input, targets)


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
    monkeypatch.setattr(evaluation_report, "JSON_REPORT", small / "report.json")
    monkeypatch.setattr(evaluation_report, "MARKDOWN_REPORT", small / "REPORT.md")
    evaluation_report.write_report(result, "made by a test")
    evaluation_report.read_report.cache_clear()
    again = evaluation_report.read_report()
    evaluation_report.read_report.cache_clear()
    assert again == (result, "made by a test")


def test_alignment_is_measured_where_the_page_reads_it():
    """In batches with filling as in each sentence alone; the last layer, the mean of its heads."""
    translator = make_untrained_translator(4)
    both = [*FEW.unseen, *FEW.held_out_pairs]
    links, lenient = [], []
    for weights, pair in zip(compute_cross_weights(translator.model, both), both, strict=True):
        alone = translator.force(pair.source, pair.target).cross
        assert_close(weights, alone, atol=1e-5, rtol=1e-4)
        mean = alone[-1].mean(dim=0)
        links.append(read_links(mean, len(pair.source), len(pair.target)))
        lenient.append(pair.sure - pair.weak)
    found = evaluate_seed(translator, FEW)
    gold, wanted = pool_links(pair.sure for pair in both), pool_links(links)
    assert found.aer == score_alignment(wanted, gold, gold).aer
    assert found.aer_if_weak_may_be == score_alignment(wanted, pool_links(lenient), gold).aer
    assert len(found.rows) == 2 * len(READINGS) * NUM_LAYERS


def test_exact_match_counts_whole_sentences():
    """A translator that always writes the running sentence."""
    numbers = [*vietnamese_vocabulary().encode(RUNNING_PAIR.target), END]
    start = RUNNING_PAIR._replace(source=("sales", "rose"))

    class Parrot:
        def encode(self, source):
            return make_untrained_translator().model.encode(source)

        def predict(self, read, source, attend=()):
            found = make_untrained_translator().model.predict(read, source)
            logits = torch.zeros_like(found.logits)
            logits[:, -1, numbers[min(read.shape[-1], len(numbers)) - 1]] = 1.0
            return found._replace(logits=logits)

    others = [pair for pair in FEW.unseen if pair.target != RUNNING_PAIR.target]
    parrot: Any = Parrot()
    assert measure_exact_match(parrot, [RUNNING_PAIR, start, *others[:2]]) == 0.5


def test_what_is_shipped_is_small_and_translates_the_running_sentence():
    for file in (translator.FIRST_FILE, translator.OTHERS_FILE):
        assert file.stat().st_size <= 2_000_000
    for seed in SEEDS:
        for beams in (1, 4):
            found = load_translator(seed).translate(RUNNING_PAIR.source, beams)
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
    some = corpus.draw_test_sets(60)
    for seed in SEEDS:
        found = evaluate_seed(load_translator(seed), some)
        reported = evaluation_report.read_report().evaluation.seeds[seed]
        assert found.aer == pytest.approx(reported.aer, abs=0.015)
        assert found.exact_match_unseen >= 0.95
        assert found.exact_match_held_out_pairs >= 0.93
        own = {row[:3]: row.aer for row in found.rows}
        for row in reported.rows:
            assert own[row[:3]] == pytest.approx(row.aer, abs=0.07)
        predicted, read = (
            own[NUM_LAYERS - 1, MEAN_OF_HEADS, row] for row in ("predicted", "input")
        )
        assert predicted < 0.2 * read


BATCH, HEADS, Q_LEN, KV_LEN, HEAD_DIM = 2, 3, 5, 7, 4
LENGTHS = torch.tensor([4, 7])
MASK = masks.build(masks.padding(LENGTHS), 1, KV_LEN)
WORDS, SYLLABLES = ("the", "CEO", "announced", "earnings"), ("tổng", "giám", "đốc")


def drawn(*axes):
    seeded = torch.Generator().manual_seed(sum(axes))
    return torch.randn(*axes, generator=seeded, dtype=torch.double)


QUERY = drawn(BATCH, HEADS, Q_LEN, HEAD_DIM)
KEY, VALUE = drawn(2, BATCH, HEADS, KV_LEN, HEAD_DIM)
LEARNED = attention(QUERY, KEY, VALUE, MASK)


def test_weights_in_place_of_learned_ones():
    """What is hidden stays hidden; even, the peak alone, or the same numbers in other places."""
    for instead in (uniform_attention, peak_attention, permuted_attention):
        run = instead(QUERY, KEY, VALUE, MASK)
        assert_close(run.weights.sum(dim=-1), torch.ones(BATCH, HEADS, Q_LEN).double())
        assert (run.weights[0, ..., 4:] == 0).all()
        assert_close(run.scores, LEARNED.scores)
        assert_close(run.output, run.weights @ VALUE)
    even, peak, moved = (
        instead(QUERY, KEY, VALUE, MASK).weights
        for instead in (uniform_attention, peak_attention, permuted_attention)
    )
    assert_close(even[0, ..., :4], torch.full((HEADS, Q_LEN, 4), 1 / 4).double())
    assert_close(even[1], torch.full((HEADS, Q_LEN, 7), 1 / 7).double())
    assert torch.equal(peak.argmax(dim=-1), LEARNED.weights.argmax(dim=-1))
    assert set(peak.unique().tolist()) == {0.0, 1.0}
    assert_close(moved.sort(dim=-1).values, LEARNED.weights.sort(dim=-1).values)
    assert (moved[1] != LEARNED.weights[1]).any(dim=-1).all()
    first_rows = permuted_attention(QUERY[..., :2, :], KEY, VALUE, MASK).weights
    assert_close(first_rows, moved[..., :2, :])
