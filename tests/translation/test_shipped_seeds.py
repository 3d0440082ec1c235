"""What the shipped seeds of the translator can do, and that the report says so."""

import json

import pytest

from explainers.translation import corpus, evaluation_report, weights_file
from explainers.translation.alignment import read_links
from explainers.translation.corpus import RUNNING_PAIR
from explainers.translation.evaluation import MEAN_OF_HEADS, evaluate_seed
from explainers.translation.model import NUM_LAYERS
from explainers.translation.weights_file import SEEDS, load_translator


def test_the_shipped_files_are_small():
    for file in (weights_file.FIRST_FILE, weights_file.OTHERS_FILE):
        assert file.stat().st_size <= 2_000_000


@pytest.mark.parametrize("seed", SEEDS)
def test_every_seed_translates_the_running_sentence(seed):
    found = load_translator(seed).translate(RUNNING_PAIR.source)
    assert found.syllables == RUNNING_PAIR.target
    assert (
        load_translator(seed).translate(RUNNING_PAIR.source, beams=4).syllables
        == RUNNING_PAIR.target
    )


def test_what_changes_places_is_found_without_having_been_told():
    weights = (
        load_translator(0).force(RUNNING_PAIR.source, RUNNING_PAIR.target).cross[-1].mean(dim=0)
    )
    links = dict(read_links(weights, len(RUNNING_PAIR.source), len(RUNNING_PAIR.target)))
    words = {
        RUNNING_PAIR.target[syllable]: RUNNING_PAIR.source[word] for syllable, word in links.items()
    }
    assert words["lợi"] == words["nhuận"] == "earnings"
    assert words["kỷ"] == "record"
    assert len(links.items() & RUNNING_PAIR.sure) >= 11


def test_the_report_reaches_what_was_promised():
    reported = json.loads(evaluation_report.read_report().evaluation.format_json())
    assert reported["exact_match_unseen"] >= 0.99
    assert reported["exact_match_held_out_pairs"] >= 0.98
    assert reported["aer"] <= 0.03
    assert reported["aer"] < 0.6 * reported["aer_ibm1"]
    assert reported["aer"] < reported["aer_hmm"]
    assert reported["seeds"] == 3


@pytest.mark.nightly("five seconds; weights and report come from one run")
def test_the_report_is_what_the_shipped_weights_do():
    """On some of the sentences: near what the report says of all."""
    some = corpus.draw_test_sets(60)
    for seed in SEEDS:
        found, reported = (
            evaluate_seed(load_translator(seed), some),
            evaluation_report.read_report().evaluation.seeds[seed],
        )
        assert found.aer == pytest.approx(reported.aer, abs=0.015)
        assert found.exact_match_unseen >= 0.95
        assert found.exact_match_held_out_pairs >= 0.93
        own = {row[:3]: row.aer for row in found.rows}
        for row in reported.rows:
            assert own[row[:3]] == pytest.approx(row.aer, abs=0.07)
        assert (
            own[NUM_LAYERS - 1, MEAN_OF_HEADS, "predicted"]
            < 0.2 * own[NUM_LAYERS - 1, MEAN_OF_HEADS, "input"]
        )


def test_the_readable_report_is_the_report():
    assert evaluation_report.MARKDOWN_REPORT.read_text(
        encoding="utf-8"
    ) == evaluation_report.format_report(*evaluation_report.read_report())
