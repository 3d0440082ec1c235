"""The report of an evaluation, stored beside the weights: JSON for pages, Markdown for readers."""

import functools
import statistics
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from explainers import kept
from explainers.kept import Kept
from workshop.keep import keep
from workshop.translation.evaluation import AlignmentRow, Evaluation, SeedResult

TRANSLATOR = "weights/translator"
MARKDOWN_REPORT = Path(__file__).with_name("REPORT.md")
INTRODUCTION = """# What the translator learned

{made}. Made by `python -m workshop.translation train`, never by hand.

Exact match: sentences translated (greedily) without a fault. AER: alignment error rate of the last
decoder layer's cross-attention, mean of heads, each row by the syllable that it predicts; the link
goes to the word with the largest weight, `<eos>` left aside. Gold has one sure link for every
syllable. In the last column, the links of "đã" in a past tense, which no word says, count as
possible and not as sure. All on sentences that nobody learned from.
"""
ROW_TEXT = """
Every layer and head, mean ± standard deviation over the seeds. Gold: the weight on the right word;
largest: the largest weight in a row, `<eos>` among them; means over all rows.
"""
SEED_HEADER = (
    "| seed | exact match, unseen | exact match, held-out pairs | AER | AER, weak links possible |",
    f"|{'---|' * 5}",
)
ROW_HEADER = ("| layer | weights of | rows by | AER | gold | largest |", f"|{'---|' * 6}")


def write_report(evaluation: Evaluation, summary: str) -> None:
    """Keep the report with the weights, and write it as Markdown.

    Another machine's training is like another seed's: its results may be as far from these as
    these are from each other.
    """
    seeds = {
        f"{seed}": {**result._asdict(), "rows": [row._asdict() for row in result.rows]}
        for seed, result in evaluation.seeds.items()
    }
    results = evaluation.seeds.values()
    tolerance = {
        name: round(max(found) - min(found), 6)
        for name in SeedResult._fields[:4]
        for found in [[getattr(result, name) for result in results]]
    }
    command = "python -m workshop.translation train"
    keep(Kept(TRANSLATOR, summary, command, tolerance, {"seeds": seeds}))
    read_report.cache_clear()
    MARKDOWN_REPORT.write_text(format_report(evaluation, summary), encoding="utf-8")


class Report(NamedTuple):
    """A stored evaluation, and one line on how its weights were trained."""

    evaluation: Evaluation
    summary: str


@functools.cache
def read_report() -> Report:
    """The report that is kept with the weights."""
    stored = kept.read(TRANSLATOR)
    seeds = {
        int(seed): SeedResult(
            **{**result, "rows": tuple(AlignmentRow(**row) for row in result["rows"])}
        )
        for seed, result in stored.numbers["seeds"].items()
    }
    return Report(Evaluation(seeds), stored.origin)


def format_report(evaluation: Evaluation, summary: str) -> str:
    """An evaluation as Markdown."""
    lines = [INTRODUCTION.format(made=summary), *SEED_HEADER]
    for seed, result in evaluation.seeds.items():
        lines.append(_format_row([seed, *(f"{value:.3f}" for value in result[:4])]))
    lines.append(
        _format_row(["mean", *(f"{evaluation.average(name):.3f}" for name in result._fields[:4])])
    )
    lines += [ROW_TEXT, *ROW_HEADER]
    for seed_rows in zip(*(result.rows for result in evaluation.seeds.values()), strict=True):
        row = seed_rows[0]
        statistics_texts = (
            _format_mean_and_spread(values)
            for values in zip(*(seed_row[3:] for seed_row in seed_rows), strict=True)
        )
        lines.append(_format_row([row.layer + 1, row.reading, row.by, *statistics_texts]))
    return "\n".join(lines) + "\n"


def _format_row(cells: Iterable[object]) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def _format_mean_and_spread(values: tuple[float, ...]) -> str:
    return f"{statistics.mean(values):.3f} ± {statistics.stdev(values):.3f}"
