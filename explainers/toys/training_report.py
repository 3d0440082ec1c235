"""Trains all shipped weights and measures them on held-out sentences, for the report."""

import functools
import json
import multiprocessing
import statistics
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor

from explainers.toys import layers
from explainers.toys.grammar import GRAMMARS, find_language, join_list
from explainers.toys.layers import (
    PART_NAMES,
    SEEDS,
    WEIGHTS_FILES,
    Configuration,
    TrainedHeads,
    name_part,
)
from explainers.toys.longer_results import format_longer_section
from explainers.toys.pair_results import format_results_section
from explainers.toys.readable_training import format_readable_section
from explainers.toys.task import Task, encode_news, make_task
from explainers.toys.tolerance import format_tolerances
from explainers.toys.training import (
    BATCH_SIZE,
    LEARNING_RATE,
    STEPS,
    Training,
    attend,
    compute_losses,
    draw_pool,
)

MARKDOWN_REPORT = Path(__file__).with_name("REPORT.md")
INTRODUCTION = """# What the toy weights learned

{made}. Made by `python -m explainers.toys`, never by hand.

Each token names the words it is related to, and on which side they stand, from one layer of
attention alone. Measured on held-out sentences; mean ± standard deviation over {seeds} seeds.
Loss: binary cross-entropy per token, summed over all words. Accuracy: tokens whose words are all
named, and no others. The last column counts the seeds in which "{verb}" gives its two largest
weights (of any head) to "{subject}" and "{object}"; n/a where the mask hides "{object}".
"""
VIETNAMESE_INTRODUCTION = """
## Vietnamese words

{made}. The same with the Vietnamese grammar; the last column looks for "{subject}" and "{object}"
when "{verb}" asks.
"""
TABLE_HEADER = (
    "",
    "| query heads | KV heads | d_k | mask | loss | accuracy | verbs: loss | verbs: accuracy "
    "| reads both |",
    f"|{'---|' * 9}",
)


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


def write_report(rows: Sequence[ReportRow], summary: str, language: str = "en") -> None:
    """Write the report as JSON for pages."""
    lines = ",\n".join(json.dumps(asdict(row)) for row in rows)
    find_json(language).write_text(
        f'{{"made": {json.dumps(summary)}, "rows": [\n{lines}\n]}}\n', encoding="utf-8"
    )


def write_markdown() -> None:
    """Write the report for readers from all that is stored as JSON."""
    sections = (
        *(format_report(), format_readable_section()),
        *(format_results_section(), format_longer_section(), format_tolerances()),
    )
    MARKDOWN_REPORT.write_text("".join(sections), encoding="utf-8")


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


def format_report() -> str:
    """The stored reports as Markdown, a table for each language."""
    lines = []
    for language, introduction in {"en": INTRODUCTION, "vi": VIETNAMESE_INTRODUCTION}.items():
        made = json.loads(find_json(language).read_text(encoding="utf-8"))["made"]
        rows = [*read_report(language).values()]
        running = GRAMMARS[language].running
        subject, found_object = (running.tokens[place] for place in running.who_and_what)
        words = {"verb": running.tokens[running.verb], "subject": subject, "object": found_object}
        lines += [introduction.format(made=made, seeds=len(rows[0].loss), **words), *TABLE_HEADER]
        lines += map(_format_row, rows)
    return "\n".join(lines) + "\n"


def _format_row(row: ReportRow) -> str:
    found = "n/a" if row.found is None else f"{sum(row.found)} of {len(row.found)}"
    numbers = row.loss, row.accuracy, row.verb_loss, row.verb_accuracy
    cells = *row.configuration, *map(format_mean_and_spread, numbers), found
    return f"| {' | '.join(map(str, cells))} |"


MEASURED_SEEDS = 5
BAR_WIDTH = 40


def train_configuration(
    configuration: Configuration, language: str = "en", steps: int = STEPS
) -> tuple[dict[str, Tensor], ReportRow]:
    """All seeds of one configuration: the tensors to ship by name, and how they did.

    What is measured is what is shipped: weights rounded to 16 bits.
    """
    torch.set_num_threads(1)
    training = Training(configuration, range(MEASURED_SEEDS), language=language)
    for _ in range(steps):
        training.step()
    with torch.no_grad():
        for part in training.parts:
            part.copy_(part.half())
    tensors_to_ship = {
        name_part(configuration, seed, name): part[seed].detach().half()
        for name, part in zip(PART_NAMES, training.parts, strict=True)
        for seed in SEEDS
    }
    row = measure_heads(
        configuration, [training.export_heads(seed) for seed in range(MEASURED_SEEDS)]
    )
    return tensors_to_ship, row


def _train_as_arrays(
    configuration: Configuration, language: str
) -> tuple[dict[str, Any], ReportRow]:
    """As arrays, which are copied to another process; tensors would be shared with it."""
    tensors_to_ship, row = train_configuration(configuration, language)
    return {name: tensor.numpy() for name, tensor in tensors_to_ship.items()}, row


def make_weights(processes: int, language: str) -> None:
    """Train every configuration on the words of a language, one at a time in each process."""
    started, configurations = time.monotonic(), layers.list_configurations()
    tensors: dict[str, Tensor] = {}
    rows: dict[Configuration, ReportRow] = {}
    spawn_context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=spawn_context) as pool:
        for future in as_completed(
            [pool.submit(_train_as_arrays, one, language) for one in configurations]
        ):
            tensors_to_ship, row = future.result()
            tensors |= {name: torch.from_numpy(array) for name, array in tensors_to_ship.items()}
            rows[row.configuration] = row
            _print_progress(len(rows), len(configurations), time.monotonic() - started)
    summary = (
        f"{STEPS} batches of {BATCH_SIZE}, Adam {LEARNING_RATE}, "
        f"torch {torch.__version__}, one thread"
    )
    file = WEIGHTS_FILES[language]
    file.parent.mkdir(exist_ok=True)
    sorted_tensors = {name: tensors[name] for name in sorted(tensors)}
    words = join_list(GRAMMARS[language].words)
    save_file(sorted_tensors, file, {"words": words, "made": summary})
    file.chmod(0o644)  # safetensors leaves it to its owner alone
    write_report([rows[configuration] for configuration in configurations], summary, language)


def _print_progress(num_done: int, total: int, seconds: float) -> None:
    bar = "█" * (BAR_WIDTH * num_done // total)
    end = "\n" if num_done == total else ""
    seconds_left = seconds / num_done * (total - num_done)
    print(
        f"\r{bar:░<{BAR_WIDTH}} {num_done}/{total}, {seconds:.0f} s, "
        f"about {seconds_left:.0f} s left ",
        end=end,
        file=sys.stderr,
    )
    sys.stderr.flush()
