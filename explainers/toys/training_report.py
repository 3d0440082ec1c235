"""What trained heads do on held-out sentences, and what was measured of the shipped ones."""

import functools
import json
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import Tensor

from explainers.toys.grammar import GRAMMARS, find_language
from explainers.toys.layers import WEIGHTS_FILES, Configuration, TrainedHeads
from explainers.toys.task import Task, encode_news, make_task
from explainers.toys.training import attend, compute_losses, draw_pool


@dataclass(frozen=True)
class ReportRow:
    """One configuration: a number per seed; the verbs' loss and accuracy also on their own.

    A token is right if it names all the words that it is asked for and no other; those that are
    asked for nothing are left out. `found`: does the running sentence's verb give its two largest
    weights, the largest of any head, to subject and object? None where the mask hides one of them.
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
def measure_heads(configuration: Configuration, seeds: Sequence[TrainedHeads]) -> ReportRow:
    """Test what several seeds learned."""
    language = find_language(seeds[0].words)
    grammar, running = GRAMMARS[language], make_running_task(configuration.rule, language)
    task = make_task(draw_pool(True, language), configuration.rule)
    real, is_asked = task.is_real, task.targets.any(dim=-1)
    is_verb = real & torch.isin(task.words, torch.tensor(grammar.verb_ids))
    row = ReportRow(*configuration, [], [], [], [], None)
    for heads in seeds:
        loss = compute_losses(heads, task)
        is_named = heads.score_words(attend(heads, task.words, task.mask).output) > 0
        is_right = (is_named == task.targets.bool()).all(dim=-1).float()
        row.loss.append(_mean(loss[real]))
        row.accuracy.append(_mean(is_right[is_asked]))
        row.verb_loss.append(_mean(loss[is_verb]))
        row.verb_accuracy.append(_mean(is_right[is_verb]))
    if running.targets[0, grammar.running.verb].sum() < 2:
        return row
    return replace(row, found=[reads_both(heads, configuration.rule) for heads in seeds])


def _mean(numbers: Tensor) -> float:
    return round(numbers.mean().item(), 4)


def make_running_task(rule: str, language: str = "en") -> Task:
    """The task of the running sentence, which nobody trained on."""
    return make_task(encode_news(language, [GRAMMARS[language].running]), rule)


def attend_from_verb(learned: TrainedHeads, rule: str) -> Tensor:
    """How the verb divides its attention in the running sentence (heads, q_len)."""
    language = find_language(learned.words)
    task, verb = make_running_task(rule, language), GRAMMARS[language].running.verb
    return attend(learned, task.words, task.mask).weights[0, :, verb, : task.lengths[0]]


def reads_both(learned: TrainedHeads, rule: str) -> bool:
    """Are its two largest weights, the largest of any head, on subject and object?"""
    largest = attend_from_verb(learned, rule).amax(dim=0).topk(2).indices.tolist()
    running = GRAMMARS[find_language(learned.words)].running
    return set(largest) == running.related[running.verb]


def find_json(language: str) -> Path:
    """Where the report on the heads of a language is stored."""
    return WEIGHTS_FILES[language].with_suffix(".json")


@functools.cache
def read_report(language: str) -> dict[Configuration, ReportRow]:
    """The stored report, read from its JSON."""
    stored = json.loads(find_json(language).read_text(encoding="utf-8"))
    rows = [ReportRow(**row) for row in stored["rows"]]
    return {row.configuration: row for row in rows}


def format_mean_and_spread(numbers: Sequence[float], places: int = 2) -> str:
    """The mean over seeds ± their standard deviation."""
    mean, spread = statistics.mean(numbers), statistics.stdev(numbers)
    return f"{mean:.{places}f} ± {spread:.{places}f}"
