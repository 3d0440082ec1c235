"""What a reader takes away runs elsewhere, alone, and gives the numbers of the page."""

import ast
import inspect
import re
import sys
from types import ModuleType
from typing import Any
from urllib.parse import parse_qsl

import pytest
from nbclient import NotebookClient

from explainers.attention import tiled
from explainers.attention.cache import kv_cache
from explainers.attention.multi_head import contributions, multi_head
from explainers.chapters.claims import claim_table as claim_takeaway
from explainers.chapters.claims.claim_table import read_claims
from explainers.chapters.common.claim_parameters import find_published_entries
from explainers.chapters.common.claim_parameters import format_value as written_size
from explainers.chapters.exercises import one_exercise as exercise_takeaway
from explainers.chapters.exercises.deck import Prediction, read_exercises
from explainers.chapters.masks import cards as of_masks
from explainers.chapters.relative_positions import compute as of_positions
from explainers.takeaway.inside import same_numbers
from explainers.takeaway.modules import NotPlainError, list_needed, literal, paste
from explainers.takeaway.recipe import Cell, write_notebook, write_script
from explainers.toys import examples, layers, sentence
from explainers.translations import load_sections
from explainers.ui.controls import choose_text
from explainers.ui.session import TAKEAWAY
from explainers.ui.untrusted_text import make_title
from tests.support.opening import PAGES, lacks_model, opened
from tests.support.reading import said
from tests.support.taking import cells_of, drawn_on, executed, kernel, valid
from workshop.example_notebook import FILE, make_example

PAGE = {page.stem.partition("_")[2]: page for page in PAGES}
OF_MODEL = {"text": "the bank raised the rate"}
BUSY = OF_MODEL | {"seed": "7", "d_model": "16", "mask": "causal", "weights": "untrained"}
KNOWN = {**BUSY, "text": "The team praised young fans on Sunday"}
"""Where a page has a head that knows few words."""
TRAINED = {"weights": "trained", "text": KNOWN["text"]}
MASKS = {"scores", "full", "causal", "window", "prefix", "chunk", "0 after", "−∞ before: new − old"}
MOVED = {"scores with added positions", "change with RoPE", "with ALiBi, head 0"}
STEPS = {"scores", "weights", "output"}
CASES = {
    "start": (KNOWN, "deep=all_words", {"X", "Q", "K", "V", "masked", "weights", "output"}),
    "tokens": (BUSY, "unit=byte+pairs&merges=90&word=1", set()),
    "query_key_value": (KNOWN, "", {"X", "W_Q", "Q"}),
    "query_key_value sizes": (KNOWN, "deep=parameters&d_k=8&d_v=2", {"W_Q"}),
    "scores": (BUSY, "step=weights&deep=steps", {"scores", "weights"}),
    "masks": (BUSY, "window=2&prefix=2&deep=side_by_side", MASKS),
    "masks drawn": (BUSY, "rule=own&cells=1.3.6.f.1f", {"weights"}),
    "masks padding trained": (TRAINED, "deep=batch", {"sentence 1", "sentence 2"}),
    "masks reach": (BUSY, "deep=reach&layers=2", {"cone"}),
    "masks growing": (BUSY, "deep=one_pass", {"K, full"}),
    "many_heads": (BUSY, "heads=2&off=1&word=3", {"head 1", "heads", "layer"}),
    "relative_positions": (BUSY, "shift=4&deep=alibi", MOVED),
    "relative_positions YaRN": ({}, "deep=past_length&speeds=YaRN", set()),
    "cache_memory": ({}, "model=gemma-3-27b&tokens=40000&dtype=fp8&gpus=2&deep=serving", set()),
    "shared_heads": (BUSY, "kv_heads=1", set()),
    "shared_heads latent": (BUSY, "latent=8&deep=latent", {"latent", "rotary key"}),
    "shared_heads rows": (BUSY, "row_width=2&deep=rows", {"rows", "merged"}),
    "kv_cache": (BUSY, "words_read=3", set()),
    "kv_cache broken": (BUSY, "deep=broken", {"wrong"}),
    "kv_cache windows": (BUSY, "deep=windows&reach_window=2&sinks=1", set()),
    "long_sequences": (BUSY, "row_word=2&kv_block=2&read=2", STEPS | {"running", "powers"}),
    "long_sequences tiles": (BUSY, "tile_mask=causal&tile=3&deep=tiles", {"output so far"}),
    "cross_attention": ({}, "queries=across&cross_head=2", {"weights"}),
    "inspector": (OF_MODEL, "model_layer=3&model_head=5&deep=head", {"scores", "weights"}),
}
"""A page; the choices of a link, and more of them, that change what it shows; and the matrices on
it that its notebook computes."""
TESTED_BELOW = {"head_gallery", "what_if", "exercises", "claims"}
for new in sorted(set(PAGE) - TESTED_BELOW - {case.split()[0] for case in CASES}):
    CASES[new] = BUSY, "", set()  # what a new page hands over must run, and pass its own check
