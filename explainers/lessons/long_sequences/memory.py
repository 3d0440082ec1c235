"""How much memory a computation takes besides what it was given: measured, never estimated."""

from collections.abc import Callable

import torch


def peak_bytes(run: Callable[[], object], device: torch.device) -> int | None:
    """The most bytes of tensors that exist at one time while `run` runs; None if unknown here.

    On a GPU its allocator has counted them. On the CPU, torch's profiler hears of every allocation
    of this thread, in order; libraries that torch calls may keep small buffers of their own.
    """
    if device.type == "cuda":
        torch.cuda.synchronize(device)
        before = torch.cuda.memory_allocated(device)
        torch.cuda.reset_peak_memory_stats(device)
        run()
        torch.cuda.synchronize(device)
        return torch.cuda.max_memory_allocated(device) - before
    if device.type != "cpu":
        return None
    with torch.autograd.profiler.profile(use_kineto=False, profile_memory=True) as profiler:
        run()
    now = most = 0
    for event in profiler.kineto_results.events():
        if event.name() == "[memory]":
            now += event.nbytes()
            most = max(most, now)
    return most
