"""Long sequences: what its pictures hold, what it counts, and what it measures on this machine."""

import contextlib
import io
import threading
from unittest import mock

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from explainers.attention import masks
from explainers.chapters.common.score_matrix import Lab
from explainers.chapters.long_sequences import measurement, measurement_job
from explainers.chapters.long_sequences.counted_cells import (
    LONG,
    SIDE,
    compare_cells,
    count_cells_by_way,
    count_skipped_tiles,
    count_tile_cells,
    make_sparse_rules,
)
from explainers.chapters.long_sequences.matrix_sizes import count_plain_bytes
from explainers.chapters.long_sequences.measurement import (
    WayMeasurement,
    estimate_bytes,
    measure_peak,
    measure_ways,
)
from explainers.chapters.long_sequences.measurement_job import (
    list_peaks,
    list_times,
    write_seconds,
    write_table,
)
from explainers.chapters.long_sequences.online_row import Row, make_row_explainer, make_row_panels
from explainers.chapters.long_sequences.tile_figure import TiledSentence
from explainers.job_queue import BusyError, Job
from explainers.toys.layers import draw_layer
from explainers.toys.sentence import SENTENCE
from explainers.ui import session
from explainers.ui.figure.panels import Cell
from tests.support.opening import PAGES, opened, widgets
from tests.support.reading import said
from tests.support.waiting import PATIENCE, wait

PAGE = next(page for page in PAGES if page.stem == "11_long_sequences")
WORDS = tuple(SENTENCE.split())
LAB = Lab(draw_layer(WORDS, 8, 1, 4, "full", seed=0), queries_down=True)
CPU = torch.device("cpu")


def findings(lengths):
    """What is measured, without the places where one may stop."""
    return [one for one in measure_ways(lengths, CPU) if one]


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 6), st.integers(1, 4))
def test_differences_are_rounding_and_corrections_are_counted(word, block):
    row = Row.of(LAB, word, block)
    assert row.difference < 1e-6
    assert row.output_difference < 1e-6
    weights = (LAB.views.query @ LAB.views.key.T / 2).softmax(-1)
    tops = [part.max().item() for part in weights[word].split(block)]
    assert row.corrected == sum(top > max(tops[:n]) for n, top in enumerate(tops) if n)


def test_every_number_of_the_row_has_its_arithmetic():
    row = Row.of(LAB, 6, 3)
    explain = make_row_explainer(row)
    for panel in make_row_panels(row, 3):
        for i, values in enumerate(panel.matrix.values):
            for j, value in enumerate(values):
                working = explain(Cell(panel.id, i, j))
                if value is None:
                    assert "blank" in working.lines[0]
                    continue
                places = len(working.value.partition(".")[2])
                assert float(working.value) == pytest.approx(value, abs=0.51 * 10**-places)
                assert working.value in working.lines[-1]
                printed = io.StringIO()
                with contextlib.redirect_stdout(printed):
                    exec(working.snippet, {})
                assert float(printed.getvalue()) == pytest.approx(value, abs=0.51 * 10**-places)


def test_of_two_words_no_blocks_are_made():
    visit = opened(PAGE, {"text": "two words", "predict": "true"})
    assert not visit.exception
    assert "This text has 2 words." in said(visit)
    assert not {"guess_exact", "reader"} & set(widgets(visit))


def test_tiles_are_no_larger_than_the_text_and_larger_for_a_long_one():
    assert TiledSentence(LAB.reading(WORDS[:3]), masks.full, (6, 2)).blocks == (3, 2)
    assert TiledSentence(LAB, masks.full, (2, 3)).blocks == (2, 3)
    long = LAB.reading(("word",) * 24)
    assert TiledSentence(long, masks.full, (2, 6)).blocks == (4, 6)


