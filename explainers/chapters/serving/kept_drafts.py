"""Drafts that are kept or drawn again: what two models say, exchanged, and drawn many times."""

from functools import lru_cache
from typing import NamedTuple

import torch
from torch import Tensor

from explainers.attention.serving.accept_drafts import (
    accept_or_redraw,
    keep_probability,
    left_over,
    written_distribution,
)
from explainers.chapters.serving.hero import write_gap
from explainers.chapters.serving.measured_serving import GUESSED
from explainers.messages import N_
from explainers.models.served_prompts import TwoGuesses
from explainers.toys.examples import make_generator
from explainers.translations import _
from explainers.ui.figure.chart import show_chart
from explainers.ui.text.numbers import write_percent
from explainers.ui.untrusted_text import show_spaces

RUNS, DRAWS = 300, 10_000
LEAST_EXPECTED = 5
"""χ² follows its distribution only where each count is expected to be at least this (Cochran)."""
NEVER = 1e-12
"""Expected of words that p rules out: one of them is a proof."""
LIMIT = 0.05
"""How often a right rule shows a χ² above the limit: one run in twenty."""
RIGHT, MISTAKE, UNCHECKED = (
    N_("accept or redraw"),
    N_("redraw from p itself"),
    N_("keep every draft"),
)


def name_words(guesses: TwoGuesses) -> list[str]:
    """The words that are told apart, and all others together."""
    return [*(word.strip() or show_spaces(word) for word in guesses.words), _("all others")]


def read_guesses(guesses: TwoGuesses) -> tuple[Tensor, Tensor]:
    """Both distributions (vocabulary,): q, which drafts, and p, which decides."""
    draft, target = (torch.tensor(one, dtype=torch.float64) for one in guesses[1:3])
    return draft / draft.sum(), target / target.sum()


def draw_guesses(guesses: TwoGuesses, origin: str) -> None:
    """A bar for each word: what both have, what is cut off, and what is filled up."""
    from explainers.charts.bars import draw_exchange, make_exchange_rows

    words, (draft, target) = name_words(guesses), read_guesses(guesses)
    rows = make_exchange_rows(words, draft.tolist(), target.tolist())
    shares = "; ".join(
        f"{word} {write_percent(q)}, {write_percent(p)}"
        for word, q, p in zip(words, draft.tolist(), target.tolist(), strict=True)
    )
    alt = _("Probability of each word in the draft and in the model: {shares}", shares=shares)
    parts = _("kept"), _("cut off: too often in the draft"), _("filled up: drawn again")
    show_chart(draw_exchange, rows, alt, "exchange", origin, length=len(words), parts=parts)


def name_exchange(guesses: TwoGuesses) -> dict[str, str]:
    """One word that is drafted too often, and one that is drafted too seldom."""
    words, (draft, target) = name_words(guesses), read_guesses(guesses)
    excess = draft - target
    most, least = int(excess[:-1].argmax()), int(excess[:-1].argmin())
    written = written_distribution(draft, target, left_over(draft, target))
    kept = keep_probability(draft, target)
    return {
        "word": words[most],
        "draft": write_percent(float(draft[most])),
        "target": write_percent(float(target[most])),
        "kept": write_percent(float(kept[most])),
        "other": words[least],
        "other_draft": write_percent(float(draft[least])),
        "other_target": write_percent(float(target[least])),
        "all_kept": write_percent(float((draft * kept).sum())),
        "gap": write_gap(float((written - target).abs().max())),
        "text": GUESSED,
        "seen": guesses.seen.strip(),
    }


class Draws(NamedTuple):
    """For one rule: how far from p it is, counted out, and χ² of each run."""

    gap: float
    chi: list[float]


