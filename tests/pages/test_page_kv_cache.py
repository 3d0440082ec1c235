"""The KV cache: what it prints and draws is what a cache does, whatever a link asks for."""

import re
import time

import pytest
import torch
from streamlit.testing.v1 import AppTest
from torch.testing import assert_close

from explainers.attention import masks
from explainers.attention.cache.decoding import decode, through
from explainers.attention.cache.kv_cache import empty_cache
from explainers.attention.cache.step_costs import cache_bytes, with_cache, without_cache
from explainers.attention.multi_head import multi_head
from explainers.chapters.common.score_matrix import write_word_count
from explainers.chapters.kv_cache import bounded_caches, cost_curves, timing_job
from explainers.chapters.kv_cache.bounded_caches import trace_slots
from explainers.chapters.kv_cache.cache_faults import (
    NOWHERE,
    count_stale_rows,
    find_first_wrong_word,
    write_first_wrong_word,
)
from explainers.chapters.kv_cache.cost_curves import compute_growth
from explainers.chapters.kv_cache.hero import compute_numbers
from explainers.chapters.kv_cache.reading import (
    CAUSAL,
    DrawnText,
    make_reader,
    measure_gap,
    measure_key_changes,
    read_text,
)
from explainers.chapters.kv_cache.step_figure import (
    draw_one_step,
    explain,
    explain_one_step,
    make_step_panels,
)
from explainers.chapters.kv_cache.takeaway import measure_differences
from explainers.toys.sentence import SENTENCE
from explainers.ui import session
from explainers.ui.controls import controls
from explainers.ui.figure.panels import Cell
from tests.support.opening import ROOT, opened, widgets
from tests.support.reading import close, figure, said
from tests.support.waiting import over, wait

PAGE = ROOT / "pages" / "08_kv_cache.py"
TOKENS = tuple(SENTENCE.split())
LONG = " ".join(f"w{n}" for n in range(24))


STEPS = {"deep": "steps"}


def frames(visit, name):
    [found] = [p for p in figure(visit, "layer 1: Q")["panels"] if p["id"] == name]
    return found["frames"]


def flat(lines):
    return [value for line in lines for value in line if value is not None]


@pytest.mark.parametrize("text", [SENTENCE, LONG, "one"])
def test_each_step_computes_one_query_and_keeps_every_key_and_value(text):
    visit = opened(PAGE, {"text": text, "seed": "3", **STEPS})
    run = DrawnText(tuple(text.split()), 3)
    for layer in (1, 2):
        whole = run.read_at_once(len(run.tokens), masks.causal).reads[layer - 1]
        steps = {name: frames(visit, f"layer {layer}: {name}") for name in ("Q", "K", "V")}
        weights = frames(visit, f"layer {layer}: weights")
        for n in range(len(run.tokens)):
            assert flat(steps["Q"][n]) == close(whole.query[0, n])
            assert flat(steps["K"][n]) == close(whole.cache.key[0, : n + 1])
            assert flat(steps["V"][n]) == close(whole.cache.value[0, : n + 1])
            assert flat(weights[n]) == close(whole.weights[0, n, : n + 1])


def test_the_proof_is_exact_and_one_product_is_rounding():
    for seed in (0, 7):
        run = DrawnText(tuple(LONG.split()), seed)
        assert set(run.row_by_row) == {0.0}
        assert 0 < max(run.in_one_product) < 1e-4


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


def test_what_are_tokens_does_not_depend_on_the_language():
    english, other = (
        [(panel["id"], panel["row_tokens"], panel["column_tokens"]) for panel in sent["panels"]]
        for sent in (
            figure(opened(PAGE, {"lang": one, **STEPS}), "layer 1: Q") for one in ("en", "vi")
        )
    )
    assert english == other


def test_counters_stand_beside_the_slider():
    label = figure(opened(PAGE, {"words_read": "5", **STEPS}), "layer 1: Q")["slider"]
    assert (label["index"], label["plays"]) == (4, True)
    run = DrawnText(TOKENS, 0)
    [layer, _] = run.layers
    cached, again = with_cache(5, layer), without_cache(5, layer)
    numbers = [int(n.replace(",", "")) for n in re.findall(r"\d[\d,]*", label["labels"][4])]
    adds = [2 * (work.projections + work.scores) for work in (cached, again)]
    bytes_held = 2 * cache_bytes(5, layer)
    assert numbers == [5, 10, 30, *adds, bytes_held, 0, 0]