def test_what_tiles_spare_is_what_the_mask_says():
    for name, tiles in count_tile_cells().items():
        allowed, computed, skipped, count = count_skipped_tiles(tiles)
        mask = masks.build(make_sparse_rules()[name], LONG, LONG)
        per_tile = mask.view(LONG // SIDE, SIDE, LONG // SIDE, SIDE).any(dim=3).any(dim=1)
        assert allowed == int(mask.sum())
        assert (skipped, count) == (int((~per_tile).sum()), per_tile.numel())
        assert computed == int(per_tile.sum()) * SIDE**2


def test_two_sequences_are_counted_by_hand():
    assert list(count_cells_by_way(3, 5).values()) == [3 * 5, (3 + 5) ** 2]
    assert compare_cells(3, 5) == "4.3 times"


@pytest.mark.parametrize("way", measurement.WAYS)
def test_what_is_needed_is_not_underestimated(way):
    taken = measure_peak(lambda: measurement.prepare_call(way, 1024, CPU)(), CPU)
    assert taken is not None
    assert taken <= estimate_bytes(way, 1024, CPU) <= 3 * taken


def test_what_does_not_fit_is_never_begun(monkeypatch):
    monkeypatch.setattr(measurement, "measure_free_bytes", lambda device: 40 * 2**20)
    prepared = mock.Mock(wraps=measurement.prepare_call)
    monkeypatch.setattr(measurement, "prepare_call", prepared)
    plain, in_tiles, fused = findings([1024])
    assert plain == WayMeasurement("plain", 1024)
    assert ("plain", 1024) not in {call.args[:2] for call in prepared.mock_calls}
    assert in_tiles.difference == 0, "the first that fits is what the others are compared with"
    assert 0 < fused.difference < 1e-5, "another order of additions"


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


def test_lines_have_what_was_measured_and_theory():
    found = [WayMeasurement("plain", n, n**2 / 1e6, 7 * n, 0.0) for n in (256, 512)]
    found += [WayMeasurement("tiled", 1024, 0.5, 2**20, 0.0), WayMeasurement("plain", 1024)]
    assert write_table(found, write_seconds).splitlines()[-1] == "| 1,024 | – | 0.5000 | – |"
    theory = {x: y for x, y, _, is_theory in list_times(found) if is_theory}
    assert theory == {n: pytest.approx(n**2 / 1e3) for n in (256, 512, 1024)}
    assert (1024, 1.0, "tiled", False) in list_peaks(found)
    assert (512, count_plain_bytes(512, 64) / 2**20, "plain", True) in list_peaks(found)


def test_what_cannot_be_measured_is_told(monkeypatch):
    broken = mock.Mock(side_effect=ZeroDivisionError("no such kernel"))
    with monkeypatch.context() as failing:
        failing.setattr(measurement_job, "measure_ways", broken)
        visit = clicked(opened(PAGE, {"deep": "measure"}), "Measure on this machine")
        wait(lambda: visit.session_state[session.MEASUREMENT_JOB].is_over)
        assert "no such kernel" in visit.run().error[0].value
        assert not visit.exception
    monkeypatch.setattr(Job, "start", mock.Mock(side_effect=BusyError("8 others wait already.")))
    visit = clicked(opened(PAGE, {"deep": "measure"}), "Measure on this machine")
    assert "wait already" in visit.info[0].value
    assert not visit.run().info


@pytest.fixture
def gate(monkeypatch):
    """Measurements that wait until the test lets them go on."""
    gate = threading.Event()

    def slowly(lengths, device):
        for length in lengths:
            for way in measurement.WAYS:
                yield WayMeasurement(way, length, 0.5, 2**20, 1e-7)
            gate.wait(PATIENCE)

    monkeypatch.setattr(measurement_job, "measure_ways", slowly)
    yield gate
    gate.set()


def clicked(visit, label):
    next(b for b in visit.button if b.label == label).click()
    return visit.run()


def progress(visit):
    return " ".join(bar.text for bar in visit.get("progress"))


def test_the_page_measures():
    visit = clicked(opened(PAGE, {"up_to": "1024", "deep": "measure"}), "Measure on this machine")
    job = visit.session_state[session.MEASUREMENT_JOB]
    wait(lambda: job.is_over)
    visit.run()
    assert "Up to 1,024 tokens: 9 of 9, fused attention, 1,024 tokens" in progress(visit)
    plain = next(m for m in job.reports if (m.way, m.length) == ("plain", 1024))
    assert f"| 1,024 | {plain.seconds:.4f} |" in said(visit)
    assert "| 12.25 MiB |" in said(visit), "3 · 1024² + 64 · 1024 numbers of 4 bytes"


def test_measuring_can_be_watched_and_cancelled(gate):
    visit = clicked(opened(PAGE, {"up_to": "1024", "deep": "measure"}), "Measure on this machine")
    job = visit.session_state[session.MEASUREMENT_JOB]
    wait(lambda: len(job.reports) == 3)
    visit.run()
    assert "3 of 9" in progress(visit)
    assert next(b for b in visit.button if b.label == "Measure on this machine").disabled
    clicked(visit, "Cancel")
    gate.set()
    wait(lambda: job.is_over)
    assert job.state == "cancelled"
    assert "| 256 |" in said(visit.run()), "what was found stays"


def test_one_may_stop_before_the_clock_runs(monkeypatch):
    monkeypatch.setattr(measurement, "time_call", lambda *_: pytest.fail("the clock ran"))
    assert next(measure_ways([256], CPU)) is None
