"""Trains memories on pairs, and writes what they find again."""

from collections.abc import Sequence
from dataclasses import asdict

import torch

from explainers import kept
from explainers.kept import Kept
from explainers.toys.pair_memory import (
    BATCH_SIZE,
    COUNTS,
    FOUND,
    LEARNING_RATE,
    MODELS,
    OVERWRITE,
    SEEDS,
    STEPS,
    SUM,
    TESTED_COUNTS,
    MemoryRow,
    measure_memory,
    read_results,
    train_memory,
)
from workshop.keep import keep
from workshop.toys.tolerance import BEYOND, allows

TOLERANCE = {BEYOND: 0.02}
"""Two standard errors of a share that was measured on 2,048 answers."""


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
    command, numbers = "python -m workshop.toys --memories", {"rows": list(map(asdict, rows))}
    keep(Kept(FOUND, f"{made}, one thread", command, TOLERANCE, numbers))


def check_results(seed: int = SEEDS[0]) -> bool:
    """Train the sum and the delta rule again on both tasks: is every share near enough?"""
    is_near = True
    for rules in ((SUM,), (OVERWRITE,)):
        for has_repeats in (False, True):
            row = read_results()[rules, has_repeats]
            [again] = train_row(rules, has_repeats, [seed]).shares
            for place, (count, share) in enumerate(zip(TESTED_COUNTS, again, strict=True)):
                shipped = [of_seed[place] for of_seed in row.shares]
                is_allowed = allows(FOUND, shipped, share)
                is_near &= is_allowed
                verdict = "as shipped" if is_allowed else "TOO FAR"
                print(*rules, "repeated" if has_repeats else "new", count, share, shipped, verdict)
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
    stored = kept.read(FOUND)
    counts = f"{', '.join(map(str, COUNTS[:-1]))} and {COUNTS[-1]}"
    columns = " | ".join(map(str, TESTED_COUNTS))
    section = SECTION.format(
        made=stored.origin,
        keys=64,
        counts=counts,
        last=SEEDS[-1],
        sampling=stored.tolerance[BEYOND],
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
