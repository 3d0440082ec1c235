"""Everything that pages send is what was recorded: see `tests/golden/compare.py` for the rule."""

import re

import pytest

from tests.golden.compare import MOST_ROUNDED, list_changes
from tests.golden.kept import list_differences, read_kept, take
from tests.golden.sent import simplify
from tests.support.opening import PAGES, lacks_model, opened


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_sends_what_was_recorded(page):
    if lacks_model(opened(page)):
        pytest.skip("no model here: python -m explainers.models fetch says why")
    assert list(list_differences(page, read_kept(page), take(page))) == []


HYPHEN = re.compile(r"(?<![\w.,/&=:#'\"`\[{(-])-\d|\(-\d")
"""Before a number, where it is no part of a name, a link or code."""
CODE = re.compile(r"`[^`]*`")
"""A token may be a full stop."""
ENDS_TWICE = re.compile(r"(?:…|, *|(?<!\.)\.)\.(?!\.)|\s\.(?=\s|$)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_sentences_end_once_and_have_no_hyphen_for_a_minus(page):
    said = [
        CODE.sub("``", str(value))
        for _link, sent in read_kept(page).values()
        for element, value in sent
        if element.endswith("markdown")
    ]
    assert said
    assert [one for one in said if ENDS_TWICE.search(one)] == []
    assert [one for one in said if HYPHEN.search(one)] == [], "a minus is as wide as a plus"


def changes(kept, now):
    return [str(one) for one in list_changes([("hero", kept)], [("hero", now)])]


@pytest.mark.parametrize(
    ("kept", "now"),
    [
        ({"weights": [0.0312, 0.5]}, {"weights": [0.0314, 0.5]}),
        ({"weights": [0.1, 0.9]}, {"weights": [0.9, 0.1]}),
        ({"weights": [0.1]}, {"weights": [0.1, 0.0]}),
        ({"weights": 1.0}, {"weights": "1.0"}),
        ({"is_on": 1}, {"is_on": True}),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ("gives 61 % to CEO", "gives 61 % to record"),
        ("gives 61 % to CEO", "gives 63 % to CEO"),
        ("of 4,096 bytes", "of 4,196 bytes"),
        ("of 131,072 tokens", "of 131,073 tokens"),
        ("with 4, 8 and 16 numbers", "with 5, 9 and 17 numbers"),
        ({"sizes": [4, 131072]}, {"sizes": [5, 131072]}),
    ],
)
def test_a_change_is_told(kept, now):
    assert len(changes(kept, now)) > 0
    assert changes(kept, kept) == []


def test_a_change_says_where_it_is():
    kept, now = ({"card": {"leak": [0.5, leak]}} for leak in (0.0312, 0.0314))
    assert changes(kept, now) == ["hero.card.leak[1]: 0.0312 → 0.0314"]


@pytest.mark.parametrize(
    ("kept", "now"),
    [
        ([0.03121], [0.031212]),
        ([1e-9, 3.0], [4e-8, 3.0]),
        ("differs by **less than 0.000001**", "differs by **0**"),
        ("is 2e-07, a rounding", "is 5e-07, a rounding"),
        ("tensor([4.6343355])", "tensor([4.6343379])"),
    ],
)
def test_rounding_is_no_change(kept, now):
    assert changes(kept, now) == []


def test_few_numbers_may_have_another_last_digit():
    kept = [("hero", f"gives {share} %") for share in range(40, 90, 3)]
    now = [("hero", f"gives {share + 1} %") for share in range(40, 90, 3)]
    few, many = MOST_ROUNDED, MOST_ROUNDED + 1
    assert list_changes(kept[:few], now[:few]) == []
    assert len(list_changes(kept[:many], now[:many])) == many


def test_what_came_or_went_is_told():
    kept, now = [("markdown", "a"), ("table", "b"), ("markdown", "c")], [("markdown", "a")]
    assert [one.place for one in list_changes(kept, now)] == ["table went", "markdown went"]
    assert [one.place for one in list_changes(now, kept)] == ["table came", "markdown came"]


def test_an_order_of_this_process_is_refused():
    with pytest.raises(TypeError, match="a set"):
        simplify({"words": {"key", "query"}})
