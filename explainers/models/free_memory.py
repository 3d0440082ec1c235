"""The memory that is free for a model, and the device or devices it is put on.

>>> estimate_bytes(1_000), estimate_bytes(1_000, torch.bfloat16)
(4400, 2200)
"""

from pathlib import Path

import psutil
import torch

from explainers.device import choose_device
from explainers.models.registry import ModelError

DTYPES = torch.float32, torch.bfloat16
"""float32 wherever it fits: so a link shows the same numbers everywhere."""
OVERHEAD = 1.1
"""The memory of loading and one short run, as a multiple of the weights."""
_LIMITS = {
    "/sys/fs/cgroup/memory.max": "/sys/fs/cgroup/memory.current",
    "/sys/fs/cgroup/memory/memory.limit_in_bytes": "/sys/fs/cgroup/memory/memory.usage_in_bytes",
}
"""Files with the memory that a container may use, and with what it uses now."""


def estimate_bytes(num_parameters: int, dtype: torch.dtype = DTYPES[0]) -> int:
    """The memory that a model of this size takes, in bytes."""
    return int(num_parameters * dtype.itemsize * OVERHEAD)


def measure_free_bytes(device: torch.device | None = None) -> int:
    """The bytes that this process can still take on a device.

    Without one it is all GPUs if there are any, else the RAM.
    """
    if (device or choose_device()).type == "cuda":
        gpus = [device] if device else range(torch.cuda.device_count())
        return sum(torch.cuda.mem_get_info(gpu)[0] for gpu in gpus)
    limits = [psutil.virtual_memory().available]
    for limit, used in _LIMITS.items():
        if Path(limit).exists() and (maximum := Path(limit).read_text().strip()).isdigit():
            limits.append(int(maximum) - int(Path(used).read_text()))
    return max(0, min(limits))


def choose_dtype(name: str, num_parameters: int) -> torch.dtype:
    """The most exact numbers that fit; refuses a model that does not fit, before it is loaded."""
    available = measure_free_bytes()
    for dtype in DTYPES:
        if estimate_bytes(num_parameters, dtype) <= available:
            return dtype
    raise ModelError(
        "{model} has {parameters:,} parameters. In numbers of 16 bits it needs {takes:.1f} GB "
        "of memory, and {left:.1f} GB are free here.",
        model=name,
        parameters=num_parameters,
        takes=estimate_bytes(num_parameters, DTYPES[-1]) / 1e9,
        left=available / 1e9,
    )


def choose_placement() -> str | torch.device:
    """The device, or "auto" for transformers' own plan where there are several GPUs."""
    device = choose_device()
    is_one = device.type != "cuda" or torch.cuda.device_count() == 1
    return device if is_one else "auto"
