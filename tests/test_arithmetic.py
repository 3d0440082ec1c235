"""The arithmetic of a number, checked as a reader with a pocket calculator would."""

import contextlib
import io
import math
import re
from decimal import Decimal, localcontext

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from explainers import arithmetic

NUMBERS = st.floats(-100, 100, width=32) | st.sampled_from((0.0, -0.0, 0.5, -0.25, 0.03125, 1e-6))
SCORES = st.floats(-1e4, 1e4, width=32) | st.sampled_from((0.0, 1e4, -1e4))


def numbers(line):
    """Every number in a line, as it is printed."""
    return [Decimal(found) for found in re.findall(r"-?\d+(?:\.\d+)?", line.replace("−", "-"))]


def rounds_to(exact, shown):
    """Is the shown number the exact one to its own last digit?"""
    return abs(exact - shown) * 2 <= Decimal(1).scaleb(shown.as_tuple().exponent)


def prints(run):
    """What the snippet prints."""
    assert run.snippet.count("\n") == 2  # three lines
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(run.snippet, {})
    return printed.getvalue().strip()


def ends_with(run, value):
    """It comes to the number, for who reads and for who runs it."""
    assert rounds_to(Decimal(value), Decimal(run.value))
    assert prints(run) == run.value


def multiplies_out(run, left, right, value):
    *products, total, result = run.lines
    assert len(products) == len(left)
    with localcontext(prec=80):
        shown = []
        for a, b, line in zip(left, right, products, strict=True):
            a_shown, b_shown, product = numbers(line)
            assert rounds_to(Decimal(a), a_shown)
            assert rounds_to(Decimal(b), b_shown)
            assert rounds_to(a_shown * b_shown, product)
            shown.append(product)
        assert total == f"sum = {sum(shown):f}"
        assert result == f"output[0, 1] = {run.value}"
        assert rounds_to(sum(shown), Decimal(run.value))
        ends_with(run, value)


@settings(max_examples=200)
@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=6))
@example([(0.5, 0.0625)])  # 0.03125, a tie at four decimals
@example([(-0.001, 0.001)])  # a little below 0
@example([(100.0, 100.0), (-1e-4, 1.0)])
def test_dot_product(pairs):
    left, right = map(list, zip(*pairs, strict=True))
    value = (torch.tensor(left) @ torch.tensor(right)).item()
    run = arithmetic.explain_dot_product(left, right, value, "output[0, 1]")
    multiplies_out(run, left, right, value)
    assert not re.search(r"= \(", "".join(run.lines)), "brackets are for factors"


def test_each_product_of_a_mixture_has_its_word():
    left, right, name = [0.5, 0.5], [-1.0, 3.0], "output[0, 1]"
    run = arithmetic.explain_dot_product(left, right, 1.0, name, ("The", "CEO"))
    assert run.lines[:2] == ("0.5000 × (-1.0000) = -0.5000  The", "0.5000 × 3.0000 = 1.5000  CEO")


@pytest.mark.parametrize("spread", [1.0, 30.0])
def test_dot_product_of_long_vectors(spread):
    for seed in range(20):
        random, length = torch.Generator().manual_seed(seed), (31, 128)[seed % 2]
        left, right = spread * torch.randn(2, length, generator=random)
        value = (left @ right).item()
        run = arithmetic.explain_dot_product(left.tolist(), right.tolist(), value, "output[0, 1]")
        multiplies_out(run, left.tolist(), right.tolist(), value)


@settings(max_examples=200)
@given(SCORES, st.integers(2, 1024))
@example(-1e-5, 4)
@example(0.0625, 4)  # 0.03125, a tie at four decimals
def test_division(product, head_dim):
    value = (torch.tensor(product) / math.sqrt(head_dim)).item()
    run = arithmetic.explain_division(product, head_dim, value, "scores[0, 1]")
    root, division, result = run.lines
    dim, root = numbers(root)
    top, bottom, quotient = numbers(division)
    assert (dim, root) == (head_dim, bottom)
    assert rounds_to(Decimal(head_dim).sqrt(), root)
    assert rounds_to(Decimal(product), top)
    assert rounds_to(top / bottom, quotient)
    assert f"{quotient:f}" == run.value
    assert result == f"scores[0, 1] = {run.value}"
    ends_with(run, value)


@settings(max_examples=200)
@given(NUMBERS, NUMBERS)
@example(-1e-5, 0.0)
@example(0.03125, 0.0)
def test_addition(left, right):
    value = (torch.tensor(left) + torch.tensor(right)).item()
    run = arithmetic.explain_addition(left, right, value, "X[0, 1]")
    line, result = run.lines
    assert "= (" not in line
    first, second, total = numbers(line)
    assert rounds_to(Decimal(left), first)
    assert rounds_to(Decimal(right), second)
    assert first + second == total
    assert result == f"X[0, 1] = {run.value}"
    assert rounds_to(total, Decimal(run.value))
    ends_with(run, value)


ROWS = st.lists(SCORES | st.floats(-5, 5, width=32) | st.just(-math.inf), max_size=23)


@settings(max_examples=200)
@given(ROWS, st.integers(0, 23))
@example([0.25, 0.25, 0.25], 0)
@example([1e4, -1e4, -math.inf], 1)
def test_softmax(others, column):
    row = [*others, 0.25]  # one pair is always allowed
    column %= len(row)
    value = torch.tensor(row).softmax(dim=-1)[column].item()
    labels = [f"word{place}" for place in range(len(row))]
    run = arithmetic.explain_softmax(row, column, value, labels)
    first, *powers, total, division = run.lines
    (largest,) = numbers(first)
    assert rounds_to(Decimal(max(row)), largest)
    shown = []
    for score, label, line in zip(row, labels, powers, strict=True):
        power, said = line.split(" = ")
        term, named = said.split("  ")
        assert named == label
        shown.append(Decimal(term))
        if score == -math.inf:
            assert power == "e^−∞"
            assert shown[-1] == 0
        else:
            less, minus = re.findall(r"(?:\^\(|− )(\S+?)(?= |\)$)", power)
            assert Decimal(minus) == largest
            assert rounds_to(Decimal(score), Decimal(less))
            assert rounds_to((Decimal(less) - largest).exp(), shown[-1])
    assert total == f"total = {sum(shown):f}"
    assert division == f"{shown[column]:f} ÷ {sum(shown):f} = {run.value}"
    assert rounds_to(shown[column] / sum(shown), Decimal(run.value))
    ends_with(run, value)


@given(SCORES | st.floats(-1, 1, width=32))
@example(-1e-5)
def test_a_number_that_is_given_or_let_through(value):
    for run in (
        arithmetic.explain_input(value, "X[0, 1]"),
        arithmetic.explain_masking(value, value, "X[0, 1]"),
    ):
        (line,) = run.lines
        assert line.startswith(f"X[0, 1] = {run.value}:")
        ends_with(run, value)


def test_a_masked_pair():
    run = arithmetic.explain_masking(1.5, -math.inf, "masked[0, 1]")
    assert prints(run) == run.value == "-inf"
    assert "−∞" in run.lines[0]
