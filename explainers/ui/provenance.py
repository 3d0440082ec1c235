"""Where a picture's numbers come from, and what computed them: one badge under every picture."""

import torch

from explainers.device import describe_device
from explainers.translations import _


def random_weights(seed: int, device: torch.device) -> str:
    """Numbers from untrained, seeded weights."""
    where = describe_device(device)
    return _("untrained weights, seed {seed} · computed live on {device}", seed=seed, device=where)


def untrained_weights(seed: int, device: torch.device) -> str:
    """Numbers from a layer that learned nothing, where a trained one can be chosen."""
    return _(
        "untrained: pattern without meaning, seed {seed} · computed live on {device}",
        seed=seed,
        device=describe_device(device),
    )


def trained_weights(what: str, seed: int, unknown: int, device: torch.device) -> str:
    """Numbers from shipped toy weights that learned to find related words; `what` tells which.

    Words that they never saw have vectors drawn at random.
    """
    where = describe_device(device)
    if unknown:
        return _(
            "trained: related words, {what}, seed {seed} · {unknown} unknown: drawn at random · "
            "computed live on {device}",
            what=what,
            seed=seed,
            unknown=unknown,
            device=where,
        )
    return _(
        "trained: related words, {what}, seed {seed} · computed live on {device}",
        what=what,
        seed=seed,
        device=where,
    )


def writing_weights(seed: int, device: torch.device) -> str:
    """Numbers from the shipped layers that say which word comes next."""
    return _(
        "trained: the next word, seed {seed} · computed live on {device}",
        seed=seed,
        device=describe_device(device),
    )


def translator(device: torch.device) -> str:
    """Numbers from the shipped translator, which learned a grammar's sentences."""
    return _(
        "trained: a small translator, seed 0 · computed live on {device}",
        device=describe_device(device),
    )


def learned_numbers(what: str) -> str:
    """Numbers learned in front of the reader."""
    return _("learned live: {what}", what=what)


def formula(what: str, device: torch.device) -> str:
    """Numbers that follow from a formula alone."""
    return _(
        "formula: {what} · computed live on {device}", what=what, device=describe_device(device)
    )


def real_model(what: str) -> str:
    """What a published model, or a part of it, makes of the reader's text."""
    return _("real: {what}", what=what)


def shipped_run(model: str) -> str:
    """What a published model made of a text of ours, when the app was made."""
    return real_model(_("{model} · measured beforehand, kept with the app", model=model))
