"""Which device computes tensors: cuda if there is one, else mps, else cpu."""

import torch

# Streamlit runs every rerun in a new thread, and OpenMP would start helpers for each: 7 numbers'
# softmax then takes milliseconds instead of microseconds.
torch.set_num_threads(1)


def choose_device() -> torch.device:
    """The fastest device that this machine has."""
    if torch.cuda.is_available():
        return torch.device("cuda")
    if torch.backends.mps.is_available():
        return torch.device("mps")
    return torch.device("cpu")


def describe_device(device: torch.device) -> str:
    """A device as readers see it: its type, and the name of the GPU if it is one."""
    if device.type == "cuda":
        return f"cuda ({torch.cuda.get_device_name(device)})"
    return device.type
