"""What we change inside Streamlit does what Streamlit itself would, for less."""

import functools
from copy import deepcopy

from streamlit.cursor import RunningCursor, SparseList
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.NewSession_pb2 import CustomThemeConfig

from explainers.ui import changed_streamlit

SECTIONS = "theme", "theme.light", "theme.dark", "theme.sidebar"


def write(place):
    """All that a place on the page is."""
    seen = dict(vars(place))
    return seen | {"_transient_elements": [*place.transient_elements.items()]}


def test_a_copied_place_is_the_same_and_moves_by_itself(monkeypatch):
    elements = SparseList[Element]()
    elements[1] = Element()
    places = [RunningCursor(0, (2, 3)), RunningCursor(1, (), 1, elements)]
    places[0].lock_element()
    alike = [write(deepcopy(place)) for place in places]
    copy = functools.partialmethod(changed_streamlit.copy_place)
    monkeypatch.setattr(RunningCursor, "__deepcopy__", copy, raising=False)
    copied = [deepcopy(place) for place in places]
    assert [write(place) for place in copied] == alike == [write(place) for place in places]
    copied[0].lock_element()
    assert (copied[0].index, places[0].index) == (2, 1)
    assert copied[1].transient_elements is not elements


def test_the_colours_are_those_of_the_settings():
    for section in SECTIONS:
        for _again in range(2):
            expected, told = CustomThemeConfig(), CustomThemeConfig()
            changed_streamlit._read_theme(expected, section)
            changed_streamlit.copy_theme(told, section)
            assert told == expected
            assert bool(told.primary_color) == (section in ("theme.light", "theme.dark"))