def test_a_row_is_made_once_or_again_and_again():
    made = frames(opened(PAGE, STEPS), "made")
    assert made[-1] == [[1, 7 - row] for row in range(7)]
    assert made[0] == [[1, 1], *[[None, None]] * 6]


def test_every_number_has_its_arithmetic():
    run = DrawnText(TOKENS, 0)
    panels = make_step_panels(run, 3)
    for panel in panels:
        for row, line in enumerate(panel.matrix.values):
            for column, value in enumerate(line):
                told = explain(run, panels, 3, Cell(panel.id, row, column))
                assert float(told.value) == pytest.approx(value or 0.0, abs=1e-2)
                if value is None:
                    assert "not computed in this step" in told.lines[0]
    once, again = (explain(run, panels, 3, Cell("made", 1, way)).lines[0] for way in (0, 1))
    assert once == "Once: when word 2 was read."
    assert again == "4 words read − 1 before it = 3 times."


def test_each_mistake_begins_where_the_text_says():
    visit = opened(PAGE, {"seed": "5", "deep": "broken"})
    found = measure_differences(DrawnText(TOKENS, 5))
    assert list(map(find_first_wrong_word, found.values())) == [1, 2, 0, 2]
    drawn = figure(visit, "wrong")["panels"][0]
    assert drawn["rows"] == list(found)
    assert flat(drawn["values"]) == close(torch.stack([*found.values()]))
    assert re.findall(r"goes wrong at ` (\d: \w+) `", said(visit)) == [
        "2: CEO",
        "3: announced",
        "1: The",
        "3: announced",
    ]


def test_one_word_cannot_show_a_forgotten_offset():
    run = DrawnText(("one",), 0)
    assert write_first_wrong_word(run, measure_differences(run)["no offset"]) == NOWHERE


def test_full_attention_changes_every_older_row():
    run = DrawnText(TOKENS, 2)
    counts = [
        count_stale_rows(measure_key_changes(run, rule)) for rule in (masks.causal, masks.full)
    ]
    assert counts == [0, 21]
    shown = figure(opened(PAGE, {"seed": "2", "deep": "both_ways"}), "causal")["panels"]
    assert [re.findall(r"\d+", panel["formula"])[0] for panel in shown] == ["0", "21"]
    assert max(flat(shown[0]["values"])) < 1e-5
    assert flat(shown[1]["values"]) == close(torch.cat(measure_key_changes(run, masks.full)))


def test_how_the_work_grows():
    works = [lambda work: work.rows, lambda work: work.projections, lambda work: work.scores]
    assert [compute_growth(of, 0) for of in works] == [2, 2, 4]
    assert [compute_growth(of, 1) for of in works] == [4, 4, 8]
    assert cost_curves.answer_costs() == "about four times as much"


def test_work_is_drawn_with_and_without_a_cache(monkeypatch):
    drawn = {}

    def draw(_, rows, alt, title, *given, **structure):
        drawn[title] = rows

    monkeypatch.setattr(cost_curves, "show_chart", draw)
    visit = opened(PAGE)
    assert list(drawn) == ["work"]
    layer = DrawnText(TOKENS, 0).layers[0]
    kept, again = with_cache(512, layer), without_cache(512, layer)
    amounts = again.scores, kept.scores, again.projections, kept.projections
    rows = drawn["work"][drawn["work"].x == 512]
    assert dict(zip(rows.series, rows.y, strict=True)) == dict(
        zip(cost_curves.name_lines(), amounts, strict=True)
    )
    longest = [work(1024, layer) for work in (with_cache, without_cache)]
    assert f"computes {longest[0].rows:,} rows with the cache and {longest[1].rows:,}" in said(
        visit
    )
    assert f"{longest[0].scores:,} multiply-adds with the cache" in said(visit)


def test_bytes_are_drawn_with_and_without_a_window(monkeypatch):
    drawn = {}
    draw = lambda _, rows, alt, title, *given, **structure: drawn.update({title: rows})  # noqa: E731
    monkeypatch.setattr(bounded_caches, "show_chart", draw)
    opened(PAGE, {"deep": "windows", "reach_window": "3", "sinks": "1"})
    layer, rows = DrawnText(TOKENS, 0).layers[0], drawn["held"]
    assert [*rows[rows.x == 512].y] == [2 * cache_bytes(512, layer), 2 * cache_bytes(4, layer)]


