"""The KV cache: what it prints and draws is what a cache does, whatever a link asks for."""

from contextlib import ExitStack
from functools import partial
from unittest.mock import patch

import pytest
from streamlit.testing.v1 import AppTest

from explainers.attention import masks
from explainers.attention.cache import decoding, kv_cache
from explainers.attention.cache.decoding import recompute, through
from explainers.chapters.common.score_matrix import ROUNDING
from explainers.chapters.kv_cache import timing_job
from explainers.chapters.kv_cache.bounded_caches import trace_slots
from explainers.chapters.kv_cache.hero import compute_numbers
from explainers.chapters.kv_cache.reading import (
    CAUSAL,
    DecodedText,
    DrawnText,
    measure_key_changes,
    read_text,
)
from explainers.chapters.kv_cache.step_figure import (
    draw_one_step,
    explain,
    explain_one_step,
    make_step_panels,
)
from explainers.toys.sentence import SENTENCE
from explainers.ui import session
from explainers.ui.controls import controls
from explainers.ui.figure.panels import Cell
from tests.support.opening import ROOT, opened, widgets
from tests.support.reading import figure, said
from tests.support.waiting import over

PAGE = ROOT / "pages" / "08_kv_cache.py"
TOKENS = tuple(SENTENCE.split())
STEPS = {"deep": "steps"}


def test_the_proof_is_computed(monkeypatch):
    """A cache that forgets is seen beside the slider, at the word where it begins."""
    from explainers.attention.cache.faults import forget_offset
    from explainers.chapters.kv_cache import reading

    monkeypatch.setattr(reading, "CAUSAL", forget_offset)
    forget_runs()
    visit = opened(PAGE, STEPS)
    forget_runs()
    shown = figure(visit, "layer 1: Q")["slider"]["labels"]
    first, second = (float(label.rpartition("= ")[2]) for label in shown[:2])
    assert first == 0
    assert second > 0.01


def forget_runs():
    """What was computed of a text is computed anew."""
    read_text.cache_clear()
    compute_numbers.cache_clear()


def test_every_number_has_its_arithmetic():
    run = DrawnText(TOKENS, 0)
    panels, one_step = make_step_panels(run, 3), draw_one_step(run, 1, 4)
    steps = partial(explain, run, panels, 3), partial(explain_one_step, run, one_step, 1, 4)
    for drawn, work in zip((panels, one_step), steps, strict=True):
        for panel in drawn:
            for row, line in enumerate(panel.matrix.values):
                for column, value in enumerate(line):
                    told = work(Cell(panel.id, row, column))
                    assert float(told.value) == pytest.approx(value or 0.0, abs=1e-2)
    once, again = (explain(run, panels, 3, Cell("made", 1, way)).lines[0] for way in (0, 1))
    assert once == "Once: when word 2 was read."
    assert again == "4 words read − 1 before it = 3 times."


def test_slots_are_used_in_turn():
    assert trace_slots(5, 1, 2) == [[1, 1, 1, 1, 1], [None, 2, 2, 4, 4], [None, None, 3, 3, 5]]


def test_a_text_that_is_too_short_is_read_and_nothing_is_asked_of_it():
    visit = opened(PAGE, {"text": "two words", "predict": "true", **STEPS})
    assert "This text has 2 words." in said(visit)
    assert figure(visit, "layer 1: Q")["slider"]["index"] == 1
    assert "guess_costs" in widgets(visit), "that is about texts of any length"


def timing_page():

    from functools import partial  # the page is run alone

    import torch

    from explainers.chapters.kv_cache.timing_job import show_timing
    from explainers.ui.page import Prose

    show_timing(torch.device("cpu"), partial(Prose("08_kv_cache.py"), "timed"))


def test_times_are_measured_drawn_and_kept_apart(monkeypatch):
    monkeypatch.setattr(timing_job, "list_timed_lengths", lambda _: (2, 5))  # nobody waits
    name, other = controls.timed_layers.options
    visit = AppTest.from_function(timing_page, default_timeout=60).run()
    widgets(visit)["timed"].set_value(name).run()
    [button] = visit.button
    button.click().run()
    job = over(visit.session_state[session.TIMING_JOB])
    visit.run()
    assert not visit.exception
    assert (job.state, job.subject) == ("done", name)
    assert [one.length for one in job.reports] == [2, 5]
    assert f"{name}: length 2 of 2" in visit.get("progress")[0].text
    assert f"**{1000 * job.reports[1].cached:.2f} ms** with the cache" in said(visit)
    widgets(visit)["timed"].set_value(other).run()
    assert not visit.get("progress"), "nobody measured that one"


def test_one_more_word_is_timed_against_all_of_them(monkeypatch):
    """What is timed with the cache reads one word, and without it the whole text."""
    read = []

    def heard(x, layers, caches, reader):
        read.append((len(x), caches[0].seen))
        return through(x, layers, caches, reader)

    monkeypatch.setattr(timing_job, "through", heard)
    monkeypatch.setattr(timing_job, "RUNS", 1)
    found = list(timing_job.time_reading(timing_job.load_trained_toy(), [5]))
    assert found[:2] == [None, None], "there one may stop"
    assert read == [(4, 0), *[(1, 4)] * 2, *[(5, 0)] * 2]


def count_rows(run, call):
    """How many rows each layer really projects while something is computed."""
    made, own = [0] * len(run.layers), kv_cache.project_at

    def counted(x, layer, position):
        made[next(n for n, one in enumerate(run.layers) if one is layer)] += x.shape[-2]
        return own(x, layer, position)

    with ExitStack() as stack:
        for module in (kv_cache, decoding):
            stack.enter_context(patch.object(module, "project_at", counted))
        return call(), made


@pytest.mark.parametrize("tokens", [TOKENS, ("one",)], ids=len)
def test_rows_are_counted_as_they_are_computed(tokens):
    run = DecodedText(tokens, 3)
    steps, caches = compute_numbers(run)["steps"], run.empty
    for n, token in enumerate(run.x.split(1, dim=-2)):
        done, kept = count_rows(run, partial(through, token, run.layers, caches, CAUSAL))
        caches = [one.cache for one in done.reads]
        _, again = count_rows(run, partial(recompute, run.x[: n + 1], run.layers))
        for layer, cache in enumerate(caches):
            assert steps[n]["computed"] == [kept[layer], again[layer]]
            assert steps[n]["read"] == cache.key.shape[-2] - kept[layer]
            stored = sum(part.numel() * part.element_size() for part in cache[:2])
            assert steps[n]["bytes"] == stored
        assert steps[n]["difference"] == 0


def test_both_ways_stored_rows_of_the_second_layer_are_wrong():
    run = DecodedText(TOKENS, 0)
    first, second = compute_numbers(run)["again"]
    assert not any(step["wrong"] for step in first)
    assert [step["wrong"] for step in second] == [[*range(n)] for n in range(7)]
    changed = sum(int((c > ROUNDING).sum()) for c in measure_key_changes(run, masks.full))
    assert changed == 7 * 6 // 2
