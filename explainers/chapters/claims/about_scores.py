"""Claims about one attention step: its scores, its softmax, and rows that somebody printed."""

import torch
from torch import Tensor

from explainers.attention import masks
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
from explainers.toys.layers import draw_layer
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
    from explainers.models.families import Family, compare_scaling

    apart, unscaled = compare_scaling(Family("gpt2", "GPT2LMHeadModel"))
    same = {"as it is": apart, "without scaling": unscaled}[ours] < ROUNDING
    return judge_claim(same, same, apart=apart, unscaled=unscaled)


def variance_grows(head_dim: int, entries: str) -> Finding:
    """Variance of dot products at one length and at twice the length, of two kinds of vectors."""
    one, two = (_measure_variance(length, entries) for length in (head_dim, 2 * head_dim))
    grows = 1.8 < two / one < 2.2
    times = two / one
    return judge_claim(grows, grows, one=one, two=two, twice=2 * head_dim, times=times)


def _measure_variance(head_dim: int, entries: str) -> float:
    """Of vectors whose entries are independent, or all alike."""
    if entries == "independent":
        return _measured(head_dim).variance[0]
    seeded = make_generator("claims", "alike", head_dim)
    query, key = (torch.randn(DRAWS, 1, generator=seeded).expand(-1, head_dim) for _ in range(2))
    return (query * key).sum(dim=-1).var().item()


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


def products_in_the_hundreds(head_dim: int) -> Finding:
    """How large dot products of independent entries with variance 1 are."""
    products = random_scores(
        head_dim, 1, DRAWS, make_generator("claims", "products", head_dim)
    ).products
    spread, largest = products.std().item(), products.abs().max().item()
    return judge_claim(largest >= 100, spread >= 100, spread=spread, largest=largest, draws=DRAWS)


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


TUTORIAL_ROW = 0.186, 0.062, 0.155, 0.138, 0.183, 0.276
CAUSAL_ROW = 0.4123, 0.5877
PLUS_WORDS = "two", "plus", "three"
PLUS_ROW = 0.45, 0.10, 0.45
NUM_UNTRAINED = 100
"""How many untrained heads are tried."""


def row_of_seed_42(seed: int, claimed: tuple[float, ...] = TUTORIAL_ROW) -> Finding:
    """Six vectors of four numbers for Q, K and V, drawn one after the other as the claim says."""
    seeded = torch.Generator().manual_seed(seed)
    query, key, value = (torch.randn(1, 1, 6, 4, generator=seeded) for _ in range(3))
    row = attention(query, key, value, masks.build(masks.full, 6, 6)).weights[0, 0, 0]
    # All that is drawn is said: what comes out can be compared, unlike in the next claims.
    verdict = HOLDS if _is_row(row, claimed) else FAILS
    return make_finding(verdict, row=_format_row(row), claimed=_format_row(claimed))


def row_of_a_causal_head(made_by: str, claimed: tuple[float, ...] = CAUSAL_ROW) -> Finding:
    """d_model 8 and 4 tokens from seed 0; the claim leaves open in what order."""
    seeded = torch.Generator().manual_seed(0)
    drawn = [torch.randn(*sizes, generator=seeded) for sizes in CONSTRUCTIONS[made_by]]
    query, key, value = drawn if len(drawn) == 3 else [drawn[0] @ w for w in drawn[1:]]
    weights = attention(query, key, value, masks.build(masks.causal, 4, 4)).weights
    row = weights[1, :2]
    above = int((weights.triu(1) != 0).sum())
    verdict = HOLDS if _is_row(row, claimed) else LOST
    return make_finding(
        verdict, row=_format_row(row, 4), claimed=_format_row(claimed, 4), above=above
    )


CONSTRUCTIONS = {"Q, K, V": [(4, 8)] * 3, "x, W_Q, W_K, W_V": [(4, 8)] + [(8, 8)] * 3}


def plus_looks_both_ways(head_dim: int, claimed: tuple[float, ...] = PLUS_ROW) -> Finding:
    """The row of "plus" in many untrained heads, and in how many it is the claimed one."""
    rows = []
    for seed in range(NUM_UNTRAINED):
        x, head, mask = draw_layer(PLUS_WORDS, 8, 1, head_dim, "full", seed).single()
        rows.append(attention(x @ head.w_query, x @ head.w_key, x @ head.w_value, mask).weights[1])
    apart = (torch.stack(rows).cpu() - torch.tensor(claimed)).abs().amax(dim=-1)
    nearest = _format_row(rows[int(apart.argmin())])
    hits = int((apart < 0.005).sum())
    verdict = HOLDS if hits == NUM_UNTRAINED else CONDITION if hits else LOST
    return make_finding(verdict, hits=hits, seeds=NUM_UNTRAINED, nearest=nearest)


def width_of_gpt_4(d_model: int) -> Finding:
    """Three square matrices of this width; and whether the models' data know GPT-4's width."""
    from explainers.memory.model_shapes import list_model_ids

    numbers = 3 * d_model**2
    known = [name for name in list_model_ids() if name.startswith("gpt-4")]
    rounds = round(numbers / 1e6, -1) == 450
    verdict = FAILS if not rounds else HOLDS if known else LOST
    return make_finding(verdict, numbers=numbers, models=len(list_model_ids()))


def _is_row(row: Tensor, claimed: tuple[float, ...]) -> bool:
    apart = (row - torch.tensor(claimed)).abs().max().item()
    half_a_digit = 0.5 * 10.0 ** -max(len(f"{number}") - 2 for number in claimed)
    return apart <= half_a_digit


def _format_row(row: Tensor | tuple[float, ...], places: int = 3) -> str:
    return " ".join(f"{float(number):.{places}f}" for number in row)
