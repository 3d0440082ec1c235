"""Every published figure beside ours: it agrees as exactly as it was printed, or is explained."""

from decimal import Decimal
from fractions import Fraction

import pytest

from explainers.memory.published_figures import REASONS, evaluate_recipe, read_figures

FIGURES = list(read_figures().values())
each_figure = pytest.mark.parametrize("figure", FIGURES, ids=[figure.id for figure in FIGURES])


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


@each_figure
def test_our_recipe_gives_what_the_formula_gave(figure):
    assert float(evaluate_recipe(figure.recipe)) == pytest.approx(figure.computed, rel=1e-12)
    if figure.unit_meant in {"B", "KiB", "MiB", "GiB", "KB", "MB", "GB", "TB"}:
        assert evaluate_recipe(figure.recipe) == figure.computed


@each_figure
def test_it_agrees_in_every_printed_digit_or_has_a_named_reason(figure):
    agrees = near(figure.computed_value, figure)
    assert agrees or figure.reason in REASONS
    assert figure.agrees or not agrees


@each_figure
def test_a_reason_fits_the_difference(figure):
    off = abs(figure.computed_value / published_value(figure) - 1)
    match figure.reason:
        case "binary-unit":
            assert figure.unit_meant == f"{figure.unit[0]}iB"
            assert near(figure.computed_value, figure)
        case "rounded-inputs":
            assert 0 < off <= Fraction(11, 1000)
        case "about":
            assert off <= Fraction(5, 100)
        case "bound":
            assert figure.computed_value < published_value(figure)
        case "cut-off":
            assert 0 < figure.computed_value - published_value(figure) < last_digit(figure)
        case "not-reproducible":
            assert published_value(figure) / figure.computed_value == pytest.approx(6, rel=0.02)
        case "end-to-end":
            assert figure.computed_value > published_value(figure)
        case "slip" | "no-reading":
            assert not near(figure.computed_value, figure)
        case "":
            assert near(figure.computed_value, figure)
        case _:
            assert figure.mistake, "a reason that can be computed is computed"


@pytest.mark.parametrize("figure", [f for f in FIGURES if f.mistake], ids=lambda figure: figure.id)
def test_the_same_mistake_gives_the_same_wrong_number(figure):
    assert near(figure.mistaken_value, figure)
    assert not near(figure.computed_value, figure)


def test_most_are_usable_and_wrong_ones_are_not():
    usable = [figure for figure in FIGURES if figure.testable and figure.origin == "published"]
    assert len(usable) == 65
    assert all(figure.agrees for figure in usable)
    assert sum(not figure.agrees for figure in FIGURES) == 19
