"""What a reader does to linked matrices, and what they say then; arithmetic done again by hand."""

import io
import re
from contextlib import redirect_stdout
from fractions import Fraction

import pytest

NUMBER = r"−?-?\d+(?:\.\d+)?"


def panel(visit, name):
    """One matrix of a linked picture: the first of its name, or where a card is open, its own."""
    found = visit.page.locator(f'.panel[aria-label="{name}"]')
    return found.last if "deep" in visit.choices else found.first


def values(visit, name):
    """The numbers of a matrix, row by row; a masked one is None."""
    return panel(visit, name).evaluate(
        "(panel) => [...panel.querySelectorAll('tbody tr')].map("
        "(line) => [...line.querySelectorAll('td.cell')].map((cell) => cell.value))"
    )


def cell(visit, name, row, column):
    line = panel(visit, name).locator("tbody tr").nth(row)
    return line.locator("td.cell").nth(column)


def framed(visit, name):
    """[row, column] of the cells that are framed."""
    return panel(visit, name).evaluate(
        "(panel) => [...panel.querySelectorAll('td.framed')].map((cell) => cell.place)"
    )


def slider(visit, key):
    return visit.page.get_by_role("slider", name=re.compile(f"^{key}"))


def option(visit, name):
    return visit.page.get_by_role("radio", name=name, exact=True)


def live_slider(visit, label):
    """A slider that moves in the browser."""
    lines = visit.page.locator("label.slider", has_text=re.compile(f"^{label}"))
    return lines.locator("input")


def bars(visit):
    """How often the largest weight was how large, as it is drawn."""
    return visit.page.locator("rect.share").evaluate_all(
        "(bars) => bars.map((bar) => Object.fromEntries("
        "[...bar.attributes].map(({ name, value }) => [name, value])))"
    )


def check_arithmetic(lines, snippet, shown):
    """A pocket calculator and Python come to what a cell shows."""
    assert float(run(snippet)) == pytest.approx(float(shown), abs=half_a_digit(shown))
    multiplied_out(lines.splitlines())


def half_a_digit(shown):
    """By how much a number may differ from what its cell has room for."""
    return 0.5001 * 10.0 ** -len(shown.partition(".")[2])


def run(snippet):
    """What a reader sees who pastes a snippet into Python."""
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(snippet, {})
    return printed.getvalue().strip()


def multiplied_out(lines):
    """Recompute every line as a reader with a pocket calculator does."""
    total = Fraction(0)
    for line in lines:
        found = [Fraction(number.replace("−", "-")) for number in re.findall(NUMBER, line)]
        if "×" in line:
            left, right, product = found
            assert abs(left * right - product) <= half(line)
            total += product
        elif line.startswith("sum ="):
            assert found == [total]
        elif line.startswith("e^"):
            total += Fraction(re.findall(rf"= ({NUMBER})", line)[0])
        elif line.startswith("total ="):
            assert found == [total]
        elif "÷" in line:
            top, bottom, quotient = found
            assert abs(top / bottom - quotient) <= half(line)


def half(line):
    """Half a unit of the last digit of a line's result."""
    places = len(re.findall(NUMBER, line)[-1].partition(".")[2])
    return Fraction(1, 2 * 10**places)
