"""What servers printed of their memory, beside the calculator's formula for it.

`python -m workshop.server_logs` lists the logs of `assets/server_logs.json`, which says of each
where it was published, and of others why they are left out.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from explainers import kept
from explainers.memory.cache_bytes import count_bytes_per_token
from explainers.memory.model_shapes import find_shape
from explainers.memory.sharding import (
    GIB,
    LARGE_STEP,
    LOGIT_BYTES,
    OUTSIDE,
    USUAL_STEP,
    count_activations,
    split_shape,
)

CHOSEN = {"sorted": Fraction("38.3"), "since 0.17": LOGIT_BYTES}
"""vLLM sorted the words before 0.17, unless it had FlashInfer."""
OUTSIDE_OF = {"before 0.18": (13, 55), "since 0.18": OUTSIDE}


def predict_log(log: Mapping[str, Any]) -> tuple[float, float]:
    """(what a server printed, the same by the formula): the GiB of its cache on each GPU, or the
    tokens that have room there.

    `shape` names the published model that has the width, vocabulary and cache of the one it ran.
    """
    shape, gpus = find_shape(log["shape"]), log["gpus"]
    step = LARGE_STEP if log["is_large"] else USUAL_STEP
    needed = OUTSIDE_OF[log["outside"]][gpus > 1] * GIB // 100
    needed += count_activations(shape, step, gpus, CHOSEN[log["chosen"]]) or 0
    room = log["memory_gib"] * log["percent"] / 100 - log["weights_gib"] - needed / GIB
    if "tokens" not in log:
        return log["cache_gib"], room
    rate = count_bytes_per_token(split_shape(shape, gpus), log.get("dtype", "bfloat16"))
    return log["tokens"], room * GIB / rate


def read_logs() -> list[dict[str, Any]]:
    """The published logs that the formula is compared with."""
    logs: list[dict[str, Any]] = kept.read("server_logs").numbers["logs"]
    return logs


if __name__ == "__main__":
    for log in read_logs():
        printed, predicted = predict_log(log)
        difference = 100 * (predicted / printed - 1)
        print(f"{difference:+6.2f} %  {predicted:12,.2f}  {printed:12,}  {log['model']}")
