"""How much memory a model may still take, and where there are several GPUs, how it is spread."""

from pathlib import Path

import psutil
import torch

from explainers.device import choose_device
from explainers.messages import N_
from explainers.models.registry import ModelError

BYTES_PER_PARAMETER = torch.float32.itemsize
"""Per parameter, on every machine: a link then shows the same numbers everywhere."""
OVERHEAD = 1.1
"""What a load and one short run take, in weights."""
_LIMITS = {
    "/sys/fs/cgroup/memory.max": "/sys/fs/cgroup/memory.current",
    "/sys/fs/cgroup/memory/memory.limit_in_bytes": "/sys/fs/cgroup/memory/memory.usage_in_bytes",
}
"""What a container may use, and what it uses: the machine around it may have more."""


def estimate_bytes(parameters: int) -> int:
    """Bytes for a model of so many parameters."""
    return int(parameters * BYTES_PER_PARAMETER * OVERHEAD)


def measure_free_bytes() -> int:
    """Bytes that this process could still take: of all GPUs if there are any, else of the RAM."""
    if choose_device().type == "cuda":
        return sum(torch.cuda.mem_get_info(gpu)[0] for gpu in range(torch.cuda.device_count()))
    found = [psutil.virtual_memory().available]
    for limit, used in _LIMITS.items():
        if Path(limit).exists() and (most := Path(limit).read_text().strip()).isdigit():
            found.append(int(most) - int(Path(used).read_text()))
    return max(0, min(found))


def require_memory(named: str, parameters: int) -> None:
    """Refuse a model that would not fit, before any of it is in memory."""
    takes, left = estimate_bytes(parameters), measure_free_bytes()
    if takes > left:
        raise ModelError(
            N_(
                "{model} has {parameters:,} parameters and needs {takes:.1f} GB of memory; "
                "{left:.1f} GB are free here.",
                model=named,
                parameters=parameters,
                takes=takes / 1e9,
                left=left / 1e9,
            )
        )


def choose_placement() -> str | torch.device:
    """One device, or transformers' own plan where there are several GPUs."""
    device = choose_device()
    is_one = device.type != "cuda" or torch.cuda.device_count() == 1
    return device if is_one else "auto"