HOSTILE = 'x""" + print("\\n") \\" \\\' {evil} `a` \u202e# \u2028end $x$ <b>'


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory):
    """A folder without our code, and a process in it for all notebooks."""
    folder = tmp_path_factory.mktemp("elsewhere")
    manager = kernel(folder)
    yield folder, manager
    manager.shutdown_kernel(now=True)


def need_model(visit):
    if lacks_model(visit):
        pytest.skip("no model here: python -m explainers.models fetch says why")


@pytest.mark.rotating(8)
@pytest.mark.parametrize("case", CASES)
def test_a_notebook_computes_what_its_page_shows(case, elsewhere):
    link, own, names = CASES[case]
    visit = opened(PAGE[case.split()[0]], link | dict(parse_qsl(own)))
    assert not visit.exception
    if case == "inspector":
        need_model(visit)
    computed = executed(cells_of(visit), *elsewhere)
    ast.parse(write_script(cells_of(visit)))  # the same code, between comments
    drawn = drawn_on(visit)
    for name in names:
        mine = [found[name] for found in computed if isinstance(found.get(name), list)]
        shown = [matrix for matrix in drawn if matrix.name == name]
        assert mine, f"{name} is not computed"
        assert shown, f"{name} is not on the page"
        assert all(any(matrix.shows(numbers) for matrix in shown) for numbers in mine), name


@pytest.mark.rotating(3)
@pytest.mark.parametrize("name", ["a_score", "a_model_on_two_gpus", "change_one_key"])
def test_an_exercise_is_the_one_on_screen(name, elsewhere):
    exercise = read_exercises()[name]
    visit = opened(PAGE["exercises"], {"exercise": make_title(name), "seed": "7"})
    cells = cells_of(visit)
    (computed,) = executed(cells, *elsewhere)
    task, words = exercise.task(7), said(visit)
    assert not any(">>>" in cell.text for cell in cells if cell.kind == "markdown")
    (statement,) = [cell.text for cell in cells if "**" in cell.text and cell.kind == "markdown"]
    asked = " ".join(statement.partition("\n\n")[2].split())
    assert asked in words, "the file says what is asked for"
    assert all(computed[given] == told and told in words for given, told in task.given.items())
    if isinstance(task, Prediction):
        assert computed["answer"] == pytest.approx(task.answer)
    else:
        assert computed["reached"] is ("Not reached yet" not in words)


@pytest.mark.rotating(2)
@pytest.mark.parametrize("name", ["rows_sum_to_one", "sixty_nine_gigabytes"])
def test_a_claim_is_checked_with_the_choices_on_screen(name, elsewhere):
    one = read_claims()[name]
    last = {f"size_{name}_{each.name}": written_size(each.values[-1]) for each in one.parameters}
    visit = opened(PAGE["claims"], {"about": one.part, "claim": make_title(name), **last})
    cells = cells_of(visit)
    (computed,) = executed(cells, *elsewhere)
    sentence = load_sections(PAGE["claims"].stem)[f"claim_{name}"]
    assert any(cell.text.endswith(f"\n\n> {sentence}") for cell in cells)
    words = said(visit)
    assert computed.pop("verdict") in words.lower()
    assert any(number in words for number in computed.values())


