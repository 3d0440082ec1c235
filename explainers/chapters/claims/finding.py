"""What came out when a claim was computed again."""

from dataclasses import dataclass

from explainers.messages import N_

HOLDS = N_("holds")
CONDITION = N_("holds with a condition")
FAILS = N_("does not hold")
LOST = N_("not reproducible")
VERDICTS = HOLDS, CONDITION, FAILS, LOST


@dataclass(frozen=True)
class Finding:
    """A verdict, and the numbers it rests on, as the remark under the claim prints them."""

    verdict: str
    numbers: dict[str, str]


def judged(here: bool, everywhere: bool, **numbers: object) -> Finding:
    """True here and everywhere it was tried: holds; only here: with a condition; else it fails."""
    verdict = (HOLDS if everywhere else CONDITION) if here else FAILS
    return found(verdict, **numbers)


def found(verdict: str, **numbers: object) -> Finding:
    """Any verdict; whole numbers are printed with their thousands apart."""
    return Finding(verdict, {name: printed(number) for name, number in numbers.items()})


def printed(number: object) -> str:
    """18000 as 18,000, and 0.12345 as 0.123; words stay as they are."""
    if isinstance(number, str):
        return number
    if isinstance(number, bool) or not isinstance(number, int | float):
        return str(number)
    if isinstance(number, int):
        return f"{number:,}"
    return "0" if number == 0 else f"{number:.2e}" if abs(number) < 5e-4 else f"{number:,.3f}"
