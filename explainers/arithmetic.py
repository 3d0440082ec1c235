"""The arithmetic behind a number, line by line, in digits that give the printed result."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal, localcontext

from explainers.messages import N_

RESULT_DECIMALS = (4, 5, 6, 3, 7, 2, 1, 0)
"""Numbers of decimals in which a result may be printed, the usual one first."""
TERM_DECIMALS = range(4, 13)
"""Numbers of decimals for the terms: the fewest that give the result's digits are used."""


def choose_decimals(value: float, exact: float) -> Iterator[tuple[int, int]]:
    """Pairs of (decimals of the result, decimals of its terms) to try, the best first.

    `value` was computed in float32 and `exact` in float64. Where they round to different digits,
    that number of decimals is left out.
    """
    for result_decimals in RESULT_DECIMALS:
        if round_number(value, result_decimals) == round_number(exact, result_decimals):
            yield from (
                (result_decimals, term_decimals)
                for term_decimals in TERM_DECIMALS
                if term_decimals >= result_decimals
            )
    yield RESULT_DECIMALS[-1], TERM_DECIMALS[-1]


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
    exact = math.fsum(a * b for a, b in zip(left, right, strict=True))
    for result_decimals, term_decimals in choose_decimals(value, exact):
        products, total = [], Decimal(0)
        for a, b, end in zip(left, right, ends, strict=True):
            a_rounded, b_rounded = round_number(a, term_decimals), round_number(b, term_decimals)
            product = round_number(a_rounded * b_rounded, term_decimals)
            products.append(
                f"{write_factor(a_rounded)} × {write_factor(b_rounded)} = {product:f}{end}"
            )
            total += product
        if round_number(total, result_decimals) == round_number(value, result_decimals):
            break
    result = f"{round_number(value, result_decimals):f}"
    return Arithmetic(
        result,
        (*products, N_("sum = {total:f}", total=total), f"{name} = {result}"),
        "import torch\n"
        f"left, right = torch.tensor([{write_numbers(left)}, {write_numbers(right)}]).double()\n"
        f'print(f"{{left @ right:z.{result_decimals}f}}")',
    )


def explain_division(numerator: float, head_dim: int, value: float, name: str) -> Arithmetic:
    """`value` as a dot product divided by √d_k."""
    root = math.sqrt(head_dim)
    for result_decimals, term_decimals in choose_decimals(value, numerator / root):
        dividend = round_number(numerator, term_decimals)
        divisor = round_number(root, term_decimals)
        if round_number(dividend / divisor, result_decimals) == round_number(
            value, result_decimals
        ):
            break
    result = f"{round_number(value, result_decimals):f}"
    return Arithmetic(
        result,
        (
            f"√{head_dim} = {divisor:f}",
            f"{dividend:f} ÷ {divisor:f} = {result}",
            f"{name} = {result}",
        ),
        "import torch\n"
        f"product = torch.tensor({numerator!r}, dtype=torch.float64)\n"
        f'print(f"{{product / {head_dim} ** 0.5:z.{result_decimals}f}}")',
    )


def explain_softmax(
    row: Sequence[float], column: int, value: float, labels: Sequence[str]
) -> Arithmetic:
    """`value` as one power of e divided by the total of its row; −∞ stands for a masked pair."""
    largest = max(row)
    powers = [math.exp(score - largest) for score in row]
    for result_decimals, term_decimals in choose_decimals(
        value, powers[column] / math.fsum(powers)
    ):
        terms = [compute_power(score, largest, term_decimals) for score in row]
        total = sum(terms, Decimal(0))
        if round_number(terms[column] / total, result_decimals) == round_number(
            value, result_decimals
        ):
            break
    result = f"{round_number(value, result_decimals):f}"
    largest_rounded = round_number(largest, term_decimals)
    lines = [N_("The largest score of the row is {largest:f}.", largest=largest_rounded)]
    for label, score, term in zip(labels, row, terms, strict=True):
        exponent = (
            f"({round_number(score, term_decimals):f} − {largest_rounded:f})"
            if score > -math.inf
            else "−∞"
        )
        lines.append(f"e^{exponent} = {term:f}  {label}")
    lines += [N_("total = {total:f}", total=total), f"{terms[column]:f} ÷ {total:f} = {result}"]
    return Arithmetic(
        result,
        tuple(lines),
        "import torch\n"
        f"scores = torch.tensor({write_numbers(row)}).double()\n"
        f'print(f"{{scores.softmax(-1)[{column}]:z.{result_decimals}f}}")',
    )


def explain_addition(left: float, right: float, value: float, name: str) -> Arithmetic:
    """`value` as the sum of two numbers."""
    for result_decimals, term_decimals in choose_decimals(value, left + right):
        left_rounded = round_number(left, term_decimals)
        right_rounded = round_number(right, term_decimals)
        if round_number(left_rounded + right_rounded, result_decimals) == round_number(
            value, result_decimals
        ):
            break
    result = f"{round_number(value, result_decimals):f}"
    return Arithmetic(
        result,
        (
            " + ".join(map(write_factor, (left_rounded, right_rounded)))
            + f" = {left_rounded + right_rounded:f}",
            f"{name} = {result}",
        ),
        "import torch\n"
        f"left, right = torch.tensor({write_numbers((left, right))}).double()\n"
        f'print(f"{{left + right:z.{result_decimals}f}}")',
    )


def explain_wave(
    position: int, column: int, d_model: int, base: float, value: float, name: str
) -> Arithmetic:
    """`value` as an entry of a sinusoidal position: sine in even columns, cosine in odd ones."""
    pair, function = column - column % 2, ("sin", "cos")[column % 2]
    exact = getattr(math, function)(position / base ** (pair / d_model))
    for result_decimals, term_decimals in choose_decimals(value, exact):
        divisor = round_number(base ** (pair / d_model), term_decimals)
        angle = round_number(position / divisor, term_decimals)
        if round_number(getattr(math, function)(float(angle)), result_decimals) == round_number(
            value, result_decimals
        ):
            break
    result = f"{round_number(value, result_decimals):f}"
    return Arithmetic(
        result,
        (
            N_("slower by {sum}", sum=f"{base:g}^({pair} ÷ {d_model}) = {divisor:f}"),
            N_("angle = {sum}", sum=f"{position} ÷ {divisor:f} = {angle:f}"),
            f"{name} = {function}({angle:f}) = {result}",
        ),
        "import torch\n"
        f"angle = torch.tensor({position}).double() / {base:g} ** ({pair} / {d_model})\n"
        f'print(f"{{angle.{function}():z.{result_decimals}f}}")',
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