@pytest.mark.nightly("a real model: half a minute")
def test_a_head_of_a_real_model_has_the_scores_on_screen(elsewhere):
    link = {"text": BUSY["text"], "model_layer": "2", "model_head": "4"}
    visit = opened(PAGE["head_gallery"], {**link, "deep": "measures"})
    need_model(visit)
    (scores,) = executed(cells_of(visit), *elsewhere)
    drawn = {matrix.name: matrix for matrix in drawn_on(visit)}
    assert scores["induction"] == pytest.approx(drawn["heads"].values[4][2], abs=1e-5)


@pytest.mark.nightly("a real model: half a minute")
def test_a_changed_model_is_run_by_transformers_alone(elsewhere):
    """The losses, the divergence and the next token of the page, in a file that can be read."""
    choices = {"deep": "changing", "what_temperature": "0.5", "what_text": "x y z"}
    visit = opened(PAGE["what_if"], {**choices, "changes": ["temperature", "window"]})
    need_model(visit)
    cells = cells_of(visit)
    assert sum(cell.text.count("\n") for cell in cells) < 600
    (computed,) = executed(cells, *elsewhere)
    words = said(visit)
    for name in ("mean loss", "mean loss, changed"):
        assert f"{computed[name]:.3f}" in words
    assert f"{computed['KL'][-1]:.2f} nats" in words


@pytest.mark.parametrize(
    ("page", "link", "part"),
    [
        ("tokens", {"unit": "words"}, "tokens"),
        ("masks", {"rule": "own", "cells": "1.3.0.f.1f.3f.7f"}, "by hand"),
        ("cache_memory", {"model": "a config.json"}, "cache"),
        ("cache_memory", {"model": "a config.json"}, "fit"),
    ],
)
def test_what_is_not_on_the_page_any_more_is_not_in_its_files(page, link, part):
    """A fragment runs again without its page: what it handed over before must be taken back."""
    assert opened(PAGE[page], link).session_state[TAKEAWAY].parts[part] == ()


@pytest.fixture
def run(monkeypatch):
    """Runs a file here, in a module of its own: cheaper than a process of its own."""

    def run_text(text):
        alone = ModuleType("elsewhere")
        monkeypatch.setitem(sys.modules, alone.__name__, alone)
        exec(compile(text, "page.py", "exec"), vars(alone))
        return vars(alone)

    return run_text


def test_a_changed_line_is_found(run, capsys):
    cells = cells_of(opened(PAGE["start"], KNOWN))
    assert run(write_script(cells))["computed"]
    assert "The same numbers as on the page" in capsys.readouterr().out
    broken = [Cell(kind, text.replace("math.sqrt(head_dim)", "head_dim")) for kind, text in cells]
    assert broken != cells
    with pytest.raises(AssertionError, match="Tensor-likes are not close"):
        run(write_script(broken))


def test_a_hostile_sentence_stays_a_sentence(run):
    visit = opened(PAGE["masks"], {"text": HOSTILE, "weights": "untrained"})
    cells = cells_of(visit)
    tree = ast.parse(write_script(cells))
    given, *others = [
        {one.arg: ast.literal_eval(one.value) for one in node.keywords}
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "draw_layer"
        if node.keywords
    ]
    shown = next(e.proto.bytes.decode() for e in visit.main if e.type == "bidi_component")
    assert all(word in shown for word in ("evil", "print"))
    assert given["tokens"][0] == "x"
    assert '"' in given["tokens"]
    assert all(other["tokens"][:-1] == given["tokens"][:-1] for other in others)
    assert run(write_script(cells))["computed"]
    assert valid(write_notebook(cells))
    assert "\u202e" not in write_notebook(cells)


