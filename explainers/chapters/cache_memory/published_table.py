"""Published figures beside ours, and the named reason wherever they differ."""

import functools
import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import partial

from explainers.memory.published_figures import REASONS, PublishedFigure, read_figures
from explainers.memory.speed import round_fraction
from explainers.messages import N_, ngettext
from explainers.translations import _, get_language, say_value
from explainers.ui.controls import controls
from explainers.ui.text.numbers import join_rows, keep_marks, keep_units_together

SIGNS = (
    (r"\bL(\d+)", r"\1 layers"),
    (r"\bHkv ?(\d+)", r"\1 KV heads"),
    (r"\bH(\d+)", r"\1 heads"),
    (r"\bd(\d+)", r"head_dim \1"),
    (r"\bW(\d+)", r"window \1"),
    (r"(?<=[a-z)\d]) (?=\d+ (?:KV )?heads|head_dim|window)", ", "),
    (r"\b1 KV heads", "1 KV head"),
)
COUNT_PATTERNS: tuple[tuple[str, Callable[[int], str]], ...] = (
    (r"\b(\d+) layers?\b", lambda n: ngettext("{count:,} layer", "{count:,} layers", n)),
    (r"\b(\d+) KV heads?\b", lambda n: ngettext("{count:,} KV head", "{count:,} KV heads", n)),
    (r"\b(\d+) heads?\b", lambda n: ngettext("{count:,} head", "{count:,} heads", n)),
)
FIGURE_NAMES = {
    "hf-octo-gb": "OctoCoder",
    "heji-mla": N_("An example, MLA 576"),
    "vllm-25350-gib": N_("A model shaped like Qwen3-30B-A3B"),
}
"""Figures whose list says *as above* or *same*."""
CONFIGS = {"as above": "", "as above, both 16 bits": N_("both in 16 bits"), "same": ""}
REPORTED = "report: "


def describe_figure(figure: PublishedFigure) -> str:
    """The model, how it is built, how long the text is, and in what format it is kept."""
    parts = [spell_config(_(CONFIGS.get(figure.config, figure.config)))]
    if figure.tokens:
        tokens = figure.tokens
        if isinstance(tokens, int):
            parts.append(_(ngettext("{count:,} token", "{count:,} tokens", tokens)))
        else:
            parts.append(_("{what} tokens", what=tokens))
    if figure.dtype.startswith(REPORTED):
        claimed = figure.dtype.removeprefix(REPORTED)
        parts.append(_("the report says {claimed}, computed in 16 bits", claimed=claimed))
    else:
        parts.append(figure.dtype)
    description = ", ".join(part for part in parts if part and part != "-")
    return f"{_(FIGURE_NAMES.get(figure.id, figure.model))}: {description}"


def spell_config(config: str) -> str:
    """`L126 Hkv8 d128` in words."""
    for sign, words in SIGNS:
        config = re.sub(sign, words, config)
    for pattern, write_count in COUNT_PATTERNS:
        config = re.sub(pattern, partial(_count, write_count), config)
    return re.sub(r"\bwindow (\d+)", lambda n: _("window {width}", width=n[1]), config)


def _count(write_count: Callable[[int], str], match: re.Match[str]) -> str:
    return _(write_count(int(match[1])))


UNITS = N_("percent"), N_("tokens"), N_("elements")
"""Those that are words; a sign is the same in every language."""
AGREEMENT = N_("They agree.")
MARKUP = frozenset("\\`*_[]<>|~$^:#")
LONG = re.compile(r"\S{24,}")
WRONG, DIFFERENT, _unused = controls.published_rows.options


def count_figures() -> dict[str, int]:
    """How many figures there are, how many differ from ours, and how many are wrong."""
    figures = read_figures().values()
    differing, wrong = sum(1 for f in figures if f.reason), sum(1 for f in figures if not f.agrees)
    return {"count": len(figures), "differing": differing, "wrong": wrong}


def choose_rows() -> str:
    """The table that the reader chooses: every published figure, or those that differ."""
    return join_rows(make_rows(controls.published_rows(), get_language()))


@functools.cache
def make_rows(selection: str, _spoken: str) -> tuple[str, ...]:
    """The lines of the table, wrong figures first; kept for each language."""
    figures = sorted(read_figures().values(), key=lambda figure: figure.agrees)
    if selection == WRONG:
        figures = [figure for figure in figures if not figure.agrees]
    elif selection == DIFFERENT:
        figures = [figure for figure in figures if figure.reason]
    return tuple(map(make_figure_row, figures))


def make_figure_row(figure: PublishedFigure) -> str:
    """What it is and why they differ, what was printed, and what we compute."""
    reason = _(REASONS[figure.reason] if figure.reason else AGREEMENT)
    if figure.mistaken_value is not None:
        number, unit = round_shortest(figure.mistaken_value), _(figure.mistake_unit)
        reason += _(" Done so, we get {number:,} {unit}.", number=number, unit=unit)
    formula = figure.formula.replace("**", "^").replace("*", " × ")
    printed = f"{say_value(f'{figure.published:,}')}{write_unit(figure.unit)}"
    ours = say_value(f"{round_shortest(figure.computed_value):,}") + write_unit(figure.unit_meant)
    why = _(
        "{reason} Working: {formula}. Source: {source}",
        reason=keep_marks(reason),
        formula=formula,
        source=keep_marks(figure.source),  # the number of a paper has a point in every language
    )
    numbers = escape_cell(f"{keep_units_together(printed)} / {keep_units_together(ours)}")
    name, remark = escape_cell(describe_figure(figure)), LONG.sub(insert_breaks, escape_cell(why))
    return f"| **{name}.** {remark} | {numbers} |"


def write_unit(unit: str) -> str:
    """A unit behind its number: as a sign if it has one, for no narrow column can cut a sign."""
    return {"percent": "\N{NO-BREAK SPACE}%", "x": "×"}.get(unit, f" {_(unit)}")


def insert_breaks(word: re.Match[str]) -> str:
    """A long address that may go on in the next line after a slash."""
    return word[0].replace("/", "/\N{ZERO WIDTH SPACE}")


def escape_cell(cell: str) -> str:
    """A cell's text without anything that Markdown or a table would take for its own."""
    return "".join(f"\\{sign}" if sign in MARKUP else sign for sign in cell)


def round_shortest(number: Fraction) -> Decimal:
    """Whole if it is, else with as many decimals as one would read."""
    if number.denominator == 1:
        return Decimal(number.numerator)
    return round_fraction(number, 3 if number < 100 else 1)
