"""Trains memories on pairs, and writes what they find again."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import torch

from explainers.toys.pair_memory import (
    BATCH_SIZE,
    COUNTS,
    FILE,
    LEARNING_RATE,
    MODELS,
    OVERWRITE,
    SAMPLING,
    SEEDS,
    STEPS,
    SUM,
    TESTED_COUNTS,
    MemoryRow,
    measure_memory,
    read_results,
    train_memory,
)


def train_row(rules: Sequence[str], has_repeats: bool, seeds: Sequence[int]) -> MemoryRow:
    """Train a model once for each seed, and measure it."""
    torch.set_num_threads(1)
    shares = []
    for seed in seeds:
        *_unused, (memory, _loss) = train_memory(rules, has_repeats, seed)
        found = measure_memory(memory, TESTED_COUNTS, has_repeats)
        shares.append([round(share, 4) for share in found])
    return MemoryRow(tuple(rules), has_repeats, shares)


def make_results() -> None:
    """Train all models on both tasks, and write what they find."""
    rows = []
    for rules in MODELS:
        for has_repeats in (False, True):
            print(" + ".join(rules), "repeated keys" if has_repeats else "new keys", flush=True)
            rows.append(train_row(rules, has_repeats, SEEDS))
    made = f"{STEPS} batches of {BATCH_SIZE}, Adam {LEARNING_RATE}, torch {torch.__version__}"
    write_results(rows, f"{made}, one thread", FILE)


def write_results(rows: Sequence[MemoryRow], made: str, file: Path) -> None:
    """Write them as JSON."""
    lines = ",\n".join(json.dumps(asdict(row)) for row in rows)
    file.write_text(f'{{"made": {json.dumps(made)}, "rows": [\n{lines}\n]}}\n', encoding="utf-8")


def check_results(seed: int = SEEDS[0]) -> bool:
    """Train the sum and the delta rule again on both tasks: is every share near enough?"""
    is_near = True
    for rules in ((SUM,), (OVERWRITE,)):
        for has_repeats in (False, True):
            row = read_results()[rules, has_repeats]
            [again] = train_row(rules, has_repeats, [seed]).shares
            for count, share in zip(TESTED_COUNTS, again, strict=True):
                is_allowed = row.allows(count, share)
                is_near &= is_allowed
                verdict = "as shipped" if is_allowed else "TOO FAR"
                kept = [of_seed[TESTED_COUNTS.index(count)] for of_seed in row.shares]
                print(*rules, "repeated" if has_repeats else "new", count, share, kept, verdict)
    return is_near


SECTION = """
# What trained memories find again

{made}. Made by `python -m workshop.toys --memories`, never by hand.

A text has pairs of a key and a value, of {keys} each; then the values of 8 keys are asked for. A
model learns on texts of {counts} pairs. Its layers remember by softmax attention, or in a matrix
of 16 × 16 numbers: by sums, by overwriting (the delta rule), or by overwriting with a gate (fade).
New keys: no key of a text is repeated. Repeated: 8 keys, so that the newest value counts. Shares of
right answers on 256 held-out texts; mean of the seeds 0 to {last}, smallest and largest.

`--check` trains the sum and the delta rule again and compares each share. Another processor adds
up in another order, and then a training takes another way, as with another seed. So a share may be
as far outside of the shipped ones as these are from each other, and {sampling} more: two standard
errors of a share of 2,048 answers.

| layers | keys | {columns} pairs |
|---|---|{line}
"""


def format_results_section() -> str:
    """The section of the report, as Markdown."""
    made = json.loads(FILE.read_text(encoding="utf-8"))["made"]
    counts = f"{', '.join(map(str, COUNTS[:-1]))} and {COUNTS[-1]}"
    columns = " | ".join(map(str, TESTED_COUNTS))
    section = SECTION.format(
        made=made,
        keys=64,
        counts=counts,
        last=SEEDS[-1],
        sampling=SAMPLING,
        columns=columns,
        line="---|" * len(TESTED_COUNTS),
    )
    for row in read_results().values():
        cells = [" + ".join(row.rules), "repeated" if row.has_repeats else "new"]
        for place, count in enumerate(TESTED_COUNTS):
            shares = [of_seed[place] for of_seed in row.shares]
            cells.append(f"{row.average(count):.2f} ({min(shares):.2f}–{max(shares):.2f})")
        section += f"| {' | '.join(cells)} |\n"
    return section