@pytest.mark.parametrize(
    "text", ["'", '"', '"""', "\\", "\n", "\r", "\u2028", "\u202e", "{x}", "é"]
)
def test_any_text_is_written_as_itself(text):
    assert ast.literal_eval(literal((text, text * 3))) == (text, text * 3)
    assert len(literal(text).splitlines()) == 1
    assert "\u202e" not in literal(text)


@pytest.mark.parametrize(
    "function",
    [layers.draw_layer, multi_head, tiled.tiled_attention, kv_cache.read, examples.random_latent],
)
def test_a_paste_holds_each_name_once_in_an_order_that_runs(function, run):
    imports, parts = paste([function], {})
    text = "\n".join([imports, *(part.text for part in parts)])
    tree = ast.parse(text)
    kinds = ast.FunctionDef | ast.ClassDef
    names = [node.name for node in tree.body if isinstance(node, kinds)]
    assert len(names) == len(set(names))
    assert inspect.getsource(function).strip() in text
    assert list_needed(text) <= set(run(text))
    assert "explainers" not in {
        node.module for node in tree.body if isinstance(node, ast.ImportFrom)
    }


def test_a_module_that_teaches_is_pasted_whole_and_of_others_what_is_used():
    _imports, parts = paste([multi_head, examples.draw_embeddings], {})
    texts = {part.module: part.text for part in parts}
    assert inspect.getsource(contributions).strip() in texts[multi_head.__module__]
    assert "random_latent" not in texts[examples.__name__]
    imports, _parts = paste([layers.draw_layer], {})
    assert "masks = sys.modules[__name__]" in imports, "by the name that others have for it"


def test_every_claim_and_every_exercise_can_be_pasted():
    """In one file no name of theirs has two meanings."""
    left_out = claim_takeaway.NEED_FILES
    checks = [one.check for name, one in read_claims().items() if name not in left_out]
    exercises = [one for one in read_exercises().values() if one.kind != "write"]
    makers = [one.make for one in exercises if one.id not in exercise_takeaway.MEASURED]
    assert len(checks) > 30
    assert len(makers) > 20
    wanted: list[tuple[Any, Any]] = [(claim_takeaway.run_check, check) for check in checks]
    wanted += [(exercise_takeaway.measure_settings, maker) for maker in makers]
    for around, one in wanted:
        assert paste([same_numbers, around, one], find_published_entries(one, ()))


@pytest.mark.parametrize(
    ("functions", "why"),
    [
        ([sentence.split_words], "regex comes from regex"),
        ([layers.load_heads], "__file__"),
        ([choose_text.choose_text], "."),
        ([of_masks.run_second_layer, of_positions.compute_alibi], "means something else"),
    ],
)
def test_what_is_not_plain_is_refused(functions, why):
    with pytest.raises(NotPlainError, match=why):
        paste(functions, {})


def test_the_example_is_what_the_command_writes():
    assert FILE.read_text(encoding="utf-8") == make_example() + "\n"


@pytest.mark.nightly("a kernel of its own; the example is what the command writes, and that daily")
def test_the_example_runs_in_a_plain_jupyter():
    """Where it lies in the repository, and with pictures as SVG."""
    file = valid(make_example())
    resources = {"metadata": {"path": str(FILE.parent)}}
    NotebookClient(file, timeout=120, resources=resources).execute()
    outputs = [one for cell in file.cells for one in cell.get("outputs", [])]
    drawn = [one.data["image/svg+xml"] for one in outputs if "image/svg+xml" in one.get("data", {})]
    assert len(drawn) == 2
    assert all("announced" in picture for picture in drawn)
    printed = "".join(one.text for one in outputs if one.output_type == "stream")
    assert re.search(r"d_k 1024: variance +\d{3,4}\.\d and (0\.9|1\.0)\d", printed)
