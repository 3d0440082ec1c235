"""Claims about scores and weights: one step, rows somebody printed, weight that nobody needs."""

import torch

from explainers.attention import masks
from explainers.attention.bounded_scores import soft_cap
from explainers.attention.scaled_dot_product import attention
from explainers.attention.scaling import Measured, gradient_size, measure, random_scores
from explainers.attention.steps import hide, softmax
from explainers.chapters.claims.claim_table import (
    CONDITION,
    FAILS,
    HOLDS,
    LOST,
    Finding,
    judge_claim,
    make_finding,
)
from explainers.toys.examples import make_generator
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

ROUNDING = 1e-5
DRAWS = 4_000
KEYS = 7


def rows_sum_to_one(head_dim: int, numbers: str) -> Finding:
    """The function, and torch's own on the same numbers, of 32 or of 16 bits."""
    seeded = make_generator("claims", "rows", head_dim)
    dtype = {"float32": torch.float32, "bfloat16": torch.bfloat16}[numbers]
    query, key, value = (torch.randn(KEYS, head_dim, generator=seeded).to(dtype) for _ in range(3))
    mask = masks.build(masks.causal, KEYS, KEYS)
    ours = attention(query, key, value, mask)
    theirs = torch.nn.functional.scaled_dot_product_attention(query, key, value, mask)
    off = (ours.weights.double().sum(dim=-1) - 1).abs().max().item()
    apart = (ours.output - theirs).abs().max().item()
    holds = off < ROUNDING and apart < ROUNDING
    return judge_claim(holds, holds, off=off, apart=apart)


def same_output_as_gpt_2(ours: str) -> Finding:
    """A small untrained GPT-2 with the function of these pages inside, and with its own."""
    from explainers.models.comparison import compare_scaling

    apart, unscaled = compare_scaling()
    same = {"as it is": apart, "without scaling": unscaled}[ours] < ROUNDING
    return judge_claim(same, same, apart=apart, unscaled=unscaled)


SPREADS = 0.5, 1.0, 1.5, 2.0


def root_brings_it_back(
    spread: float, head_dim: int = 64, tried: tuple[float, ...] = SPREADS
) -> Finding:
    """Entries with a standard deviation of 1, as the sentence silently takes them, or another."""
    measured = _measured(head_dim).variance[1]
    variances = {one: one**4 * measured for one in (spread, *tried)}  # both factors are larger
    back = {one: 0.9 < variance < 1.1 for one, variance in variances.items()}
    return judge_claim(
        back[spread],
        all(back.values()),
        variance=variances[spread],
        head_dim=head_dim,
        back=sum(back[one] for one in tried),
        tried=len(tried),
    )


def one_token_takes_all(head_dim: int) -> Finding:
    """The largest weight of each row without the root."""
    largest = _measured(head_dim).largest[0]
    above = (largest > 0.99).float().mean().item()
    return judge_claim(
        above > 0.5, above == 1, mean=largest.mean().item(), above=write_percent(above)
    )


def hidden_is_exactly_zero(allowed: int) -> Finding:
    """A row in which the mask leaves so many of seven scores."""
    scores = torch.randn(1, KEYS, generator=make_generator("claims", "hidden"))
    mask = torch.arange(KEYS)[None] < allowed
    weights = softmax(hide(scores, mask))
    nans = int(weights.isnan().sum())
    zero = nans == 0 and bool((weights[~mask] == 0).all())
    largest = weights[~mask].max().item() if allowed < KEYS else 0.0
    return judge_claim(zero, zero, nans=nans, largest=largest, left=allowed)


def gradient_vanishes(head_dim: int) -> Finding:
    """The softmax's gradient without the root against the one with it."""
    without, rooted = _measured(head_dim).gradient
    seeded = make_generator("claims", "scaling", head_dim)
    sizes = gradient_size(random_scores(head_dim, KEYS, DRAWS, seeded).products)
    gone = (sizes == 0).float().mean().item()
    smaller = rooted / without
    return judge_claim(
        smaller > 1.5,
        gone == 1,
        without=without,
        rooted=rooted,
        smaller=smaller,
        gone=write_percent(gone, 1),
    )


def biases_do_not_matter(left_out: str, seed: int) -> Finding:
    """The output with a bias on the queries, on the keys, on the values, and with none."""
    seeded = make_generator("claims", "biases", seed)
    query, key, value = (torch.randn(KEYS, 8, generator=seeded) for _ in range(3))
    biases = [torch.randn(8, generator=seeded) for _ in range(3)]
    mask = masks.build(masks.full, KEYS, KEYS)
    plain = attention(query, key, value, mask).output
    outputs = {
        "queries": attention(query + biases[0], key, value, mask).output,
        "keys": attention(query, key + biases[1], value, mask).output,
        "values": attention(query, key, value + biases[2], mask).output,
    }
    changes = {of: (output - plain).abs().max().item() for of, output in outputs.items()}
    free = [changes[of] < ROUNDING for of in changes if left_out in (of, "all")]
    verdict = HOLDS if all(free) else CONDITION if any(free) else FAILS
    return make_finding(verdict, **changes)


ADDED = 1, 100, 10_000, 100_000_000


def shift_changes_nothing(added: int) -> Finding:
    """The weights of a row before and after the same number is added to all its scores."""
    scores = torch.randn(1, KEYS, generator=make_generator("claims", "shift"))
    moved = {
        one: (softmax(scores + one) - softmax(scores)).abs().max().item() for one in (added, *ADDED)
    }
    still = [one < ROUNDING for one in moved.values()]
    return judge_claim(still[0], all(still), added=added, moved=moved[added])


def _measured(head_dim: int) -> Measured:
    return measure(head_dim, KEYS, DRAWS, make_generator("claims", "scaling", head_dim))


def width_of_gpt_4(d_model: int) -> Finding:
    """Three square matrices of this width; and whether the models' data know GPT-4's width."""
    from explainers.memory.model_shapes import list_model_ids

    numbers = 3 * d_model**2
    known = [name for name in list_model_ids() if name.startswith("gpt-4")]
    rounds = round(numbers / 1e6, -1) == 450
    verdict = FAILS if not rounds else HOLDS if known else LOST
    return make_finding(verdict, numbers=numbers, models=len(list_model_ids()))


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
