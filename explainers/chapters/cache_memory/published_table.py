"""Published figures beside ours, and the named reason wherever they differ."""

import functools
import re
from decimal import Decimal
from fractions import Fraction

from explainers.chapters.common.number_words import so_many
from explainers.memory.published_figures import REASONS, Figure, figures
from explainers.memory.speed import decimals
from explainers.phrase import phrase
from explainers.ui.controls import memory_controls as controls
from explainers.ui.page import Prose
from explainers.ui.text.language import language, said, translated
from explainers.ui.untrusted_text import together

SIGNS = (
    (r"\bL(\d+)", r"\1 layers"),
    (r"\bHkv ?(\d+)", r"\1 KV heads"),
    (r"\bH(\d+)", r"\1 heads"),
    (r"\bd(\d+)", r"head_dim \1"),
    (r"\bW(\d+)", r"window \1"),
    (r"(?<=[a-z)\d]) (?=\d+ (?:KV )?heads|head_dim|window)", ", "),
    (r"\b1 KV heads", "1 KV head"),
)
COUNTED = re.compile(r"\b(\d+) (layer|KV head|head)s?\b")
NAMED = {
    "hf-octo-gb": "OctoCoder",
    "heji-mla": phrase("An example, MLA 576"),
    "vllm-25350-gib": phrase("A model shaped like Qwen3-30B-A3B"),
}
"""Figures whose list says *as above* or *same*."""
CONFIGS = {"as above": "", "as above, both 16 bits": phrase("both in 16 bits"), "same": ""}
REPORTED = "report: "


def described(figure: Figure) -> str:
    """The model, how it is built, how long the text is, and in what format it is kept."""
    parts = [spelled(translated(CONFIGS.get(figure.config, figure.config)))]
    if figure.tokens:
        tokens = figure.tokens
        if isinstance(tokens, int):
            parts.append(so_many(tokens, "token"))
        else:
            parts.append(said("{what} tokens", what=tokens))
    if figure.dtype.startswith(REPORTED):
        claimed = figure.dtype.removeprefix(REPORTED)
        parts.append(said("the report says {claimed}, computed in 16 bits", claimed=claimed))
    else:
        parts.append(figure.dtype)
    told = ", ".join(part for part in parts if part and part != "-")
    return f"{translated(NAMED.get(figure.id, figure.model))}: {told}"


def spelled(config: str) -> str:
    """`L126 Hkv8 d128` in words."""
    for sign, words in SIGNS:
        config = re.sub(sign, words, config)
    config = COUNTED.sub(lambda n: so_many(int(n[1]), n[2]), config)
    return re.sub(r"\bwindow (\d+)", lambda n: said("window {width}", width=n[1]), config)


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
