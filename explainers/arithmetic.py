"""The arithmetic behind a number, line by line, in digits that give the printed result."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from typing import TypeVar

from explainers.messages import N_

RESULT_DECIMALS = (4, 5, 6, 3, 7, 2, 1, 0)
"""Numbers of decimals in which a result may be printed, the usual one first."""
FEWEST, MOST = 4, 12
"""Decimals of the terms: as few as give the result's digits."""


Parts = TypeVar("Parts")


def find_digits(
    value: float, exact: float, compute: Callable[[int], tuple[Decimal, Parts]]
) -> tuple[str, int, Parts]:
    """The result as it is printed, its decimals, and the terms that come to it.

    `compute` gives a result and its terms, from what is printed of them in so many decimals.
    `value` was computed in float32 and `exact` in float64. Where they round to different digits,
    that number of decimals is left out.
    """
    for decimals in RESULT_DECIMALS:
        rounded = round_number(value, decimals)
        if rounded == round_number(exact, decimals):
            for term_decimals in range(max(decimals, FEWEST), MOST + 1):
                computed, parts = compute(term_decimals)
                if round_number(computed, decimals) == rounded:
                    return f"{rounded:f}", decimals, parts
    return f"{round_number(value, decimals):f}", decimals, compute(MOST)[1]


def round_number(number: float | Decimal, decimals: int) -> Decimal:
    """The number rounded to exactly so many decimals."""
    with localcontext(prec=60):
        return Decimal(number).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_EVEN) + 0


def compute_power(score: float, largest: float, decimals: int) -> Decimal:
    """e to the (score − largest), from both numbers as they are printed."""
    if score == -math.inf:
        return round_number(0, decimals)
    return round_number(
        (round_number(score, decimals) - round_number(largest, decimals)).exp(), decimals
    )


def write_factor(number: Decimal) -> str:
    """A factor as text, in brackets if it is negative."""
    return f"{number:f}" if number >= 0 else f"({number:f})"


def write_numbers(numbers: Sequence[float]) -> str:
    """Numbers as PyTorch reads them, with all the digits that a float32 has."""
    texts = ("-torch.inf" if number == -math.inf else f"{number:.9g}" for number in numbers)
    return f"[{', '.join(texts)}]"


@dataclass(frozen=True)
class Arithmetic:
    """A number as text, the lines that compute it by pocket calculator, and PyTorch code for it."""

    value: str
    lines: tuple[str, ...]
    snippet: str


def explain_dot_product(
    left: Sequence[float],
    right: Sequence[float],
    value: float,
    name: str,
    labels: Sequence[str] = (),
) -> Arithmetic:
    """`value` as the sum of the products of two lists of the same length.

    `labels` say whose each product is, where it is a word's.
    """
    ends = [f"  {label}" for label in labels] or [""] * len(left)

    def multiply(decimals: int) -> tuple[Decimal, list[str]]:
        products, total = [], Decimal(0)
        for a, b, end in zip(left, right, ends, strict=True):
            a_rounded, b_rounded = round_number(a, decimals), round_number(b, decimals)
            product = round_number(a_rounded * b_rounded, decimals)
            products.append(
                f"{write_factor(a_rounded)} × {write_factor(b_rounded)} = {product:f}{end}"
            )
            total += product
        return total, [*products, N_("sum = {total:f}", total=total)]

    exact = math.fsum(a * b for a, b in zip(left, right, strict=True))
    result, decimals, lines = find_digits(value, exact, multiply)
    return Arithmetic(
        result,
        (*lines, f"{name} = {result}"),
        "import torch\n"
        f"left, right = torch.tensor([{write_numbers(left)}, {write_numbers(right)}]).double()\n"
        f'print(f"{{left @ right:z.{decimals}f}}")',
    )


def explain_division(numerator: float, head_dim: int, value: float, name: str) -> Arithmetic:
    """`value` as a dot product divided by √d_k."""
    root = math.sqrt(head_dim)

    def divide(decimals: int) -> tuple[Decimal, tuple[Decimal, Decimal]]:
        dividend, divisor = round_number(numerator, decimals), round_number(root, decimals)
        return dividend / divisor, (dividend, divisor)

    result, decimals, (dividend, divisor) = find_digits(value, numerator / root, divide)
    return Arithmetic(
        result,
        (
            f"√{head_dim} = {divisor:f}",
            f"{dividend:f} ÷ {divisor:f} = {result}",
            f"{name} = {result}",
        ),
        "import torch\n"
        f"product = torch.tensor({numerator!r}, dtype=torch.float64)\n"
        f'print(f"{{product / {head_dim} ** 0.5:z.{decimals}f}}")',
    )


