"""Claims about what a head is worth: losses of a model with a head's output replaced."""

from torch import Tensor

from explainers.chapters.claims.claim_table import CONDITION, FAILS, HOLDS, Finding, make_finding
from explainers.models.replaced_heads import KINDS, MEAN, RESAMPLE, ZERO, find_costly
from explainers.models.shipped_measurements import read_kept
from explainers.ui.text.numbers import write_percent

ALIKE = 0.5
"""The correlation from which two orders are called so."""
OTHERS = {"its mean": MEAN, "another passage": RESAMPLE}


def zeros_tell_what_a_head_is_worth(other: str, texts: int, agree: float) -> Finding:
    """Of the heads that zeros call costly: does another replacement confirm a share of `agree`?"""
    shares = {(name, count): _confirm(name, count) for name in OTHERS for count in (4, 8)}
    both, costly = shares[other, texts]
    here = both >= agree * costly
    everywhere = all(one >= agree * all_ for one, all_ in shares.values())
    verdict = (HOLDS if everywhere else CONDITION) if here else FAILS
    share = write_percent(both / costly)
    return make_finding(verdict, costly=f"{costly}", both=f"{both}", share=share)


def _confirm(other: str, texts: int) -> tuple[int, int]:
    rises = _read_rises()[..., :texts]
    zero, found = (find_costly(rises[KINDS.index(kind)]) for kind in (ZERO, OTHERS[other]))
    return int((zero & found).sum()), int(zero.sum())


def _read_rises() -> Tensor:
    return read_kept().ablations.rises
