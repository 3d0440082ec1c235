"""How long one more token takes, with the cache and without, by how many stand before it."""

import time
from collections.abc import Callable
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

from torch import Tensor

from explainers.folders import ASSETS
from explainers.messages import N_
from explainers.models.attention_hook import run_model
from explainers.models.registry import ModelError
from explainers.models.written_tokens import count_bytes

if TYPE_CHECKING:
    from explainers.models.load import RealModel

LENGTHS = 32, 64, 128, 256, 512
"""Tokens that were read before the one that is timed."""
REPEATS = 3
FILE = "reading.txt"


class StepTime(NamedTuple):
    """Seconds for one token after `length` others, with the cache and without; the cache's bytes.

    `difference`: the largest between the logits of both.
    """

    length: int
    with_cache: float
    without: float
    num_bytes: int
    difference: float


def time_steps(
    loaded: "RealModel",
    lengths: tuple[int, ...] = LENGTHS,
    repeats: int = REPEATS,
    report: Callable[[int], None] = lambda _: None,
) -> list[StepTime]:
    """One more token after prose of each length; each the median of some runs, both in turn."""
    text = (ASSETS / "text" / FILE).read_text(encoding="utf-8")
    ids = loaded.tokenizer(text, return_tensors="pt", verbose=False)["input_ids"]
    if ids.shape[1] <= max(lengths):
        raise ModelError(N_("{model} finds too few tokens in the text.", model=loaded.name))
    found = []
    for length in lengths:
        found.append(time_one(loaded.model, ids[:, : length + 1].to(loaded.model.device), repeats))
        report(length)
    return found


def time_one(model: Any, ids: Tensor, repeats: int) -> StepTime:
    """The last of ids (1, tokens), after all others are in the cache, and with all read again."""
    cache = _run(model, input_ids=ids[:, :-1], use_cache=True).past_key_values
    cached, again = [], []
    for _ in range(repeats):
        began = time.perf_counter()
        step = _run(model, input_ids=ids[:, -1:], past_key_values=cache, use_cache=True)
        between = time.perf_counter()
        whole = _run(model, input_ids=ids, use_cache=False)
        again.append(time.perf_counter() - between)
        cached.append(between - began)
        num_bytes = count_bytes(cache)
        cache.crop(-1)  # the same token again: its row goes
    difference = float((step.logits[0, -1] - whole.logits[0, -1]).abs().max())
    return StepTime(ids.shape[1] - 1, median(cached), median(again), num_bytes, difference)


def _run(model: Any, **inputs: Any) -> Any:
    return run_model(model, record=lambda _: None, logits_to_keep=1, **inputs).output
