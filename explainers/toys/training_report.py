"""What training came to: measured on held-out sentences, and kept beside the weights."""

import functools
import json
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import torch
from torch import Tensor

from explainers.toys.batch import Given, encoded, given
from explainers.toys.learned import Learned
from explainers.toys.task import KINDS, PLACES, RUNNING, RUNNING_NEWS
from explainers.toys.train import attend, losses, pool
from explainers.toys.trained_heads import FILE, Configuration

REPORT = FILE.with_suffix(".json")
READABLE = Path(__file__).with_name("REPORT.md")
INTRODUCTION = """# What the toy weights learned

{made}. Made by `python -m explainers.toys`, never by hand.

Each token names the words it is related to, and on which side they stand, from one layer of
attention alone. Measured on held-out sentences; mean ± standard deviation over {seeds} seeds.
Loss: binary cross-entropy per token, summed over all words. Accuracy: tokens whose words are all
named, and no others. The last column counts the seeds in which "announced" gives its two largest
weights (of any head) to "CEO" and "earnings"; n/a where the mask hides "earnings".
"""
TABLE = (
    "| query heads | KV heads | d_k | mask | loss | accuracy | verbs: loss | verbs: accuracy "
    "| reads both |",
    f"|{'---|' * 9}",
)
VERB, SUBJECT, OBJECT = (RUNNING.index(word) for word in ("announced", "CEO", "earnings"))


@dataclass(frozen=True)
class Row:
    """One configuration: a number per seed; the verbs' loss and accuracy also on their own.

    A token is right if it names all the words that it is asked for and no other; those that are
    asked for nothing are left out. `found`: does "announced" give its two largest weights, the
    largest of any head, to "CEO" and "earnings"? None where the mask hides one of them.
    """

    num_heads: int
    num_kv_heads: int
    head_dim: int
    rule: str
    loss: list[float]
    accuracy: list[float]
    verb_loss: list[float]
    verb_accuracy: list[float]
    found: list[bool] | None

    @property
    def configuration(self) -> Configuration:
        return Configuration(self.num_heads, self.num_kv_heads, self.head_dim, self.rule)


@torch.no_grad()
def measured(configuration: Configuration, seeds: Sequence[Learned]) -> Row:
    """Test what several seeds learned."""
    task = given(pool(True), configuration.rule)
    real, is_asked = task.real, task.asked.any(dim=-1)
    verbs = [PLACES[word] for kind in KINDS for word in kind["verb"].split()]
    is_verb = real & torch.isin(task.words, torch.tensor(verbs))
    numbers = Row(*configuration, [], [], [], [], None)
    for one in seeds:
        loss = losses(one, task)
        named = one.named(attend(one, task.words, task.mask).output) > 0
        right = (named == task.asked.bool()).all(dim=-1).float()
        numbers.loss.append(_mean(loss[real]))
        numbers.accuracy.append(_mean(right[is_asked]))
        numbers.verb_loss.append(_mean(loss[is_verb]))
        numbers.verb_accuracy.append(_mean(right[is_verb]))
    if task_of_running(configuration.rule).asked[0, VERB].sum() < 2:
        return numbers
    return replace(numbers, found=[reads_both(one, configuration.rule) for one in seeds])


def _mean(numbers: Tensor) -> float:
    return round(numbers.mean().item(), 4)


def task_of_running(rule: str) -> Given:
    """The running sentence, which nobody trained on."""
    return given(encoded([RUNNING_NEWS]), rule)


def announced(learned: Learned, rule: str) -> Tensor:
    """How "announced" divides its attention in the running sentence (heads, q_len)."""
    task = task_of_running(rule)
    return attend(learned, task.words, task.mask).weights[0, :, VERB, : len(RUNNING)]


def reads_both(learned: Learned, rule: str) -> bool:
    """Are its two largest weights, the largest of any head, on "CEO" and "earnings"?"""
    largest = announced(learned, rule).amax(dim=0).topk(2).indices.tolist()
    return sorted(largest) == [SUBJECT, OBJECT]


def save(rows: Sequence[Row], made: str) -> None:
    """Keep the report, for pages and for readers."""
    lines = ",\n".join(json.dumps(asdict(row)) for row in rows)
    REPORT.write_text(f'{{"made": {json.dumps(made)}, "rows": [\n{lines}\n]}}\n', encoding="utf-8")
    READABLE.write_text(readable(rows, made), encoding="utf-8")


@functools.cache
def rows() -> dict[Configuration, Row]:
    """The report that was kept."""
    kept = [Row(**row) for row in json.loads(REPORT.read_text(encoding="utf-8"))["rows"]]
    return {row.configuration: row for row in kept}


def mean_and_spread(numbers: Sequence[float], places: int = 2) -> str:
    """The mean over seeds ± their standard deviation."""
    mean, spread = statistics.mean(numbers), statistics.stdev(numbers)
    return f"{mean:.{places}f} ± {spread:.{places}f}"


def readable(rows: Sequence[Row], made: str) -> str:
    """The report as Markdown."""
    lines = [INTRODUCTION.format(made=made, seeds=len(rows[0].loss)), *TABLE]
    for row in rows:
        found = "n/a" if row.found is None else f"{sum(row.found)} of {len(row.found)}"
        numbers = row.loss, row.accuracy, row.verb_loss, row.verb_accuracy
        cells = *row.configuration, *map(mean_and_spread, numbers), found
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines) + "\n"
