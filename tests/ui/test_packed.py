"""Numbers on their way to the browser: as short as they may be, and what is read there again."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explainers.ui.browser_files import FOLDER
from explainers.ui.figure import head_tiles
from explainers.ui.figure.linked_matrices import HIDDEN, STEPS, pack_values, round_values
from tests.support.reading import unpacked

NUMBERS = st.none() | st.floats(-1e6, 1e6)
TABLES = st.integers(1, 5).flatmap(
    lambda width: st.lists(st.lists(NUMBERS, min_size=width, max_size=width), min_size=1)
)


@given(TABLES)
def test_a_packed_number_is_half_a_step_off_at_most(values):
    flat, sent = [number for line in values for number in line], pack_values(values)
    largest = max([abs(number) for number in flat if number is not None], default=0)
    for number, read in zip(flat, unpacked(sent), strict=True):
        assert (number is None) == (read is None)
        if number is not None:
            assert read == pytest.approx(number, abs=0.51 * largest / STEPS + 1e-12)


def test_the_browser_takes_the_same_numbers_for_blanks_and_steps():
    code = (FOLDER / "common" / "numbers.js").read_text(encoding="utf-8")
    told = {"BLANK": HIDDEN, "BLANK_WEIGHT": head_tiles.HIDDEN, "WEIGHT_STEPS": head_tiles.STEPS}
    found = dict(re.findall(r"^export const (\w+) = (-?\d+);", code, re.MULTILINE))
    assert found == {name: str(number) for name, number in told.items()}
    assert -STEPS > HIDDEN, "no number may look like a blank"


def test_digits_are_cut_after_the_sixth():
    assert round_values([[1 / 3, None], [-12345.678, 0]]) == [[0.333333, None], [-12345.7, 0]]