def test_one_step_is_five_matrices_and_their_arithmetic():
    visit = opened(PAGE, {"words_read": "5", "cache_layer": "2", "seed": "3"})
    shown = {panel["id"]: panel["values"] for panel in figure(visit, "query")["panels"]}
    run = DrawnText(TOKENS, 3)
    done = run.steps[4].reads[1]
    assert flat(shown["query"]) == close(done.query)
    assert flat(shown["K"]) == close(done.cache.key)
    assert flat(shown["weights"]) == close(done.weights)
    assert flat(shown["V"]) == close(done.cache.value)
    assert flat(shown["output"]) == close(done.weights @ done.cache.value)
    panels = draw_one_step(run, 1, 4)
    for panel in panels:
        for row, line in enumerate(panel.matrix.values):
            for column, value in enumerate(line):
                told = explain_one_step(run, panels, 1, 4, Cell(panel.id, row, column))
                assert float(told.value) == pytest.approx(value, abs=1e-2)
    first = explain_one_step(run, panels, 1, 4, Cell("query", 0, 0)).lines[0]
    assert "x · W_Q" in first
    assert "position 4" in first


def test_slots_are_used_in_turn():
    assert trace_slots(5, 1, 2) == [[1, 1, 1, 1, 1], [None, 2, 2, 4, 4], [None, None, 3, 3, 5]]


@pytest.mark.parametrize(("window", "sinks"), [(1, 0), (2, 4), (5, 2)])
def test_rings_are_drawn_and_compared(window, sinks):
    visit = opened(PAGE, {"deep": "windows", "reach_window": str(window), "sinks": str(sinks)})
    run = DrawnText(TOKENS, 0)
    ring, slots, lost = figure(visit, "ring")["panels"]
    assert ring["values"] == trace_slots(7, 0, window)
    assert slots["values"] == trace_slots(7, sinks, window)
    full = run.compute_outputs(CAUSAL)
    masked = run.compute_outputs(make_reader(masks.sliding_window(window)))
    assert lost["values"][0] == close((masked - full).abs().amax(dim=-1))
    assert measure_gap(run.compute_ring_outputs(sinks + 8, sinks), full) < 1e-5
    if window + sinks < 7:
        assert f"Outputs change by up to {measure_gap(masked, full):.2f} with the window" in said(
            visit
        )


def test_choices_stay_within_the_text():
    visit = opened(PAGE, {"text": "no more words", "words_read": "24", "deep": "steps"})
    assert not visit.exception
    assert figure(visit, "layer 1: Q")["slider"]["index"] == 2
    assert {"reach_window", "sinks"} <= set(widgets(opened(PAGE, {"deep": "windows"})))


@pytest.mark.parametrize("words", ["one", "two words"])
def test_a_text_that_is_too_short_is_read_and_nothing_is_asked_of_it(words):
    visit = opened(PAGE, {"text": words, "predict": "true", **STEPS})
    assert not visit.exception
    assert f"This text has {write_word_count(len(words.split()))}." in said(visit)
    assert figure(visit, "layer 1: Q")["slider"]["index"] == len(words.split()) - 1
    titles = [box.label[:12] for box in visit.main.expander if "min" in box.label]
    assert titles == ["**Every numb", "**Measured o"]
    assert "guess_costs" in widgets(visit), "that is about texts of any length"


def test_one_word_is_not_one_words():
    assert "For your 1 word, the two layers store **64 bytes**" in said(
        opened(PAGE, {"text": "one"})
    )


def test_the_ring_is_asked_about_by_the_place_that_it_counts_with():
    link = {"predict": "true", "deep": "windows", "reach_window": "4"}
    visit = opened(PAGE, link)
    assert "The row of word 5, counted from 1, goes into slot" in said(visit)
    assert [one.label for one in visit.button if f"{one.key}".startswith("guess_win")] == [
        "0",
        "3",
        "4",
    ]
    known = said(opened(PAGE, link | {"guess_windows": "0"}))
    assert "goes into slot :green-background[0]" in known
    assert "4 mod 4 = 0" in known


