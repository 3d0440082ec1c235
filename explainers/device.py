"""Where tensors are computed: cuda, then mps, then cpu. Nothing else in the project asks."""

import torch

# Streamlit runs every rerun in a new thread, and OpenMP would start helpers for each: 7 numbers'
# softmax then takes milliseconds instead of microseconds.
torch.set_num_threads(1)


def best_device() -> torch.device:
    """The fastest device that this machine has."""
    if torch.cuda.is_available():
        return torch.device("cuda")
    if torch.backends.mps.is_available():
        return torch.device("mps")
    return torch.device("cpu")


def device_name(device: torch.device) -> str:
    """What the reader sees: the kind, and the card's own name where there is one."""
    if device.type == "cuda":
        return f"cuda ({torch.cuda.get_device_name(device)})"
    return device.type
