"""Trains a head that often wants nothing, and measures what it does on held-out rows of letters."""

import functools
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from explainers import kept
from explainers.folders import ASSETS
from explainers.job_queue import Job
from explainers.toys import idle_head
from explainers.toys.examples import make_generator

IDLE_STEPS, IDLE_BATCH, IDLE_RATE, DECAY = 500, 64, 3e-3, 0.01
POOL_ROWS, TEST_ROWS = 4096, 256
STAGES = (0, 10, 20, 30, 40, 60, 80, 100, 130, 160, 200, 250, 300, 400, 500)
"""After how many batches one looks: dense at first, where most happens."""
RARE = 1e-3
"""Added to every pair's count: any letter may follow any other."""
FIRST_QUERY = 2
"""From this place on, every letter has two before it; what is measured begins here."""


@functools.cache
def read_corpus() -> Tensor:
    """The letters of corpus.txt as numbers (letters,)."""
    words = (ASSETS / "text" / "corpus.txt").read_text(encoding="utf-8").lower().split()
    return idle_head.encode(tuple(one for one in " ".join(words) if one in idle_head.ALPHABET))


@functools.cache
def count_followers() -> Tensor:
    """How often each letter follows each other one (letters, letters); rows sum to 1."""
    letters, size = read_corpus(), len(idle_head.ALPHABET)
    pairs = torch.zeros(size, size).index_put_(
        (letters[:-1], letters[1:]), torch.ones(len(letters) - 1), accumulate=True
    )
    return (pairs + RARE) / (pairs + RARE).sum(dim=-1, keepdim=True)


@functools.lru_cache(maxsize=4)
def draw_rows(count: int, has_first: bool, *names: int | str) -> Tensor:
    """Rows of letters (count, LONGEST_ROW + 1): what is read, and one later what comes next."""
    seeded = make_generator("idle rows", *names)
    letters, follows, begin = read_corpus(), count_followers(), len(idle_head.ALPHABET)
    triggers = idle_head.encode(tuple(idle_head.TRIGGERS))

    def draw_any() -> Tensor:
        return letters[torch.randint(len(letters), (count,), generator=seeded)]

    rows = torch.empty(count, idle_head.LONGEST_ROW + 1, dtype=torch.long)
    rows[:, 0], rows[:, 1] = draw_any(), draw_any()  # with ⟨s⟩ or not, the letters are alike
    if has_first:
        rows[:, 0] = begin
    for place in range(2, idle_head.LONGEST_ROW + 1):
        before, last = rows[:, place - 2], rows[:, place - 1]
        drawn = torch.multinomial(follows[last], 1, generator=seeded)[:, 0]
        is_copy = torch.isin(last, triggers) & (before != begin)
        rows[:, place] = torch.where(is_copy, before, drawn)
    return rows


def draw_idle_parts(setting: str, seed: int) -> dict[str, Tensor]:
    """Untrained tensors; those that settings share begin alike."""
    width, hidden = idle_head.IDLE_D_MODEL, idle_head.IDLE_HIDDEN
    letters, switches = len(idle_head.ALPHABET) + 1, idle_head.list_switches(setting)
    tables = {"letters": (letters, width), "places": (idle_head.LONGEST_ROW, width)}
    matrices = dict.fromkeys(("query", "key", "value", "output"), (width, width))
    matrices |= {"up": (width, hidden), "down": (hidden, width), "next": (width, letters)}
    if idle_head.GATE in switches:
        matrices["gate"] = width, width
    parts = {
        name: torch.randn(*size, generator=make_generator("idle", seed, name))
        for name, size in (tables | matrices).items()
    }
    for name, (rows, _columns) in matrices.items():
        parts[name] *= (3 * rows) ** -0.5
    for name, size in (("up bias", hidden), ("down bias", width), ("next bias", letters)):
        parts[name] = torch.zeros(size)
    for norm in ("norm", "second norm"):
        parts |= {f"{norm} gain": torch.ones(width), f"{norm} bias": torch.zeros(width)}
    if idle_head.SINK in switches:
        parts["sink"] = torch.zeros(1)
    if idle_head.NORM in switches:
        parts |= {"query gain": torch.ones(width), "key gain": torch.ones(width)}
    return parts


@torch.no_grad()
def read_held_out(parts: idle_head.Parts, setting: str) -> tuple[idle_head.Reading, Tensor, float]:
    """How it reads held-out rows, these rows, and the loss from `FIRST_QUERY` on."""
    rows = draw_rows(TEST_ROWS, idle_head.FIRST in idle_head.list_switches(setting), "held out")
    reading = idle_head.read_rows(parts, setting, rows[:, :-1])
    logits, following = reading.logits[:, FIRST_QUERY:], rows[:, FIRST_QUERY + 1 :]
    return reading, rows, cross_entropy(logits.flatten(0, 1), following.flatten()).item()


def round_parts(parts: idle_head.Parts) -> dict[str, Tensor]:
    """As they are shipped: 16 bits each; what is measured is what is shipped."""
    return {name: part.detach().half().float() for name, part in parts.items()}


def learn(setting: str, seed: int) -> Iterator[dict[str, Tensor]]:
    """The parts before the first batch and after each; the same tensors again and again."""
    parts = {name: part.requires_grad_() for name, part in draw_idle_parts(setting, seed).items()}
    adam = torch.optim.AdamW(parts.values(), IDLE_RATE, weight_decay=DECAY)
    pool = draw_rows(POOL_ROWS, idle_head.FIRST in idle_head.list_switches(setting), seed)
    draws = make_generator("idle batches", seed)
    yield parts
    for _ in range(IDLE_STEPS):
        rows = pool[torch.randint(POOL_ROWS, (IDLE_BATCH,), generator=draws)]
        logits = idle_head.read_rows(parts, setting, rows[:, :-1]).logits
        loss = cross_entropy(logits.flatten(0, -2), rows[:, 1:].flatten())
        adam.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        adam.step()
        yield parts


