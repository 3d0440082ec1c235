"""A number's arithmetic in full, in digits that multiply out to the digits shown."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal, localcontext

from explainers.messages import N_

RESULT_PLACES = (4, 5, 6, 3, 7, 2, 1, 0)
"""How many decimals a result may be shown with, the usual one first."""
TERM_PLACES = range(4, 13)
"""Decimals of the numbers it is made of: as few as give the result's digits again."""


def digits(value: float, exact: float) -> Iterator[tuple[int, int]]:
    """Decimals for the result and its terms; a result is never shown where rounding decides it.

    `value` was computed in float32, `exact` in float64: between the two may lie the border at
    which a digit changes, and then another number of decimals is shown.
    """
    for shown in RESULT_PLACES:
        if rounded(value, shown) == rounded(exact, shown):
            yield from ((shown, places) for places in TERM_PLACES if places >= shown)
    yield RESULT_PLACES[-1], TERM_PLACES[-1]


def rounded(number: float | Decimal, places: int) -> Decimal:
    """The number with exactly so many decimals."""
    with localcontext(prec=60):
        return Decimal(number).quantize(Decimal(1).scaleb(-places), ROUND_HALF_EVEN) + 0


def power(score: float, largest: float, places: int) -> Decimal:
    """e to the (score − largest), from what is shown of both."""
    if score == -math.inf:
        return rounded(0, places)
    return rounded((rounded(score, places) - rounded(largest, places)).exp(), places)


def signed(number: Decimal) -> str:
    """A factor, in brackets where its sign would stand next to another."""
    return f"{number:f}" if number >= 0 else f"({number:f})"


def listed(numbers: Sequence[float]) -> str:
    """Numbers as PyTorch reads them, with all the digits that a float32 has."""
    return f"[{', '.join('-torch.inf' if n == -math.inf else f'{n:.9g}' for n in numbers)}]"


@dataclass(frozen=True)
class Working:
    """Lines that a reader can follow with a pocket calculator, and PyTorch that agrees."""

    value: str
    lines: tuple[str, ...]
    snippet: str


def dot_product(left: Sequence[float], right: Sequence[float], value: float, name: str) -> Working:
    """`value` as the sum of the products of two lists of the same length."""
    exact = math.fsum(a * b for a, b in zip(left, right, strict=True))
    for shown, places in digits(value, exact):
        products, total = [], Decimal(0)
        for a, b in zip(left, right, strict=True):
            a_shown, b_shown = rounded(a, places), rounded(b, places)
            product = rounded(a_shown * b_shown, places)
            products.append(f"{signed(a_shown)} × {signed(b_shown)} = {signed(product)}")
            total += product
        if rounded(total, shown) == rounded(value, shown):
            break
    result = f"{rounded(value, shown):f}"
    return Working(
        result,
        (*products, N_("sum = {total:f}", total=total), f"{name} = {result}"),
        "import torch\n"
        f"left, right = torch.tensor([{listed(left)}, {listed(right)}]).double()\n"
        f'print(f"{{left @ right:z.{shown}f}}")',
    )


def division(numerator: float, head_dim: int, value: float, name: str) -> Working:
    """`value` as a dot product divided by √d_k."""
    root = math.sqrt(head_dim)
    for shown, places in digits(value, numerator / root):
        top, bottom = rounded(numerator, places), rounded(root, places)
        if rounded(top / bottom, shown) == rounded(value, shown):
            break
    result = f"{rounded(value, shown):f}"
    return Working(
        result,
        (f"√{head_dim} = {bottom:f}", f"{top:f} ÷ {bottom:f} = {result}", f"{name} = {result}"),
        "import torch\n"
        f"product = torch.tensor({numerator!r}, dtype=torch.float64)\n"
        f'print(f"{{product / {head_dim} ** 0.5:z.{shown}f}}")',
    )


