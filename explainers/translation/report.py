"""What was learned, kept beside the weights: for pages as JSON, for readers as Markdown."""

import functools
import json
import statistics
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from explainers.translation.measure import Baselines, Evaluation, Measured, Row
from explainers.translation.weights_file import FIRST

REPORT = FIRST.with_suffix(".json")
READABLE = Path(__file__).with_name("REPORT.md")
INTRODUCTION = """# What the translator learned

{made}. Made by `python -m explainers.translation train`, never by hand.

Exact match: sentences translated (greedily) without a fault. AER: alignment error rate of the last
decoder layer's cross-attention, mean of heads, each row by the syllable that it predicts; the link
goes to the word with the largest weight, `<eos>` left aside. Gold has one sure link for every
syllable. In the last column, the links of "đã" in a past tense, which no word says, count as
possible and not as sure. All on sentences that nobody learned from.
"""
BASELINES = """
Without a network, on the same sentences: IBM Model 1 {ibm1:.3f}, with an empty word
{ibm1_null:.3f}; a straight line from the first word to the last {diagonal:.3f}.

Every layer and head, mean ± standard deviation over the seeds. Gold: the weight on the right word;
largest: the largest weight in a row, `<eos>` among them; means over all rows.
"""
SEEDS = (
    "| seed | exact match, unseen | exact match, held-out pairs | AER | AER, weak links possible |",
    f"|{'---|' * 5}",
)
ROWS = ("| layer | weights of | rows by | AER | gold | largest |", f"|{'---|' * 6}")


def save(evaluation: Evaluation, made: str) -> None:
    """Write both."""
    report = {
        "made": made,
        "seeds": {
            seed: {**one._asdict(), "rows": [row._asdict() for row in one.rows]}
            for seed, one in evaluation.seeds.items()
        },
        "baselines": evaluation.baselines._asdict(),
    }
    text = json.dumps(report, indent=1, ensure_ascii=False)
    REPORT.write_text(text + "\n", encoding="utf-8")
    READABLE.write_text(readable(evaluation, made), encoding="utf-8")


class Kept(NamedTuple):
    """The report that was written, and what the weights were made with."""

    evaluation: Evaluation
    made: str


@functools.cache
def kept() -> Kept:
    """Read it again."""
    report = json.loads(REPORT.read_text(encoding="utf-8"))
    seeds = {
        int(seed): Measured(**{**numbers, "rows": tuple(Row(**row) for row in numbers["rows"])})
        for seed, numbers in report["seeds"].items()
    }
    return Kept(Evaluation(seeds, Baselines(**report["baselines"])), report["made"])


def readable(evaluation: Evaluation, made: str) -> str:
    """The report as Markdown."""
    lines = [INTRODUCTION.format(made=made), *SEEDS]
    for seed, one in evaluation.seeds.items():
        lines.append(_cells([seed, *(f"{number:.3f}" for number in one[:4])]))
    lines.append(_cells(["mean", *(f"{evaluation.mean(name):.3f}" for name in one._fields[:4])]))
    lines += [BASELINES.format(**evaluation.baselines._asdict()), *ROWS]
    for alike in zip(*(one.rows for one in evaluation.seeds.values()), strict=True):
        row = alike[0]
        numbers = (_spread(some) for some in zip(*(other[3:] for other in alike), strict=True))
        lines.append(_cells([row.layer + 1, row.reading, row.by, *numbers]))
    return "\n".join(lines) + "\n"


def _cells(cells: Iterable[object]) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def _spread(numbers: tuple[float, ...]) -> str:
    return f"{statistics.mean(numbers):.3f} ± {statistics.stdev(numbers):.3f}"
