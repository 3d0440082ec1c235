"""Trains all shipped heads, measures them on held-out sentences, and writes the report."""

import multiprocessing
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from explainers import kept
from explainers.kept import Kept
from explainers.toys import layers
from explainers.toys.grammar import GRAMMARS, join_list
from explainers.toys.layers import PART_NAMES, SEEDS, Configuration, name_part, name_weights
from explainers.toys.training import (
    BATCH_SIZE,
    LEARNING_RATE,
    STEPS,
    ReportRow,
    Training,
    format_mean_and_spread,
    measure_heads,
    read_report,
)
from workshop.keep import keep, write_tensors
from workshop.toys.measure_longer_texts import format_longer_section
from workshop.toys.measure_memories import format_results_section
from workshop.toys.readable_training import format_readable_section, name_command
from workshop.toys.rotary_training import format_rotary_section
from workshop.toys.tolerance import find_tolerance, format_tolerances

MARKDOWN_REPORT = Path(__file__).with_name("REPORT.md")
INTRODUCTION = """# What the toy weights learned

{made}. Made by `python -m workshop.toys`, never by hand.

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


def write_markdown() -> None:
    """Write the report for readers from all that is stored as JSON."""
    sections = (
        *(format_report(), format_readable_section(), format_rotary_section()),
        *(format_results_section(), format_longer_section(), format_tolerances()),
    )
    MARKDOWN_REPORT.write_text("".join(sections), encoding="utf-8")


def format_report() -> str:
    """The stored reports as Markdown, a table for each language."""
    lines = []
    for language, introduction in {"en": INTRODUCTION, "vi": VIETNAMESE_INTRODUCTION}.items():
        made = kept.read(name_weights("relations", language)).origin
        rows = [*read_report(language).values()]
        running = GRAMMARS[language].running
        subject, found_object = (
            running.tokens[place] for place in sorted(running.related[running.verb])
        )
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
    sorted_tensors = {name: tensors[name] for name in sorted(tensors)}
    words = join_list(GRAMMARS[language].words)
    write_tensors(name_weights("relations", language), sorted_tensors, {"words": words})
    keep_rows(language, summary, [rows[one] for one in configurations])


def keep_rows(language: str, summary: str, rows: Sequence[ReportRow]) -> None:
    """Keep how heads did; how far other machines are from them is measured apart."""
    name, numbers = name_weights("relations", language), {"rows": [asdict(row) for row in rows]}
    keep(Kept(name, summary, name_command("", language), find_tolerance(name), numbers))
    read_report.cache_clear()


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
