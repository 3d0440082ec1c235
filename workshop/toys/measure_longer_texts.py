"""Measures models past their trained length, and writes what comes out."""

from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict

import torch

from explainers import kept
from explainers.kept import Kept
from explainers.toys.rotary_layers import (
    FURTHER,
    LENGTHS,
    LONGER,
    NOWHERE,
    NTK,
    PARTIAL,
    PI,
    PLAIN,
    ROTARY,
    SEEDS,
    TRAINED,
    YARN,
    LengthRow,
    read_longer_results,
)
from workshop.keep import keep
from workshop.toys.tolerance import BEYOND, allows
from workshop.toys.train_longer_texts import (
    BATCH_SIZE,
    LEARNING_RATE,
    STEPS,
    measure_model,
    train_further,
    train_model,
)

ASKED = {ROTARY: (PLAIN, PI, NTK, YARN), PARTIAL: (PLAIN, YARN), NOWHERE: (PLAIN,)}
"""Without further training: the ways to slow down each kind."""
TRAINED_FURTHER = PLAIN, PI
CHECKED_BATCHES = 20
FIRST_LOSSES = "first losses"
TOLERANCE = {BEYOND: 0.02, FIRST_LOSSES: 2e-3}
"""Nats."""


def measure_seed(seed: int, kinds: Sequence[str] = tuple(ASKED)) -> list[LengthRow]:
    """Train a model of each kind, and ask it on all lengths."""
    torch.set_num_threads(1)
    rows = []
    for kind in kinds:
        parts = train_model(kind, seed)[0]
        for way in ASKED[kind]:
            found = [measure_model(parts, kind, way, length) for length in LENGTHS]
            rows.append(_make_row(kind, way, 0, found))
        for way in TRAINED_FURTHER if kind == ROTARY else ():
            more = train_further(parts, way, LENGTHS[-1], seed, FURTHER)
            found = [measure_model(more, kind, way, LENGTHS[-1])]
            rows.append(_make_row(kind, way, FURTHER, found))
    return rows


def _make_row(kind: str, way: str, further: int, found: Sequence[tuple[float, float]]) -> LengthRow:
    losses, rights = ([round(number, 4) for number in one] for one in zip(*found, strict=True))
    return LengthRow(kind, way, further, [losses], [rights])


def measure_first_losses() -> list[float]:
    """Of the first batches of the first seed, which no processor's roundings change much."""
    torch.set_num_threads(1)
    return [round(loss, 4) for loss in train_model(ROTARY, SEEDS[0], CHECKED_BATCHES)[1]]


def make_longer_results(processes: int) -> None:
    """Train and ask all models, and write what comes out."""
    with ProcessPoolExecutor(processes) as pool:
        of_seeds = list(pool.map(measure_seed, SEEDS))
    made = f"{STEPS} batches of {BATCH_SIZE}, Adam {LEARNING_RATE}, torch {torch.__version__}"
    rows = [asdict(_join(rows)) for rows in zip(*of_seeds, strict=True)]
    numbers = {"first_losses": measure_first_losses(), "rows": rows}
    command = "python -m workshop.toys --longer"
    keep(Kept(LONGER, f"{made}, one thread", command, TOLERANCE, numbers))


def _join(rows: Sequence[LengthRow]) -> LengthRow:
    """One row of all seeds."""
    first, losses, rights = rows[0], [r.losses[0] for r in rows], [r.rights[0] for r in rows]
    return LengthRow(first.kind, first.way, first.further, losses, rights)


def check_longer_results() -> bool:
    """Train the first seed with RoPE again: do all losses come out near enough?"""
    is_near = True
    for row in measure_seed(SEEDS[0], [ROTARY]):
        stored = read_longer_results()[row.kind, row.way, row.further]
        for place, (length, loss) in enumerate(zip(row.lengths, row.losses[0], strict=True)):
            shipped = [of_seed[place] for of_seed in stored.losses]
            is_allowed = allows(LONGER, shipped, loss)
            is_near &= is_allowed
            verdict = "as shipped" if is_allowed else "TOO FAR"
            print(row.kind, row.way, row.further, length, loss, shipped, verdict)
    return is_near


SECTION = """
# Past the trained length

{made}. Made by `python -m workshop.toys --longer`, never by hand.

A text is a row of different tokens that is written again and again. Models of two layers with two
heads of 32 numbers learn on texts of {trained} tokens; the loss is that of tokens that can be
known. They are asked on longer texts, with RoPE as trained, with its pairs slowed down so that the
text fits, or after {further} more batches of texts of {longest} tokens. `partial` turns half of
each head, `none` nothing. Losses of the seeds 0 to {last}, in nats, and the mean share that is
right.

`--longer --check` trains the first seed with RoPE again. Another processor's roundings make a
training like another seed's: a loss may be as far outside of the shipped ones as these are from
each other, and 0.02 more. A test compares the first {checked} batches exactly.

| positions | slowed down | more batches | length | losses | mean | right |
|---|---|---|---|---|---|---|
"""


def format_longer_section() -> str:
    """The section of the report, as Markdown."""
    text = SECTION.format(
        made=kept.read(LONGER).origin,
        trained=TRAINED,
        further=FURTHER,
        longest=LENGTHS[-1],
        last=SEEDS[-1],
        checked=CHECKED_BATCHES,
    )
    for row in read_longer_results().values():
        for place, length in enumerate(row.lengths):
            losses = ", ".join(f"{of_seed[place]:.2f}" for of_seed in row.losses)
            loss, right = row.average(length)
            cells = f"{row.kind} | {row.way} | {row.further} | {length} | {losses}"
            text += f"| {cells} | {loss:.2f} | {right:.2f} |\n"
    return text
