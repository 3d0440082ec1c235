"""Long sequences: what its pictures hold, what it counts, and what it measures on this machine."""

from typing import Any
from unittest import mock

import pytest
import torch

from explainers.chapters.common.score_matrix import Lab
from explainers.chapters.long_sequences import measurement
from explainers.chapters.long_sequences.measurement import WayMeasurement, measure_ways
from explainers.chapters.long_sequences.tile_figure import TiledSentence
from explainers.job_queue import Job
from explainers.toys.layers import draw_layer
from explainers.toys.sentence import SENTENCE
from explainers.ui.session import MEASUREMENT_JOB
from tests.support.opening import PAGES, opened, press, widgets
from tests.support.reading import said
from tests.support.waiting import over

PAGE = next(page for page in PAGES if page.stem == "11_long_sequences")
WORDS = tuple(SENTENCE.split())
CPU = torch.device("cpu")


def read(words):
    """An untrained head that reads these words."""
    return Lab(draw_layer(words, 8, 1, 4, "full", seed=0), queries_down=True)


def test_of_two_words_no_blocks_are_made():
    visit = opened(PAGE, {"text": "CEO announced", "predict": "true"})
    assert not visit.exception
    assert "This text has 2 words." in said(visit)
    assert not {"guess_exact", "row_word"} & set(widgets(visit))


def test_tiles_are_no_larger_than_the_text_and_larger_for_a_long_one():
    assert TiledSentence.cut(read(WORDS[:3]), "full", (6, 2)).blocks == (3, 2)
    assert TiledSentence.cut(read(WORDS), "full", (2, 3)).blocks == (2, 3)
    long = read(("word",) * 24)
    assert TiledSentence.cut(long, "full", (2, 6)).blocks == (4, 6)


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


def test_the_page_measures():
    visit = press(opened(PAGE, {"deep": "spared"}), "Measure on this machine")
    job = over(visit.session_state[MEASUREMENT_JOB])
    assert "9 of 9" in visit.run().get("progress")[0].text
    plain = next(m for m in job.reports if (m.way, m.length) == ("plain", 1024))
    size = "12.25 MiB"  # 3 · 1024² + 64 · 1024 numbers of 4 bytes
    assert f"| 1,024 | {1000 * plain.seconds:.2f} ms, {size} |" in said(visit)


def test_what_was_measured_before_it_was_cancelled_stays():
    job: Job[Any, Any, Any] = Job("", print, 9)
    job.reports += [WayMeasurement(way, 512, 0.5, 2**20, 1e-7) for way in measurement.WAYS]
    job.cancel()
    visit = opened(PAGE, {"deep": "spared"})
    visit.session_state[MEASUREMENT_JOB] = job
    assert "3 of 9" in visit.run().get("progress")[0].text
    assert "| 512 |" in said(visit)


def test_one_may_stop_before_the_clock_runs(monkeypatch):
    monkeypatch.setattr(measurement, "time_call", lambda *_: pytest.fail("the clock ran"))
    assert next(measure_ways(CPU)) is None