def softmax(row: Sequence[float], column: int, value: float, labels: Sequence[str]) -> Working:
    """`value` as one power of e divided by the total of its row; −∞ stands for a masked pair."""
    largest = max(row)
    powers = [math.exp(score - largest) for score in row]
    for shown, places in digits(value, powers[column] / math.fsum(powers)):
        terms = [power(score, largest, places) for score in row]
        total = sum(terms, Decimal(0))
        if rounded(terms[column] / total, shown) == rounded(value, shown):
            break
    result = f"{rounded(value, shown):f}"
    largest_shown = rounded(largest, places)
    lines = [N_("The largest score of the row is {largest:f}.", largest=largest_shown)]
    for label, score, term in zip(labels, row, terms, strict=True):
        exponent = (
            f"({rounded(score, places):f} − {largest_shown:f})" if score > -math.inf else "−∞"
        )
        lines.append(f"e^{exponent} = {term:f}  {label}")
    lines += [N_("total = {total:f}", total=total), f"{terms[column]:f} ÷ {total:f} = {result}"]
    return Working(
        result,
        tuple(lines),
        "import torch\n"
        f"scores = torch.tensor({listed(row)}).double()\n"
        f'print(f"{{scores.softmax(-1)[{column}]:z.{shown}f}}")',
    )


def addition(left: float, right: float, value: float, name: str) -> Working:
    """`value` as the sum of two numbers."""
    for shown, places in digits(value, left + right):
        first, second = rounded(left, places), rounded(right, places)
        if rounded(first + second, shown) == rounded(value, shown):
            break
    result = f"{rounded(value, shown):f}"
    return Working(
        result,
        (f"{signed(first)} + {signed(second)} = {signed(first + second)}", f"{name} = {result}"),
        "import torch\n"
        f"left, right = torch.tensor({listed((left, right))}).double()\n"
        f'print(f"{{left + right:z.{shown}f}}")',
    )


def wave(place: int, column: int, d_model: int, longest: float, value: float, name: str) -> Working:
    """`value` as the sine (even column) or cosine of a place on one of the waves."""
    pair, function = column - column % 2, ("sin", "cos")[column % 2]
    exact = getattr(math, function)(place / longest ** (pair / d_model))
    for shown, places in digits(value, exact):
        slower = rounded(longest ** (pair / d_model), places)
        angle = rounded(place / slower, places)
        if rounded(getattr(math, function)(float(angle)), shown) == rounded(value, shown):
            break
    result = f"{rounded(value, shown):f}"
    return Working(
        result,
        (
            N_("slower by {sum}", sum=f"{longest:g}^({pair} ÷ {d_model}) = {slower:f}"),
            N_("angle = {sum}", sum=f"{place} ÷ {slower:f} = {angle:f}"),
            f"{name} = {function}({angle:f}) = {result}",
        ),
        "import torch\n"
        f"angle = torch.tensor({place}).double() / {longest:g} ** ({pair} / {d_model})\n"
        f'print(f"{{angle.{function}():z.{shown}f}}")',
    )


def masked(score: float, value: float, name: str) -> Working:
    """A score that the mask lets through, or replaces by −∞."""
    if value == -math.inf:
        line = N_("The mask forbids this pair: its score becomes −∞ and its weight exactly 0.")
        snippet = (
            f"import torch\nscore, forbidden = torch.tensor([{score:.9g}]), torch.tensor([True])\n"
            "print(score.masked_fill(forbidden, -torch.inf).item())"
        )
        return Working("-inf", (line,), snippet)
    allowed = N_("{name} = {score:z.4f}: the mask allows this pair.", name=name, score=score)
    return given(score, name, allowed)


def given(value: float, name: str, line: str = "") -> Working:
    """A number that was not computed from others on the page."""
    shown = f"{rounded(value, RESULT_PLACES[0]):f}"
    snippet = f'import torch\nvalue = torch.tensor({value:.9g})\nprint(f"{{value:z.4f}}")'
    line = line or N_(
        "{name} = {number}: given. Under the picture it says from where.", name=name, number=shown
    )
    return Working(shown, (line,), snippet)
