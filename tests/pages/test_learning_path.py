"""The learning path: a page is ticked where the reader says so, and the next one offered."""

import pytest

from explainers.folders import ROOT
from explainers.ui import learning_path
from explainers.ui import page as pages
from tests.house.test_house import contents
from tests.support.opening import PAGES, opened
from tests.support.reading import find_way_on

ORDER = [ROOT / path for path, _title in contents()]
TITLES = [title for _path, title in contents()]


def test_who_goes_on_from_a_page_without_questions_has_done_it():
    page = ROOT / "pages" / "23_exercises.py"
    visit, number, following = opened(page), "23", TITLES[ORDER.index(page) + 1]
    assert learning_path.finished_pages.key not in visit.query_params
    find_way_on(visit).click().run()
    assert not visit.exception
    assert visit.title[0].value == following
    assert visit.query_params[learning_path.finished_pages.key] == number
    later = find_way_on(opened(page, {"pages_done": "03"})).click().run()
    assert later.title[0].value == following
    assert later.query_params[learning_path.finished_pages.key] == f"03.{number}"


def test_who_goes_on_draws_no_more_of_the_page_that_is_left(monkeypatch):
    drawn: list[str] = []

    def note(page, run=pages.run_page):
        drawn.append(page.url_path)
        run(page)

    monkeypatch.setattr(pages, "run_page", note)
    visit = find_way_on(opened(PAGES[3])).click().run()
    assert (visit.title[0].value, drawn) == ("Masks", ["scores", "masks"])


def test_the_next_page_is_offered_and_the_last_one_is_ticked_by_its_place():
    """File names may leave out a number: what counts is what readers see."""
    assert find_way_on(opened(PAGES[3])).label.startswith("Next: Masks")
    visit = opened(ORDER[-1])
    assert "last page" in find_way_on(visit).label
    find_way_on(visit).click().run()
    number = learning_path.read_number(ORDER[-1].name)
    assert visit.query_params[learning_path.finished_pages.key] == number


@pytest.mark.parametrize(
    ("asked", "obeyed"),
    [(one, None) for one in ("99", "x", "1", "١", "01" * 500)]
    + [(one, "01.02") for one in ("02.01", "01.02.02", "01.99.02", "01.x.02.")],
)
def test_a_link_is_obeyed_as_far_as_it_can_be_read(asked, obeyed):
    visit = opened(PAGES[0], {"pages_done": asked})
    assert not visit.exception
    assert any("pages_done" in note.value for note in visit.info)
    assert visit.query_params.get(learning_path.finished_pages.key) == obeyed


def test_the_path_tells_minutes_of_each_page_and_no_sum():
    visit = opened(PAGES[0], {"pages_done": "01.02"})
    visit.session_state["learning path"] = True
    visit.run()
    shown = "\n".join(markdown.value for markdown in visit.markdown)
    assert f"2 of {len(PAGES)} pages done" in shown
    assert " h " not in shown
