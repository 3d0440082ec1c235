"""What heads that often want nothing do on held-out rows, and what the shipped ones did."""

import functools
import json
import statistics
from dataclasses import dataclass

import torch
from safetensors import safe_open
from torch import Tensor

from explainers.toys.idle_head import (
    IDLE_FILE,
    IDLE_SEEDS,
    SHIPPED_SETTINGS,
    SHOWN_SEED,
    Parts,
    Stage,
    find_triggers,
    load_idle_head,
    look_at,
)
from explainers.toys.idle_training import FIRST_QUERY, STAGES, read_held_out

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
def measure_idle_head(parts: Parts, setting: str, seed: int) -> IdleRow:
    """Test what one seed learned."""
    reading, rows, loss = read_held_out(parts, setting)
    read, following = rows[:, :-1], rows[:, 1:]
    late = torch.arange(read.shape[1]) >= FIRST_QUERY
    triggers = find_triggers(read)
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


@functools.lru_cache(maxsize=len(SHIPPED_SETTINGS) * len(IDLE_SEEDS))
def load_film(setting: str, seed: int = SHOWN_SEED) -> tuple[Stage, ...]:
    """The training of the shown seed, stage by stage; of another one only its end.

    The last stage is what the shipped weights do.
    """
    [row] = [one for one in list_seeds(setting) if one.seed == seed]
    last = look_at(load_idle_head(setting, seed), setting, STAGES[-1], row.loss)
    if seed != SHOWN_SEED:
        return (last,)
    with safe_open(IDLE_FILE, "pt") as file:
        packed = [file.get_tensor(f"film {setting}: {name}").tolist() for name in FILM_PARTS]
    weights, lengths, gates, largest, losses = packed
    stages = [
        Stage(
            batches,
            [row[: query + 1] for query, row in enumerate(weights[place])],
            *(numbers[place] for numbers in (lengths, gates, largest, losses)),
        )
        for place, batches in enumerate(STAGES)
    ]
    return (*stages[:-1], last)


@functools.cache
def read_idle_rows() -> tuple[tuple[IdleRow, ...], str]:
    """What was measured of each setting and seed, and how the weights were made."""
    stored = json.loads(IDLE_FILE.with_suffix(".json").read_text(encoding="utf-8"))
    return tuple(IdleRow(**row) for row in stored["rows"]), stored["made"]


def list_seeds(setting: str) -> list[IdleRow]:
    """What was measured of the seeds of one setting."""
    return [row for row in read_idle_rows()[0] if row.setting == setting]


def average(setting: str, name: str) -> float:
    """The mean of a number over the seeds of a setting."""
    return statistics.mean(getattr(row, name) for row in list_seeds(setting))
