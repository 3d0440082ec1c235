"""The parts of a page: veils, cards, questions at its end, lists of names, the sidebar's dots."""

import gc
import re
from types import SimpleNamespace
from typing import Any

import pytest

from explainers.ui import learning_path
from explainers.ui.controls import controls
from explainers.ui.controls.control import Control
from explainers.ui.figure.picker import accepts
from explainers.ui.page import keep_imports, run_page
from explainers.ui.page_parts.veil import choose_guesses, close_bold
from explainers.ui.prediction import sort_options
from explainers.ui.server import import_chapters
from tests.support.opening import ROOT, opened
from tests.support.reading import said

PAGE = ROOT / "pages" / "08_kv_cache.py"
STUDY = {"predict": "true"}


def test_a_link_to_no_chip_and_to_no_card_is_told():
    for name, link in [
        ("guess_broken", {"deep": "broken", "guess_broken": "<b>8</b>"}),
        ("moon", {"deep": "the moon"}),
    ]:
        visit = opened(PAGE, STUDY | link)
        assert not visit.exception
        assert any(name in note.value for note in visit.info), name


def test_who_skips_twice_is_asked_once_whether_to_show_all_answers():
    visit = opened(PAGE, STUDY | {"deep": "broken"})
    visit.button("show guess_costs").click().run()
    assert "from now on" not in said(visit)
    visit.button("show guess_broken").click().run()
    assert "Show all answers from now on?" in said(visit)
    next(one for one in visit.main.button if one.label == "Yes").click().run()
    assert not visit.exception
    assert visit.session_state["predict"] is False
    assert "from now on" not in said(visit)


def test_both_questions_answered_right_or_wrong_mark_the_page():
    visit = opened(PAGE)
    first, second = (one for one in visit.main.text_input if one.label == "Your answer")
    first.set_value("much").run()
    assert any("cannot be read as a number" in one.value for one in visit.caption)
    assert "pages_done" not in visit.query_params
    first.set_value("1,5").run()
    assert "You typed **` 1,5 `**. The answer is **" in said(visit)
    second.set_value("0").run()
    assert not visit.exception
    assert "Right: **0**." in said(visit)
    assert visit.query_params["pages_done"] == "08"


def test_course_one_is_one_story_of_less_than_45_minutes():
    listed = re.findall(r"pages/(\w+)\.py", (ROOT / "contents.py").read_text(encoding="utf-8"))
    assert [page[:2] for page in listed[:6]] == ["01", "03", "04", "05", "06", "08"]
    assert sum(map(learning_path.estimate_minutes, listed[:6])) < 45


def test_rows_of_the_sidebar_have_number_name_and_dot(monkeypatch):
    contents = {"": {"pages/05_masks.py": "Masks", "pages/08_kv_cache.py": "KV cache"}}
    state = {
        learning_path.finished_pages.key: "08",
        learning_path.PAGES_OPENED: {"pages/05_masks.py"},
    }
    monkeypatch.setattr(learning_path.st, "session_state", state)
    assert [*learning_path.label_pages(contents).values()] == ["1 · Masks ◐", "2 · KV cache ●"]


def test_what_a_page_imports_is_searched_for_garbage_once():
    keep_imports.cache_clear()
    gc.unfreeze()
    page: Any = SimpleNamespace(url_path="tokens", run=lambda: None)
    kept = [object]
    run_page(page)
    frozen = gc.get_freeze_count()
    assert frozen > 10_000
    assert not any(one is kept for one in gc.get_objects())
    kept = [object]
    run_page(page)
    assert any(one is kept for one in gc.get_objects())
    gc.unfreeze()


def test_two_choices_cannot_have_one_name():
    """All tables of choices are read in one process, as a server reads them in the end."""
    taken = Control(controls.head_dim.key, "Another d_k", "many")
    with pytest.raises(ValueError, match=controls.head_dim.label):
        controls.register(taken)
    assert controls.CONTROLS_BY_KEY[taken.key] is controls.head_dim
    import_chapters()


@pytest.mark.parametrize(
    ("halves", "closed"),
    [
        (("**Word ", ".**"), ("**Word**&nbsp;", "**.**")),
        (("**A row changes ", " times.**"), ("**A row changes**&nbsp;", "&#32;**times.**")),
        (("Plain ", " text"), ("Plain&nbsp;", "&#32;text")),
        (("**All of it: ", "**"), ("**All of it:**&nbsp;", "")),
    ],
)
def test_bold_that_spans_the_tile_is_cut_with_it(halves, closed):
    assert close_bold(*halves) == closed


def test_the_answer_stands_where_it_stood_among_three_guesses():
    assert choose_guesses(["The", "CEO", "on", "Friday"], "CEO") == ["The", "CEO", "on"]
    assert choose_guesses(["42", "7"], "21") == ["7", "21", "42"]


@pytest.mark.parametrize(
    ("options", "offered"),
    [
        (["0", "1", "24", "7"], ["0", "1", "7", "24"]),
        (["2.0 times", "1,000 times", "-3 times"], ["-3 times", "2.0 times", "1,000 times"]),
        (["5 MiB", "1 GiB", "4 MiB"], ["5 MiB", "1 GiB", "4 MiB"]),
        (["both", "none", "both", "7"], ["both", "none", "7"]),
    ],
)
def test_an_answer_does_not_stand_out_among_numbers(options, offered):
    assert sort_options(options) == offered


def test_a_page_takes_as_long_as_its_words_and_its_questions():
    text = "one two **three** four\n\n### A heading\n"
    tour_of_two = {"remark": "word " * (learning_path.WORDS_PER_MINUTE * 2), "ask_once": text}
    assert learning_path.count_minutes({}) == 0
    assert learning_path.count_minutes({"remark": tour_of_two["remark"]}) == 2
    assert learning_path.count_minutes(tour_of_two) == 2 + 2 * learning_path.MINUTES_TO_TRY


NAMES = ("one", "two", "three")


@pytest.mark.parametrize(
    ("told", "most", "may_be"),
    [
        (["two"], 1, True),
        ([], 1, False),
        (["one", "two"], 1, False),
        ([], 2, True),
        (["three", "one"], 2, True),
        (["one", "one"], 2, False),
        (["one", "two", "three"], 2, False),
        (["four"], 2, False),
        ("one", 3, False),
        ([1], 3, False),
        (None, 1, False),
    ],
)
def test_a_browser_may_ask_for_names_of_the_list(told, most, may_be):
    assert accepts(told, NAMES, most) is may_be


def test_what_is_chosen_keeps_its_order_and_stands_in_the_link():
    visit = opened(
        ROOT / "pages" / "10_cache_memory.py", {"compared": ["gpt2", "deepseek-v3", "llama-2-7b"]}
    )
    assert visit.session_state["compared"] == ["gpt2", "deepseek-v3", "llama-2-7b"]
    visit.session_state["compared"] = ["opt-13b", "gpt2"]
    assert visit.run().query_params["compared"] == ["opt-13b", "gpt2"]
    visit.session_state["compared"] = [*controls.compared_models.default]
    assert "compared" not in visit.run().query_params
    visit.session_state["compared"] = []
    assert "".join(visit.run().query_params["compared"]) == "", "taken away, all of them"
