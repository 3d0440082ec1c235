"""Everything trained and written: the shipped weights, and the report beside them."""

import multiprocessing
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor

from explainers.toys import trained_heads, training_report
from explainers.toys.task import WORDS
from explainers.toys.train import BATCH_SIZE, RATE, STEPS, Training
from explainers.toys.trained_heads import PARTS, SEEDS, Configuration, part_name
from explainers.toys.training_report import Row, measured

MEASURED_SEEDS = 5
CHECKED = Configuration(4, 4, 16, "full")
BAR = 40


def train(configuration: Configuration, steps: int = STEPS) -> tuple[dict[str, Tensor], Row]:
    """All seeds of one configuration: the tensors to ship by name, and how they did.

    What is measured is what is shipped: weights rounded to 16 bits.
    """
    torch.set_num_threads(1)
    training = Training(configuration, range(MEASURED_SEEDS))
    for _ in range(steps):
        training.step()
    with torch.no_grad():
        for part in training.parts:
            part.copy_(part.half())
    shipped = {
        part_name(configuration, seed, name): part[seed].detach().half()
        for name, part in zip(PARTS, training.parts, strict=True)
        for seed in SEEDS
    }
    row = measured(configuration, [training.learned(seed) for seed in range(MEASURED_SEEDS)])
    return shipped, row


def _copied(configuration: Configuration) -> tuple[dict[str, Any], Row]:
    """As arrays, which are copied to another process; tensors would be shared with it."""
    shipped, row = train(configuration)
    return {name: tensor.numpy() for name, tensor in shipped.items()}, row


def make(processes: int) -> None:
    """Train everything, a configuration at a time in each process."""
    started, every = time.monotonic(), trained_heads.configurations()
    tensors: dict[str, Tensor] = {}
    rows: dict[Configuration, Row] = {}
    fresh = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=fresh) as pool:
        for done in as_completed([pool.submit(_copied, one) for one in every]):
            shipped, row = done.result()
            tensors |= {name: torch.from_numpy(array) for name, array in shipped.items()}
            rows[row.configuration] = row
            _progress(len(rows), len(every), time.monotonic() - started)
    made = f"{STEPS} batches of {BATCH_SIZE}, Adam {RATE}, torch {torch.__version__}, one thread"
    trained_heads.FILE.parent.mkdir(exist_ok=True)
    kept = {name: tensors[name] for name in sorted(tensors)}
    save_file(kept, trained_heads.FILE, {"words": " ".join(WORDS), "made": made})
    trained_heads.FILE.chmod(0o644)  # safetensors leaves it to its owner alone
    training_report.save([rows[one] for one in every], made)


def check(configuration: Configuration = CHECKED) -> bool:
    """Train again: is every number in the file the one that comes out?"""
    shipped, _ = train(configuration)
    _, kept = trained_heads.stored(list(shipped))
    furthest = max((kept[name] - tensor).abs().max().item() for name, tensor in shipped.items())
    print(f"{configuration}: the largest difference to {trained_heads.FILE.name} is {furthest:g}")
    return furthest == 0


def _progress(done: int, of: int, seconds: float) -> None:
    bar = "█" * (BAR * done // of)
    end = "\n" if done == of else ""
    left = seconds / done * (of - done)
    print(
        f"\r{bar:░<{BAR}} {done}/{of}, {seconds:.0f} s, about {left:.0f} s left ",
        end=end,
        file=sys.stderr,
    )
    sys.stderr.flush()