@pytest.fixture
def short(monkeypatch):
    """Texts so short that nobody waits."""
    monkeypatch.setattr(timing_job, "list_timed_lengths", lambda _: (2, 5))


def timing_page():
    from functools import partial

    import torch

    from explainers.chapters.kv_cache.timing_job import show_timing
    from explainers.ui.page import Prose

    show_timing(torch.device("cpu"), partial(Prose("08_kv_cache.py"), "timed"))


def timer():
    return AppTest.from_function(timing_page, default_timeout=60).run()


def click(visit, label):
    next(button for button in visit.button if button.label == label).click()
    return visit.run()


@pytest.mark.parametrize("name", controls.timed_layers.options)
def test_times_are_measured_and_drawn(short, name):
    visit = timer()
    visit.get_by_key("timed").set_value(name).run()
    click(visit, "Measure it here")
    job = visit.session_state[session.TIMING_JOB]
    over(job)
    visit.run()
    assert not visit.exception
    assert (job.state, job.subject) == ("done", name)
    assert [one.length for one in job.reports] == [2, 5]
    assert all(one.cached > 0 and one.recomputed > 0 for one in job.reports)
    assert f"{name}: length 2 of 2" in visit.get("progress")[0].text
    assert f"**{1000 * job.reports[1].cached:.2f} ms** with the cache" in said(visit)
    assert f"measured live on cpu: {name}" in said(visit)
    assert [button.label for button in visit.button] == ["Measure it here"]


def test_one_more_word_is_timed_against_all_of_them(monkeypatch):
    """What is timed with the cache reads one word, and without it the whole text."""
    read = []

    def heard(x, layers, caches, reader):
        read.append((len(x), caches[0].seen))
        return through(x, layers, caches, reader)

    monkeypatch.setattr(timing_job, "through", heard)
    monkeypatch.setattr(timing_job, "RUNS", 1)
    toy = timing_job.load_trained_toy()
    found = list(timing_job.time_reading(toy, [5]))
    assert found[:2] == [None, None], "there one may stop"
    assert read == [(4, 0), *[(1, 4)] * 2, *[(5, 0)] * 2]
    long = len(toy.words) + 2
    assert torch.equal(toy.repeat_words(long)[-2:], toy.words[:2])


def test_the_trained_toy_reads_as_it_has_learned():
    toy = timing_job.load_trained_toy()
    x, [layer] = toy.repeat_words(6), toy.layers
    steps = decode(x, [layer], [empty_cache(x, layer)], toy.reader)
    whole = multi_head(x, layer, masks.build(masks.causal, 6, 6).to(x.device)).output
    assert_close(torch.cat([step.reads[0].output for step in steps]), whole)


def endless(*_):
    while True:
        time.sleep(0.001)
        yield timing_job.Timing(2, 0.5, 0.75)


def test_a_measurement_can_be_cancelled(short, monkeypatch):
    monkeypatch.setattr(timing_job, "time_reading", endless)
    visit = click(timer(), "Measure it here")
    job = visit.session_state[session.TIMING_JOB]
    job.total = 10**9
    wait(lambda: len(job.reports) > 1)
    click(visit.run(), "Cancel")
    over(job)
    assert "cancelled" in visit.run().get("progress")[0].text


def test_who_chose_another_one_sees_no_times_of_the_first(short):
    visit = click(timer(), "Measure it here")
    over(visit.session_state[session.TIMING_JOB])
    visit.get_by_key("timed").set_value("untrained layers").run()
    assert not visit.get("progress")
    visit.get_by_key("timed").set_value("trained layer").run()
    assert "trained layer: length 2 of 2" in visit.get("progress")[0].text


def test_a_measurement_that_fails_says_why(short, monkeypatch):
    def broken(*_):
        raise ZeroDivisionError("no such length")

    monkeypatch.setattr(timing_job, "time_reading", broken)
    visit = click(timer(), "Measure it here")
    over(visit.session_state[session.TIMING_JOB])
    assert "no such length" in visit.run().error[0].value


def test_an_accelerator_gets_longer_texts():
    assert timing_job.list_timed_lengths(torch.device("cpu"))[-1] == 1024
    assert timing_job.list_timed_lengths(torch.device("cuda"))[-1] == 4096