def look_after(parts: idle_head.Parts, setting: str, batches: int) -> idle_head.Stage:
    """What the picture shows of it after so many batches."""
    rounded = round_parts(parts)
    return idle_head.look_at(rounded, setting, batches, read_held_out(rounded, setting)[-1])


class IdleRequest(NamedTuple):
    """Which switches are on while a head learns, and from which seed."""

    setting: str
    seed: int


IdleJob = Job[IdleRequest, idle_head.Stage, dict[str, Tensor]]


def make_idle_job(request: IdleRequest) -> IdleJob:
    """A job that trains a head from random weights; it reports what is seen on the way."""
    return Job(request, _train_watched, len(STAGES))


def _train_watched(job: IdleJob) -> dict[str, Tensor]:
    setting, seed = job.subject
    started, parts = time.perf_counter(), dict[str, Tensor]()
    for batches, parts in enumerate(learn(setting, seed)):
        if batches in STAGES:
            job.report(look_after(parts, setting, batches))
        else:
            job.check()
        time.sleep(time.perf_counter() - started)  # another visitor's page gets as long
        started = time.perf_counter()
    return round_parts(parts)


FILM_PARTS = "weights", "lengths", "gates", "largest", "losses"


@dataclass(frozen=True)
class IdleRow:
    """What one seed of a setting does on held-out rows, from the third place on.

    "Idle" are places where nothing has to be looked for; all others have to find a letter.
    """

    setting: str
    seed: int
    loss: float
    copied: float
    """Copies that are named right."""
    useful: float
    """Weight on the letter to be copied, where there is one."""
    first: float
    """Idle: weight on the first place of the row, whatever stands there."""
    nowhere: float
    itself: float
    before: float
    """Idle: weight on the letter itself and on the one before it."""
    blanks: float
    """Idle: weight on blanks."""
    gate_idle: float
    gate_useful: float
    largest: float
    """|score|."""
    first_length: float
    other_length: float
    """Of the values at the first place and at all others."""


@torch.no_grad()
def measure_idle_head(parts: idle_head.Parts, setting: str, seed: int) -> IdleRow:
    """Test what one seed learned."""
    reading, rows, loss = read_held_out(parts, setting)
    read, following = rows[:, :-1], rows[:, 1:]
    late = torch.arange(read.shape[1]) >= FIRST_QUERY
    triggers = idle_head.find_triggers(read)
    wanted, idle = triggers & late, ~triggers & late
    weights, length = reading.weights, read.shape[1]
    places = torch.arange(length)
    itself = weights[:, places, places]
    before = torch.cat([torch.zeros(len(read), 1), weights[:, places[1:], places[:-1]]], dim=-1)
    on_blanks = (weights * (read == 0)[:, None, :]).sum(dim=-1)
    is_right = reading.logits.argmax(dim=-1) == following
    lengths = reading.value.norm(dim=-1)
    measured = (
        loss,
        _mean(is_right[wanted]),
        _mean(before[wanted]),
        weights[..., 0][idle].mean(),
        1 - weights.sum(dim=-1)[idle].mean(),
        itself[idle].mean(),
        before[idle].mean(),
        on_blanks[idle].mean(),
        reading.gate[idle].mean(),
        _mean(reading.gate[wanted]),
        reading.scores.abs().max(),
        lengths[:, 0].mean(),
        lengths[:, 1:].mean(),
    )
    return IdleRow(setting, seed, *(round(float(number), 4) + 0.0 for number in measured))


def _mean(numbers: Tensor) -> float:
    return numbers.float().mean().item() if numbers.numel() else 0.0


@functools.lru_cache(maxsize=len(idle_head.SHIPPED_SETTINGS) * len(idle_head.IDLE_SEEDS))
def load_film(setting: str, seed: int = idle_head.SHOWN_SEED) -> tuple[idle_head.Stage, ...]:
    """The training of the shown seed, stage by stage; of another one only its end.

    The last stage is what the shipped weights do.
    """
    [row] = [one for one in list_seeds(setting) if one.seed == seed]
    last = idle_head.look_at(idle_head.load_idle_head(setting, seed), setting, STAGES[-1], row.loss)
    if seed != idle_head.SHOWN_SEED:
        return (last,)
    film = kept.read(idle_head.IDLE_HEADS).read_tensors(f"film {setting}: ")
    weights, lengths, gates, largest, losses = (film[name].tolist() for name in FILM_PARTS)
    stages = [
        idle_head.Stage(
            batches,
            [row[: query + 1] for query, row in enumerate(weights[place])],
            *(numbers[place] for numbers in (lengths, gates, largest, losses)),
        )
        for place, batches in enumerate(STAGES)
    ]
    return (*stages[:-1], last)


@functools.cache
def read_idle_rows() -> tuple[IdleRow, ...]:
    """What was measured of each setting and seed."""
    return tuple(IdleRow(**row) for row in kept.read(idle_head.IDLE_HEADS).numbers["rows"])


def list_seeds(setting: str) -> list[IdleRow]:
    """What was measured of the seeds of one setting."""
    return [row for row in read_idle_rows() if row.setting == setting]


def average(setting: str, name: str) -> float:
    """The mean of a number over the seeds of a setting."""
    return statistics.mean(getattr(row, name) for row in list_seeds(setting))
