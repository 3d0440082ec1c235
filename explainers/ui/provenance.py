"""Where a picture's numbers come from, and what computed them: one badge under every picture."""

import torch

from explainers.device import device_name


def random_weights(seed: int, device: torch.device) -> str:
    """Numbers from untrained, seeded weights."""
    return f"random, seed {seed} · computed live on {device_name(device)}"


def trained_weights(seed: int, unknown: int, device: torch.device) -> str:
    """Numbers from the shipped toy weights; words they never saw have vectors drawn at random."""
    strangers = f" · {unknown} unknown: drawn at random" if unknown else ""
    return (
        f"trained: related words, seed {seed}{strangers} · computed live on {device_name(device)}"
    )


def translator(device: torch.device) -> str:
    """Numbers from the shipped translator, which learned a grammar's sentences."""
    return f"trained: a small translator, seed 0 · computed live on {device_name(device)}"


def learned_live(what: str) -> str:
    """Numbers learned in front of the reader."""
    return f"learned live: {what}"


def measured(what: str, device: torch.device) -> str:
    """Times, which are others on another machine."""
    return f"measured live on {device_name(device)}: {what}"


def formula(what: str, device: torch.device) -> str:
    """Numbers that follow from a formula alone."""
    return f"formula: {what} · computed live on {device_name(device)}"


def real(what: str) -> str:
    """What a published model, or a part of it, makes of the reader's text."""
    return f"real: {what}"