@lru_cache(maxsize=8)
def draw_runs(draft: tuple[float, ...], target: tuple[float, ...], seed: int) -> dict[str, Draws]:
    """Each rule, counted out, and tried in many runs of many draws."""
    q, p = (torch.tensor(one, dtype=torch.float64) for one in (draft, target))
    seeded = make_generator("drafts", seed)
    again = {RIGHT: left_over(q, p), MISTAKE: p, UNCHECKED: q}
    found: dict[str, Draws] = {}
    for name, rest in again.items():
        written = q if name == UNCHECKED else written_distribution(q, p, rest)
        chi = [_draw_run(q, p, name, seeded) for _run in range(RUNS)]
        found[name] = Draws(float((written - p).abs().max()), chi)
    return found


def _draw_run(q: Tensor, p: Tensor, rule: str, seeded: torch.Generator) -> float:
    """χ² of one run against p."""
    drafts = torch.multinomial(q, DRAWS, replacement=True, generator=seeded)
    luck, draw = torch.rand(2, DRAWS, generator=seeded, dtype=torch.float64)
    words = drafts
    if rule == RIGHT:
        words = accept_or_redraw(q, p, drafts, luck, draw)
    elif rule == MISTAKE:
        fresh = torch.multinomial(p, DRAWS, replacement=True, generator=seeded)
        words = torch.where(luck < keep_probability(q, p)[drafts], drafts, fresh)
    return measure_chi(torch.bincount(words, minlength=len(p)).double(), DRAWS * p)


def pool_rare(expected: Tensor) -> Tensor:
    """Which bin each word is counted in (words,): rare ones share the last, as few as will do.

    The most probable word always keeps a bin of its own.
    """
    ranked, order = expected.sort(descending=True)
    start = int((ranked >= LEAST_EXPECTED).sum())  # the first rare word
    if float(ranked[start:].sum()) < LEAST_EXPECTED and start < len(ranked):
        start -= 1  # the rare ones together are rare: the next one joins them
    bins = torch.empty_like(order)
    bins[order] = torch.arange(len(order)).clamp(max=max(1, start))
    return bins


def measure_chi(counts: Tensor, expected: Tensor) -> float:
    """χ² of counts (words,) against what is expected of them, rare words counted together."""
    bins = pool_rare(expected)
    seen, wanted = (torch.zeros_like(one).index_add(0, bins, one) for one in (counts, expected))
    is_used = torch.arange(len(bins)) <= bins.max()
    return float(((seen - wanted) ** 2 / wanted.clamp(min=NEVER))[is_used].sum())


def find_limit(freedom: int) -> float:
    """The χ² that a right rule exceeds in one run of twenty, found by halving."""
    low, high = 0.0, 100.0
    half = torch.tensor(freedom / 2, dtype=torch.float64)
    for _step in range(60):
        middle = (low + high) / 2
        below = float(torch.special.gammainc(half, torch.tensor(middle / 2, dtype=torch.float64)))
        low, high = (middle, high) if below < 1 - LIMIT else (low, middle)
    return high


def tabulate_runs(guesses: TwoGuesses, seed: int) -> dict[str, str]:
    """A row for each rule, and what a right one would give."""
    draft, target = read_guesses(guesses)
    found = draw_runs(tuple(draft.tolist()), tuple(target.tolist()), seed)
    freedom = int(pool_rare(DRAWS * target).max())
    limit = find_limit(freedom)
    rows = []
    for name, (gap, chi) in found.items():
        above = sum(one > limit for one in chi) / len(chi)
        mean = sum(chi) / len(chi)
        rows.append(f"| {_(name)} | {write_gap(gap)} | {mean:,.1f} | {write_percent(above)} |")
    chi = found[RIGHT].chi
    apart = float((draft - target).abs().sum()) / 2
    return {
        "rows": "\n".join(rows),
        "runs": f"{RUNS}",
        "draws": f"{DRAWS:,}",
        "freedom": f"{freedom}",
        "limit": f"{limit:.2f}",
        "least": f"{LEAST_EXPECTED}",
        "above": write_percent(sum(one > limit for one in chi) / len(chi)),
        "kept": write_percent(float(torch.minimum(draft, target).sum())),
        "apart": write_percent(apart),
        "seed": f"{seed}",
    }
