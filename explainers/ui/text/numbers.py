"""Numbers as sentences write them, and as readers type them in an answer."""

import math
import re
import unicodedata
from collections.abc import Iterable
from fractions import Fraction

from explainers.messages import N_
from explainers.translations import Localised, _

_PLAIN = re.compile(r"\d+[.,]?\d*|[.,]\d+", re.ASCII)
_GROUPED = re.compile(r"[1-9]\d{0,2}([ ,.'_])\d{3}(?:\1\d{3})*(?:(?!\1)[.,]\d*)?", re.ASCII)
"""Thousands apart, by any mark that is not the one before the decimals."""
_POWER = re.compile(r"(.*\d[.,]?)(?: ?[·×*x] ?10(?:\^|\*\*)|e)([-+]?\d{1,2})", re.ASCII)
_MIXED = re.compile(r"(\d+) (\d+) ?/ ?(\d+)", re.ASCII)
_TYPED = re.compile(r"([-+]?)(.*?)([^\W\d]*|%|×|per cent|phần trăm)", re.DOTALL)
"""A sign, a number, and a unit."""
PERCENT, SHARE = "%", "share"
"""What is asked for, as a unit: a number of hundredths, or a part of 1."""
_PERCENTS = {"%", "percent", "per cent", "prozent", "phần trăm", "pp"}
_TIMES = {"", "×", "x", "times", "lần", "rad", "radians", "radian"}
"""Units that leave a number as it is."""
LONGEST, MOST = 40, 10**30
"""Letters of an answer, and how large one is read at most."""
BYTES_IN = dict.fromkeys(("b", "byte", "bytes"), Fraction(1))
BYTES_IN |= dict.fromkeys(("bit", "bits"), Fraction(1, 8))
BYTES_IN |= {
    f"{prefix}{mark}b": Fraction(step) ** (1 + power)
    for mark, step in {"": 1000, "i": 1024}.items()
    for power, prefix in enumerate("kmgt")
}


NO_WORSE, A_LITTLE_WORSE, MUCH_WORSE = N_("no worse"), N_("a little worse"), N_("much worse")
WORSE_FROM = {A_LITTLE_WORSE: 0.01, MUCH_WORSE: 0.25}
"""Nats per token: from which rise on a loss is called so, on every page."""


def judge_rise(rise: float) -> str:
    """How much worse a loss is that is higher by so many nats per token."""
    called = [word for word, least in WORSE_FROM.items() if rise >= least]
    return called[-1] if called else NO_WORSE


def name_thresholds() -> dict[str, str]:
    """Both thresholds, for a text."""
    return {"little": f"{WORSE_FROM[A_LITTLE_WORSE]:g}", "much": f"{WORSE_FROM[MUCH_WORSE]:g}"}


def bound_rounding(difference: float) -> str:
    """A difference that is only rounding, by the next power of ten: nobody reads 7e-07."""
    if difference == 0:
        return "0"
    power = math.floor(math.log10(difference)) + 1
    return _("less than {limit}", limit=f"{10.0**power:.{max(0, -power)}f}")


def keep_units_together(amounts: str) -> str:
    """Amounts with every unit on the line of its number, however narrow a column is."""
    return re.sub(r"(?<=\d) (?=[A-Za-z])", "\N{NO-BREAK SPACE}", amounts)


def join_rows(rows: Iterable[str]) -> Localised:
    """Rows of a table that are said already: beside words, 3.625 could be read as a thousand."""
    return Localised("\n".join(rows))


def write_percent(share: float, places: int = 0) -> str:
    """A share as readers see it: as 42 %, and the smallest told apart from nothing."""
    space, steps = "\N{NO-BREAK SPACE}", 10**places
    if 0 < 100 * share * steps < 0.5:
        return f"<{space}{1 / steps:.{places}f}{space}%"
    rounded = math.floor(100 * share * steps + 0.5) / steps  # as the browser rounds
    return f"{rounded:.{places}f}{space}%"


