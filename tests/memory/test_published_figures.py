"""Every published figure beside ours: it agrees as exactly as it was printed, or is explained."""

from decimal import Decimal
from fractions import Fraction

import pytest

from explainers.memory.published_figures import REASONS, evaluate_recipe, read_figures

FIGURES = list(read_figures().values())


def published_value(figure):
    """The published number, exact to its printed digits."""
    return Fraction(repr(figure.published))


def last_digit(figure):
    """The value of one in the last printed digit."""
    return Fraction(10) ** int(Decimal(repr(figure.published)).as_tuple().exponent)


def near(ours, figure):
    """Whether the printed digits are ours, rounded as far as they were said to be."""
    if figure.exactness == "exact":
        return ours == published_value(figure)
    return abs(ours - published_value(figure)) <= last_digit(figure) / 2


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.id)
def test_it_agrees_in_every_printed_digit_or_its_reason_fits_the_difference(figure):
    given = evaluate_recipe(figure.recipe)
    assert float(given) == pytest.approx(figure.computed, rel=1e-12), "the formula's own result"
    assert given == figure.computed or not figure.unit_meant.endswith("B"), "bytes are whole"
    ours, published = figure.computed_value, published_value(figure)
    agrees, off = near(ours, figure), abs(ours / published - 1)
    assert agrees or figure.reason in REASONS
    assert figure.agrees or not agrees
    if figure.mistake:
        assert near(figure.mistaken_value, figure), "the same mistake gives the same wrong number"
        assert not agrees
    match figure.reason:
        case "binary-unit":
            assert figure.unit_meant == f"{figure.unit[0]}iB"
            assert agrees
        case "rounded-inputs":
            assert 0 < off <= Fraction(11, 1000)
        case "about":
            assert off <= Fraction(5, 100)
        case "bound":
            assert ours < published
        case "cut-off":
            assert 0 < ours - published < last_digit(figure)
        case "not-reproducible":
            assert published / ours == pytest.approx(6, rel=0.02)
        case "end-to-end":
            assert ours > published
        case "slip" | "no-reading":
            assert not agrees
        case "":
            assert agrees
        case _:
            assert figure.mistake, "a reason that can be computed is computed"


def test_most_are_usable_wrong_ones_are_not_and_every_reason_is_used():
    usable = [figure for figure in FIGURES if figure.testable and figure.origin == "published"]
    assert len(usable) == 65
    assert all(figure.agrees for figure in usable)
    assert sum(not figure.agrees for figure in FIGURES) == 19
    assert {figure.reason for figure in FIGURES} - {""} == set(REASONS)
