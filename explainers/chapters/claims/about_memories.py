"""Claims about memories of fixed size: what overwriting finds, what fits, and how they are read."""

import torch
from torch import Tensor
from torch.nn.functional import normalize

from explainers.attention.delta_rule import write_delta
from explainers.attention.linear import read_state, write_sum
from explainers.chapters.claims.claim_table import Finding, judge_claim
from explainers.toys.examples import make_generator
from explainers.ui.text.numbers import write_percent

DIM, PAIRS, TEXTS = 16, 32, 50
ROUNDING = 1e-5
ALL_NEW, REPEATED = "all different", "repeated"
RANDOM, RIGHT_ANGLES = "at random", "at right angles"


def overwriting_finds_more(keys: str) -> Finding:
    """Newest values found by sums and by the delta rule, with new keys and with eight again."""
    found = {kind: _find_newest(kind) for kind in (ALL_NEW, REPEATED)}
    is_more = {kind: overwriting > added for kind, (added, overwriting) in found.items()}
    numbers = {
        f"{rule}_{name}": write_percent(share)
        for name, kind in (("new", ALL_NEW), ("again", REPEATED))
        for rule, share in zip(("sum", "overwriting"), found[kind], strict=True)
    }
    return judge_claim(is_more[keys], all(is_more.values()), pairs=PAIRS, **numbers)


def _find_newest(kind: str) -> tuple[float, float]:
    """The share of keys whose nearest value is the newest, by both rules."""
    seeded, right = make_generator("claims", "memories", kind), torch.zeros(2)
    words = PAIRS if kind == ALL_NEW else 8
    for _text in range(TEXTS):
        keys = normalize(torch.randn(words, DIM, generator=seeded), dim=-1)
        order = torch.arange(PAIRS) % words
        values = torch.randn(PAIRS, DIM, generator=seeded)
        for place, state in enumerate(_write_both(keys[order], values)):
            nearest = torch.cdist(read_state(state, keys), values).argmin(dim=-1)
            newest = torch.arange(PAIRS - words, PAIRS)
            right[place] += (nearest == newest).float().mean() / TEXTS
    return right[0].item(), right[1].item()


def _write_both(keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
    """All pairs in a memory that adds up, and in one that overwrites."""
    added = overwritten = torch.zeros(DIM, DIM)
    one = torch.tensor(1.0)
    for key, value in zip(keys, values, strict=True):
        added = write_sum(added, key, value)
        overwritten = write_delta(overwritten, key, value, one, one)
    return added, overwritten


def a_memory_holds_its_side(keys: str, pairs: int) -> Finding:
    """How exactly a memory of 16 × 16 numbers gives back so many pairs that were added up."""
    apart = {kind: _measure_error(kind, pairs) for kind in (RIGHT_ANGLES, RANDOM)}
    is_exact = {kind: error < ROUNDING for kind, error in apart.items()}
    exact, rough = apart.values()
    return judge_claim(is_exact[keys], all(is_exact.values()), dim=DIM, right=exact, random=rough)


def _measure_error(kind: str, pairs: int) -> float:
    """The largest error of a value that is read back; more keys than 16 repeat their directions."""
    seeded = make_generator("claims", "side", kind, pairs)
    keys = normalize(torch.randn(pairs, DIM, generator=seeded), dim=-1)
    if kind == RIGHT_ANGLES:
        keys[:DIM] = torch.linalg.qr(keys[:DIM].T).Q.T[: len(keys)]
    values = torch.randn(pairs, DIM, generator=seeded)
    state = _write_both(keys, values)[0]
    return (read_state(state, keys) - values).abs().max().item()