def write_decimals(number: float, places: int = 2) -> str:
    """A number as the browser writes it: with a minus as wide as a plus, and no −0."""
    text = f"{number:.{places}f}"
    return text[1:] if re.fullmatch(r"-[0.]+", text) else text.replace("-", "−")


def read_answer(typed: str, unit: str = "") -> list[float]:
    """All numbers that an answer can mean, in the `unit` that is asked for; none if it is none.

    Marks may be those of any language, so that 6,144 may be thousands, or decimals. A share may be
    given in per cent, a percentage as a share, bytes in any unit of theirs. `unit` is empty for
    a plain number, `PERCENT`, `SHARE`, or one of bytes.
    """
    text = re.sub(r"(?<=\d)[⁰¹²³⁴-⁹]+", r"^\g<0>", typed[: LONGEST + 1])
    text = re.sub(r"[¼-¾⅐-⅞]", r" \g<0>", text)  # 1½ is no 11/2
    text = unicodedata.normalize("NFKC", text).translate(str.maketrans("−–⁄÷’", "--//'"))
    found = _TYPED.fullmatch(re.sub(r"^[=≈~ ]+", "", " ".join(text.split())))
    if not found or len(typed) > LONGEST:
        return []
    sign, number, named = found[1], found[2].strip(), found[3].lower()
    asked = BYTES_IN.get(unit.lower())
    factors = [Fraction(1)] if named in _TIMES else []  # none if it is not what is asked for
    if named in _PERCENTS:
        factors = [] if asked else [Fraction(1, 1 if unit == PERCENT else 100)]
    elif asked and named in BYTES_IN:
        factors = [BYTES_IN[named] / asked]
    signed = [-value if sign == "-" else value for value in _read_values(number.lower())]
    read = [value * factor for value in signed for factor in factors]
    if not named and unit in (PERCENT, SHARE):
        read += [100 * value for value in signed if unit == PERCENT and 0 < abs(value) < 1]
        read += [value / 100 for value in signed if unit == SHARE and abs(value) > 1]
    return list(dict.fromkeys(float(value) for value in read if abs(value) < MOST))


def _read_values(number: str) -> list[Fraction]:
    """The values of digits, of a fraction such as 1/2 or 1 1/2, or of a power of ten."""
    if (mixed := _MIXED.fullmatch(number)) and 0 < int(mixed[2]) < int(mixed[3]):
        return [int(mixed[1]) + Fraction(int(mixed[2]), int(mixed[3]))]
    above, slash, below = number.partition("/")
    if slash:
        pairs = [(a, b) for a in _read_digits(above) for b in _read_digits(below)]
        return [a / b for a, b in pairs if b]
    if power := _POWER.fullmatch(number):
        return [value * Fraction(10) ** int(power[2]) for value in _read_digits(power[1])]
    base, _hat, exponent = number.replace("**", "^").partition("^")
    if re.fullmatch(r"-?\d{1,2}", exponent, re.ASCII):
        return [value ** int(exponent) for value in _read_digits(base) if value]
    return _read_digits(number)


def _read_digits(digits: str) -> list[Fraction]:
    """With marks for thousands, for decimals, or either."""
    digits, read = digits.strip(), []
    if grouped := _GROUPED.fullmatch(digits):
        read.append(Fraction(digits.replace(grouped[1], "").replace(",", ".")))
    if _PLAIN.fullmatch(digits):
        read.append(Fraction(digits.replace(",", ".")))
    return read


def say_what_is_read(unit: str = "") -> str:
    """What may be typed: after an answer that is no number."""
    said = _("That cannot be read as a number. Write 0.25, 1/4, 25 %, 6,144 or 1e6.")
    if unit.lower() in BYTES_IN:
        said += " " + _("Bytes may have a unit, such as 6 KiB.")
    return said


def format_answer(answer: float) -> str:
    """Whole numbers with their thousands apart, others to four places."""
    text = f"{answer:,.0f}" if answer == round(answer) else f"{answer:,.4g}"
    return text.replace("-", "−")
