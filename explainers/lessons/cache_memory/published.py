"""Published figures beside ours, and the named reason wherever they differ."""

import functools
import re
from decimal import Decimal
from fractions import Fraction

from explainers.lessons.cache_memory.labels import described
from explainers.memory.figures import Figure, figures
from explainers.memory.reasons import REASONS
from explainers.memory.speed_working import decimals
from explainers.phrase import phrase
from explainers.ui import memory_controls as controls
from explainers.ui.language import language, said, translated
from explainers.ui.plain import together
from explainers.ui.prose import Prose

UNITS = phrase("percent"), phrase("tokens"), phrase("elements")
"""Those that are words; a sign is the same in every language."""
SAME = phrase("They agree.")
MARKUP = frozenset("\\`*_[]<>|~$^:#")
LONG = re.compile(r"\S{24,}")
WRONG, DIFFERENT, _ = controls.figures.options


def show_figures(text: Prose) -> None:
    """A table: every published figure, or those that differ."""
    found = figures().values()
    differing, wrong = sum(1 for f in found if f.reason), sum(1 for f in found if not f.agrees)
    text("figures", count=len(found), differing=differing, wrong=wrong)
    text("published", rows="\n".join(rows_of(controls.figures(), language())))


@functools.cache
def rows_of(asked: str, _spoken: str) -> tuple[str, ...]:
    """The lines of the table, wrong figures first; kept for each language."""
    shown = sorted(figures().values(), key=lambda figure: figure.agrees)
    if asked == WRONG:
        shown = [figure for figure in shown if not figure.agrees]
    elif asked == DIFFERENT:
        shown = [figure for figure in shown if figure.reason]
    return tuple(map(row_of, shown))


def row_of(figure: Figure) -> str:
    """What it is and why they differ, what was printed, and what we compute."""
    reason = translated(REASONS[figure.reason] if figure.reason else SAME)
    if figure.mistaken is not None:
        number, unit = shortest(figure.mistaken), translated(figure.mistake_unit)
        reason += said(" Done so, we get {number:,} {unit}.", number=number, unit=unit)
    formula = figure.formula.replace("**", "^").replace("*", " × ")
    printed = f"{figure.published:,}{after(figure.unit)}"
    ours = f"{shortest(figure.ours):,}{after(figure.unit_meant)}"
    why = said(
        "{reason} Working: {formula}. Source: {source}",
        reason=reason,
        formula=formula,
        source=figure.source,
    )
    numbers = plain(f"{together(printed)} / {together(ours)}")
    return f"| **{plain(described(figure))}.** {LONG.sub(breakable, plain(why))} | {numbers} |"


def after(unit: str) -> str:
    """A unit behind its number: as a sign if it has one, for no narrow column can cut a sign."""
    return {"percent": "%", "x": "×"}.get(unit, f" {translated(unit)}")


def breakable(word: re.Match[str]) -> str:
    """A long address that may go on in the next line after a slash."""
    return word[0].replace("/", "/\N{ZERO WIDTH SPACE}")


def plain(cell: str) -> str:
    """A cell's text without anything that Markdown or a table would take for its own."""
    return "".join(f"\\{sign}" if sign in MARKUP else sign for sign in cell)


def shortest(number: Fraction) -> Decimal:
    """Whole if it is, else with as many decimals as one would read."""
    if number.denominator == 1:
        return Decimal(number.numerator)
    return decimals(number, 3 if number < 100 else 1)