def explain_softmax(
    row: Sequence[float], column: int, value: float, labels: Sequence[str]
) -> Arithmetic:
    """`value` as one power of e divided by the total of its row; −∞ stands for a masked pair."""
    largest = max(row)
    powers = [math.exp(score - largest) for score in row]

    def share_out(decimals: int) -> tuple[Decimal, list[str]]:
        terms = [compute_power(score, largest, decimals) for score in row]
        total, most = sum(terms, Decimal(0)), round_number(largest, decimals)
        lines = [N_("The largest score of the row is {largest:f}.", largest=most)]
        for label, score, term in zip(labels, row, terms, strict=True):
            is_seen = score > -math.inf
            exponent = f"({round_number(score, decimals):f} − {most:f})" if is_seen else "−∞"
            lines.append(f"e^{exponent} = {term:f}  {label}")
        lines += [N_("total = {total:f}", total=total), f"{terms[column]:f} ÷ {total:f} = "]
        return terms[column] / total, lines

    exact = powers[column] / math.fsum(powers)
    result, decimals, (*lines, division) = find_digits(value, exact, share_out)
    return Arithmetic(
        result,
        (*lines, division + result),
        "import torch\n"
        f"scores = torch.tensor({write_numbers(row)}).double()\n"
        f'print(f"{{scores.softmax(-1)[{column}]:z.{decimals}f}}")',
    )


def explain_power(score: float, largest: float, value: float, name: str) -> Arithmetic:
    """`value` as a power of e, from digits that give it again."""

    def raise_e(decimals: int) -> tuple[Decimal, str]:
        exponent = f"({round_number(score, decimals):f} − {round_number(largest, decimals):f})"
        return compute_power(score, largest, decimals), exponent

    result, decimals, exponent = find_digits(value, math.exp(score - largest), raise_e)
    return Arithmetic(
        result,
        (f"{name} = e^{exponent} = {result}",),
        "import torch\n"
        f"score, largest = torch.tensor([{score:.9g}, {largest:.9g}]).double()\n"
        f'print(f"{{torch.exp(score - largest):z.{decimals}f}}")',
    )


def explain_addition(left: float, right: float, value: float, name: str) -> Arithmetic:
    """`value` as the sum of two numbers."""

    def add(decimals: int) -> tuple[Decimal, str]:
        first, second = round_number(left, decimals), round_number(right, decimals)
        total = first + second
        return total, f"{write_factor(first)} + {write_factor(second)} = {total:f}"

    result, decimals, line = find_digits(value, left + right, add)
    return Arithmetic(
        result,
        (line, f"{name} = {result}"),
        "import torch\n"
        f"left, right = torch.tensor({write_numbers((left, right))}).double()\n"
        f'print(f"{{left + right:z.{decimals}f}}")',
    )


def explain_wave(
    position: int, column: int, d_model: int, base: float, value: float, name: str
) -> Arithmetic:
    """`value` as an entry of a sinusoidal position: sine in even columns, cosine in odd ones."""
    pair, function = column - column % 2, ("sin", "cos")[column % 2]
    slower, compute = base ** (pair / d_model), getattr(math, function)

    def turn(decimals: int) -> tuple[Decimal, tuple[Decimal, Decimal]]:
        divisor = round_number(slower, decimals)
        angle = round_number(position / divisor, decimals)
        return compute(float(angle)), (divisor, angle)

    result, decimals, (divisor, angle) = find_digits(value, compute(position / slower), turn)
    return Arithmetic(
        result,
        (
            N_("slower by {sum}", sum=f"{base:g}^({pair} ÷ {d_model}) = {divisor:f}"),
            N_("angle = {sum}", sum=f"{position} ÷ {divisor:f} = {angle:f}"),
            f"{name} = {function}({angle:f}) = {result}",
        ),
        "import torch\n"
        f"angle = torch.tensor({position}).double() / {base:g} ** ({pair} / {d_model})\n"
        f'print(f"{{angle.{function}():z.{decimals}f}}")',
    )


def explain_masking(score: float, value: float, name: str) -> Arithmetic:
    """A score after the mask: unchanged where the pair is allowed, else −∞."""
    if value == -math.inf:
        line = N_("The mask forbids this pair: its score becomes −∞ and its weight exactly 0.")
        snippet = (
            f"import torch\nscore, forbidden = torch.tensor([{score:.9g}]), torch.tensor([True])\n"
            "print(score.masked_fill(forbidden, -torch.inf).item())"
        )
        return Arithmetic("-inf", (line,), snippet)
    allowed = N_("{name} = {score:z.4f}: the mask allows this pair.", name=name, score=score)
    return explain_input(score, name, allowed)


def explain_input(value: float, name: str, line: str = "") -> Arithmetic:
    """A number that was not computed from others on the page, such as an input."""
    number = f"{round_number(value, RESULT_DECIMALS[0]):f}"
    snippet = f'import torch\nvalue = torch.tensor({value:.9g})\nprint(f"{{value:z.4f}}")'
    line = line or N_(
        "{name} = {number}: an input. The note at the picture says where it comes from.",
        name=name,
        number=number,
    )
    return Arithmetic(number, (line,), snippet)
