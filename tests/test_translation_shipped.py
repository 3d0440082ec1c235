"""What the shipped seeds of the translator can do, and that the report says so."""

import json

import pytest

from explainers.translation import corpus, report, weights_file
from explainers.translation.alignment import read_links
from explainers.translation.corpus import RUNNING
from explainers.translation.measure import MEAN, measured
from explainers.translation.model import LAYERS
from explainers.translation.weights_file import SEEDS, load


def test_the_shipped_files_are_small():
    for file in (weights_file.FIRST, weights_file.OTHERS):
        assert file.stat().st_size <= 2_000_000


@pytest.mark.parametrize("seed", SEEDS)
def test_every_seed_translates_the_running_sentence(seed):
    found = load(seed).translate(RUNNING.source)
    assert found.syllables == RUNNING.target
    assert load(seed).translate(RUNNING.source, beams=4).syllables == RUNNING.target


def test_what_changes_places_is_found_without_having_been_told():
    weights = load(0).forced(RUNNING.source, RUNNING.target).cross[-1].mean(dim=0)
    links = dict(read_links(weights, len(RUNNING.source), len(RUNNING.target)))
    words = {RUNNING.target[syllable]: RUNNING.source[word] for syllable, word in links.items()}
    assert words["thu"] == words["nhập"] == "earnings"
    assert words["kỷ"] == "record"
    assert len(links.items() & RUNNING.sure) >= 11


def test_the_report_reaches_what_was_promised():
    reported = json.loads(report.kept().evaluation.line())
    assert reported["exact_match_unseen"] >= 0.99
    assert reported["exact_match_held_out_pairs"] >= 0.98
    assert reported["aer"] <= 0.045
    assert reported["aer"] < 0.6 * reported["aer_ibm1"]
    assert reported["seeds"] == 3


def test_the_report_is_what_the_shipped_weights_do():
    """On some of the sentences: near what the report says of all."""
    some = corpus.for_testing(60)
    for seed in SEEDS:
        found, reported = measured(load(seed), some), report.kept().evaluation.seeds[seed]
        assert found.aer == pytest.approx(reported.aer, abs=0.015)
        assert found.exact_match_unseen >= 0.95
        assert found.exact_match_held_out_pairs >= 0.93
        own = {row[:3]: row.aer for row in found.rows}
        for row in reported.rows:
            assert own[row[:3]] == pytest.approx(row.aer, abs=0.07)
        assert own[LAYERS - 1, MEAN, "predicted"] < 0.2 * own[LAYERS - 1, MEAN, "input"]


def test_the_readable_report_is_the_report():
    assert report.READABLE.read_text(encoding="utf-8") == report.readable(*report.kept())
