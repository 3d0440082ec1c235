"""Claims about weight that nobody needs: first tokens, learned sinks, soft caps."""

import torch

from explainers.attention.softcap import soft_cap
from explainers.chapters.claims.claim_table import Finding, judge_claim
from explainers.toys.idle_head import (
    CAP,
    FIRST,
    IDLE_SEEDS,
    SINK,
    SOFT_CAP,
    encode,
    load_idle_head,
    name_setting,
    read_rows,
    spell,
)
from explainers.toys.idle_training import IdleRow, load_film, measure_idle_head
from explainers.ui.text.numbers import write_percent

BESIDE = {"⟨s⟩": (FIRST, SINK), "no other place": (SINK,)}


def _average(setting: str, name: str) -> float:
    """The mean of what five shipped heads do on held-out rows."""
    rows: list[IdleRow] = [
        measure_idle_head(load_idle_head(setting, seed), setting, seed) for seed in IDLE_SEEDS
    ]
    return sum(getattr(row, name) for row in rows) / len(rows)


def sink_replaces_first(beside: str) -> Finding:
    """Where the weight of idle letters goes if there is a learned sink."""
    settings = {name: name_setting(*switches) for name, switches in BESIDE.items()}
    shares = {
        name: (_average(setting, "nowhere"), _average(setting, "first"))
        for name, setting in settings.items()
    }
    takes = {name: nowhere > first for name, (nowhere, first) in shares.items()}
    nowhere, first = map(write_percent, shares[beside])
    return judge_claim(takes[beside], all(takes.values()), nowhere=nowhere, first=first)


def idle_heads_spread(batches: int) -> Finding:
    """The largest weight of the last letters that need nothing, before and after training."""
    [stage] = [one for one in load_film(FIRST) if one.batches == batches]
    row = stage.weights[-1]  # d comes after no trigger
    largest, even = max(row), 1 / len(row)
    spreads = largest < 3 * even
    return judge_claim(spreads, spreads, largest=write_percent(largest), even=write_percent(even))


FROM_START, AFTERWARDS = "from the first batch on", "after training"
MOST = 0.5
"""What has less of the weight than this has lost it."""


def cap_empties_first(capped: str) -> Finding:
    """What the first token keeps of the last letter's weight if scores are capped; five seeds."""
    kept = {FROM_START: _keep_under_cap(True), AFTERWARDS: _keep_under_cap(False)}
    empties = {when: share < MOST for when, share in kept.items()}
    first = write_percent(kept[capped])
    return judge_claim(empties[capped], all(empties.values()), first=first, cap=f"{CAP:g}")


@torch.no_grad()
def _keep_under_cap(is_trained_with: bool) -> float:
    setting, shares = name_setting(FIRST, SOFT_CAP) if is_trained_with else FIRST, []
    for seed in IDLE_SEEDS:
        scores = read_rows(load_idle_head(setting, seed), setting, encode(spell(setting))).scores
        capped = scores if is_trained_with else soft_cap(scores, CAP)
        shares.append(capped[-1].softmax(dim=-1)[0].item())  # the last letter sees all others
    return sum(shares) / len(shares)
