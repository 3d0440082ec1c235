"""The parts of a page: veils, cards, questions at its end, lists of names, the sidebar's dots."""

import gc
import re
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from explainers.translations import load_sections
from explainers.ui import learning_path
from explainers.ui.controls import controls
from explainers.ui.controls.control import Control
from explainers.ui.controls.name_controls import accepts
from explainers.ui.page import keep_imports, run_page
from explainers.ui.prediction import choose_guesses, close_bold, sort_options
from explainers.ui.server import import_chapters
from tests.support.opening import ROOT, opened, widgets
from tests.support.reading import said

PAGE = ROOT / "pages" / "08_kv_cache.py"
STUDY = {"predict": "true"}


def test_a_link_to_no_chip_and_to_no_card_is_told():
    guessed = {"deep": "broken", "guess_broken": "<b>8</b>"}
    for name, link in (("guess_broken", guessed), ("moon", {"deep": "the moon"})):
        visit = opened(PAGE, STUDY | link)
        assert not visit.exception
        assert any(name in note.value for note in visit.info), name
    without_cards = opened(ROOT / "pages" / "24_claims.py", {"deep": "the moon"})
    assert ["the moon" in note.value for note in without_cards.info] == [True]
    assert not opened(ROOT / "pages" / "24_claims.py").info


def test_another_link_takes_back_what_was_told_of_the_one_before():
    visit = opened(PAGE, {"deep": "the moon"})
    for link, is_told in (("the moon", True), ("broken", False)):
        visit.switch_page("pages/05_masks.py").run().switch_page("pages/08_kv_cache.py")
        visit.query_params["deep"] = link
        visit.run()
        assert any("moon" in note.value for note in visit.info) == is_told


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
    minutes = [learning_path.count_minutes(load_sections(page)) for page in listed[:6]]
    assert sum(minutes) < 45


def test_rows_of_the_sidebar_have_number_name_and_dot(monkeypatch):
    contents = {"": {"pages/05_masks.py": "Masks", "pages/08_kv_cache.py": "KV cache"}}
    opened_before = {learning_path.PAGES_OPENED: {"pages/05_masks.py"}}
    state = {learning_path.finished_pages.key: "08", **opened_before}
    monkeypatch.setattr(learning_path.st, "session_state", state)
    assert [*learning_path.label_pages(contents).values()] == ["1 · Masks ◐", "2 · KV cache ●"]


def test_what_a_page_imports_is_searched_for_garbage_once():
    keep_imports.cache_clear()
    gc.unfreeze()
    page: Any = SimpleNamespace(url_path="tokens", run=lambda: None)
    for is_searched in (False, True):
        kept = [object]
        run_page(page)
        assert gc.get_freeze_count() > 10_000
        assert any(one is kept for one in gc.get_objects()) == is_searched
    gc.unfreeze()


def test_two_choices_cannot_have_one_name():
    """All tables of choices are read in one process, as a server reads them in the end."""
    taken = Control(controls.head_dim.key, "Another d_k", "many")
    with pytest.raises(ValueError, match=controls.head_dim.label):
        controls.register(taken)
    assert controls.CONTROLS_BY_KEY[taken.key] is controls.head_dim
    import_chapters()


def test_bold_that_spans_the_tile_is_cut_with_it():
    assert close_bold("**Word ", ".**") == ("**Word**&nbsp;", "**.**")
    assert close_bold("**It changes ", " twice.**") == ("**It changes**&nbsp;", "&#32;**twice.**")
    assert close_bold("Plain ", " text") == ("Plain&nbsp;", "&#32;text")
    assert close_bold("**All of it: ", "**") == ("**All of it:**&nbsp;", "")


def test_the_answer_stands_where_it_stood_among_three_guesses():
    assert choose_guesses(["The", "CEO", "on", "Friday"], "CEO") == ["The", "CEO", "on"]
    assert choose_guesses(["42", "7"], "21") == ["7", "21", "42"]


def test_an_answer_does_not_stand_out_among_numbers():
    assert sort_options(["0", "1", "24", "7"]) == ["0", "1", "7", "24"]
    assert sort_options(["2.0 m", "1,000 m", "-3 m"]) == ["-3 m", "2.0 m", "1,000 m"]
    assert sort_options(["5 MiB", "1 GiB", "4 MiB"]) == ["5 MiB", "1 GiB", "4 MiB"]
    assert sort_options(["both", "none", "both", "7"]) == ["both", "none", "7"]


def test_a_page_takes_as_long_as_its_words_and_its_questions():
    text = "one two **three** four\n\n### A heading\n"
    read = {"remark": "word " * (learning_path.WORDS_PER_MINUTE * 2)}
    asked = read | {"ask_once": text}
    assert [*map(learning_path.count_minutes, ({}, read, asked))] == [0, 2, 4]


@pytest.mark.parametrize(
    ("most", "accepted", "refused"),
    [
        (1, [["two"]], [[], ["one", "two"], None]),
        (2, [[], ["three", "one"]], [["one", "one"], ["one", "two", "three"], ["four"]]),
        (3, [["one", "two", "three"]], ["one", [1]]),
    ],
)
def test_a_browser_may_ask_for_names_of_the_list(most, accepted, refused):
    names = ("one", "two", "three")
    assert [one for one in [*accepted, *refused] if accepts(one, names, most)] == accepted


def test_a_choice_out_of_sight_is_one_that_is_offered():
    def look():
        import streamlit as st

        from explainers.ui.controls import controls

        st.session_state[controls.weight_dtype.key] = "of another page"
        st.markdown(controls.weight_dtype(["int8", "int4"], "int4", is_drawn=False))

    assert [one.value for one in AppTest.from_function(look).run().markdown] == ["int4"]


def test_what_is_chosen_keeps_its_order_and_stands_in_the_link():
    asked = ["gpt2", "deepseek-v3", "llama-2-7b"]
    visit = opened(ROOT / "pages" / "10_cache_memory.py", {"compared": asked})
    assert visit.session_state["compared"] == asked
    visit.session_state["compared"] = ["opt-13b", "gpt2"]
    assert visit.run().query_params["compared"] == ["opt-13b", "gpt2"]
    visit.session_state["compared"] = [*controls.compared_models.default]
    assert "compared" not in visit.run().query_params
    visit.session_state["compared"] = []
    assert "".join(visit.run().query_params["compared"]) == "", "taken away, all of them"


def test_a_choice_holds_while_the_address_lags_and_a_later_link_to_its_page_counts():
    """A second click may leave the browser before it has heard of what the first one wrote."""
    masks, other = "pages/05_masks.py", "pages/03_query_key_value.py"
    visit = opened(ROOT / masks)
    widgets(visit)["seed"].set_value(5)
    assert visit.run().query_params["seed"] == "5"
    del visit.query_params["seed"]
    widgets(visit)["text"].set_value("five six seven")
    visit.run()
    assert (widgets(visit)["seed"].value, visit.query_params["seed"]) == (5, "5")

    visit.session_state["word"] = 2
    visit.run().switch_page(other)
    visit.query_params.clear()
    assert visit.run().query_params["seed"] == "5", "kept"
    visit.switch_page(masks)
    visit.query_params.clear()
    visit.query_params["seed"], visit.query_params["word"] = "7", "1"
    visit.run()
    assert (widgets(visit)["seed"].value, visit.session_state["word"]) == (7, 1)
    next(one for one in visit.button if one.label == "Reset all choices").click()
    visit.run()
    assert (widgets(visit)["seed"].value, visit.session_state["word"]) == (0, 2)
    assert not {"seed", "word"} & {*visit.query_params}
