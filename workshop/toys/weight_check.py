"""Are shipped weights what their training gives? Strict about a change, not about processors."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from itertools import islice
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from explainers import kept
from explainers.toys.grammar import GRAMMARS
from explainers.toys.idle_head import FIRST, SHOWN_SEED, name_idle_part
from explainers.toys.idle_training import IDLE_STEPS, learn, round_parts
from explainers.toys.layers import Configuration
from explainers.toys.training import STEPS
from workshop.keep import keep
from workshop.toys.tolerance import (
    CHECKED,
    INSTRUCTION_SETS,
    Tolerance,
    find_mean_difference,
    read_tolerance,
)
from workshop.toys.train_heads import train_configuration

CHECKED_CONFIGURATION = Configuration(4, 4, 16, "full")
Train = Callable[[int], dict[str, Tensor]]
"""Trains with that many batches less than usual."""


def train_relations(language: str, batches_less: int = 0) -> dict[str, Tensor]:
    """One configuration of heads that find related words, all seeds."""
    steps = STEPS - batches_less
    return train_configuration(CHECKED_CONFIGURATION, language, steps)[0]


def train_idle(batches_less: int = 0) -> dict[str, Tensor]:
    """One head that often wants nothing."""
    torch.set_num_threads(1)
    parts = next(islice(learn(FIRST, SHOWN_SEED), IDLE_STEPS - batches_less, None))
    rounded = round_parts(parts)
    return {name_idle_part(FIRST, SHOWN_SEED, name): one.half() for name, one in rounded.items()}


TRAININGS: tuple[Train, ...] = (*(partial(train_relations, one) for one in GRAMMARS), train_idle)
CHECKS = dict(zip(CHECKED, TRAININGS, strict=True))
"""By the name under which weights are kept: what trains a part of them again."""


def check_weights(name: str) -> bool:
    """Train a part again: is it, but for roundings, what is kept?"""
    here, allowed = _measure_distance(name, CHECKS[name](0)), read_tolerance(name).allowed
    print(f"{name}: numbers differ by {here:.1e} on average; up to {allowed:.1e} is rounding")
    return here <= allowed


def check_all_weights() -> bool:
    """Every file, one after the other; all are told, also behind one that has changed."""
    return all([check_weights(name) for name in CHECKS])  # noqa: C419 - none is left out


def _measure_distance(name: str, trained: dict[str, Tensor]) -> float:
    stored = kept.read(name).read_tensors()
    return find_mean_difference(trained, {one: stored[one] for one in trained})


def measure_tolerances() -> None:
    """Train with every instruction set, and with a batch less; write how far apart they are."""
    for name, train in CHECKS.items():
        sets = [_measure_distance(name, _train_with(name, one)) for one in INSTRUCTION_SETS]
        measured = asdict(Tolerance(max(sets), _measure_distance(name, train(1))))
        keep(kept.read(name)._replace(tolerance=measured))


def _train_with(name: str, instructions: str) -> dict[str, Tensor]:
    """In a process of its own: torch chooses its instructions when it is loaded."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "trained.safetensors"
        save = f"weight_check.save_trained({name!r}, {str(file)!r})"
        code = f"from workshop.toys import weight_check; {save}"
        environment = {**os.environ, "ATEN_CPU_CAPABILITY": instructions}
        run = [sys.executable, "-c", code]
        subprocess.run(run, env=environment, check=True)  # noqa: S603 - our own code
        return load_file(file)


def save_trained(name: str, file: str) -> None:
    """Train a part again and write it."""
    save_file(CHECKS[name](0), file)
