"""Long sequences: what its pictures hold, what it counts, and what it measures on this machine."""

import threading
from unittest import mock

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from explainers.attention import masks
from explainers.chapters.common.score_matrix import Lab
from explainers.chapters.long_sequences import measurement
from explainers.chapters.long_sequences.measurement import WayMeasurement, measure_ways
from explainers.chapters.long_sequences.online_row import Row
from explainers.chapters.long_sequences.tile_figure import TiledSentence
from explainers.toys.layers import draw_layer
from explainers.toys.sentence import SENTENCE
from explainers.ui.session import MEASUREMENT_JOB
from tests.support.opening import PAGES, opened, press, widgets
from tests.support.reading import said
from tests.support.waiting import PATIENCE, over, wait

PAGE = next(page for page in PAGES if page.stem == "11_long_sequences")
WORDS = tuple(SENTENCE.split())
LAB = Lab(draw_layer(WORDS, 8, 1, 4, "full", seed=0), queries_down=True)
CPU = torch.device("cpu")


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 6), st.integers(1, 4))
def test_differences_are_rounding(word, block):
    row = Row.of(LAB, word, block)
    assert max(row.difference, row.output_difference) < 1e-6


def test_of_two_words_no_blocks_are_made():
    visit = opened(PAGE, {"text": "CEO announced", "predict": "true"})
    assert not visit.exception
    assert "This text has 2 words." in said(visit)
    assert not {"guess_exact", "row_word"} & set(widgets(visit))


def test_tiles_are_no_larger_than_the_text_and_larger_for_a_long_one():
    assert TiledSentence(LAB.reading(WORDS[:3]), masks.full, (6, 2)).blocks == (3, 2)
    assert TiledSentence(LAB, masks.full, (2, 3)).blocks == (2, 3)
    long = LAB.reading(("word",) * 24)
    assert TiledSentence(long, masks.full, (2, 6)).blocks == (4, 6)


def test_a_gpu_is_waited_for_and_asked_for_its_own_count(monkeypatch):
    gpu = mock.Mock()
    gpu.memory_allocated.return_value, gpu.max_memory_allocated.return_value = 100, 350
    asked = "synchronize", "reset_peak_memory_stats", "memory_allocated", "max_memory_allocated"
    for name in asked:
        monkeypatch.setattr(torch.cuda, name, getattr(gpu, name))
    assert measurement.measure_peak(gpu.run, torch.device("cuda")) == 250
    calls = [name for name, *_ in gpu.mock_calls]
    assert calls[-3:] == ["run", "synchronize", "max_memory_allocated"]
    assert calls.index("reset_peak_memory_stats") < calls.index("run")
    gpu.reset_mock()
    monkeypatch.setattr(measurement, "MOST_RUNS", 1)
    measurement.time_call(gpu.run, torch.device("cuda"))
    assert [name for name, *_ in gpu.mock_calls] == ["synchronize", "run", "synchronize"]


def measuring():
    """The page whose button was pressed, and its job."""
    visit = press(opened(PAGE, {"deep": "spared"}), "Measure on this machine")
    return visit, visit.session_state[MEASUREMENT_JOB]


def test_the_page_measures():
    visit, job = measuring()
    over(job)
    assert "9 of 9" in visit.run().get("progress")[0].text
    plain = next(m for m in job.reports if (m.way, m.length) == ("plain", 1024))
    size = "12.25 MiB"  # 3 · 1024² + 64 · 1024 numbers of 4 bytes
    assert f"| 1,024 | {1000 * plain.seconds:.2f} ms, {size} |" in said(visit)


def test_measuring_can_be_watched_and_cancelled(monkeypatch, request):
    """Each length waits until the test lets it go on."""
    gate = threading.Event()
    request.addfinalizer(gate.set)

    def slowly(_device):
        for length in measurement.LENGTHS:
            for way in measurement.WAYS:
                yield WayMeasurement(way, length, 0.5, 2**20, 1e-7)
            gate.wait(PATIENCE)

    monkeypatch.setattr(measurement, "measure_ways", slowly)
    visit, job = measuring()
    wait(lambda: len(job.reports) == 3)
    assert "3 of 9" in visit.run().get("progress")[0].text
    assert next(b for b in visit.button if b.label == "Measure on this machine").disabled
    press(visit, "Cancel")
    gate.set()
    assert over(job).state == "cancelled"
    assert "| 512 |" in said(visit.run()), "what was found stays"


def test_one_may_stop_before_the_clock_runs(monkeypatch):
    monkeypatch.setattr(measurement, "time_call", lambda *_: pytest.fail("the clock ran"))
    assert next(measure_ways(CPU)) is None
