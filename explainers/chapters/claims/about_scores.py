"""Claims about scores and softmax: rows, variances, √d_k, −∞, biases."""

import torch

from explainers.attention import masks
from explainers.attention.scaled_dot_product import attention
from explainers.attention.scaling import Measured, gradient_size, measure, random_scores
from explainers.attention.steps import hide, softmax
from explainers.chapters.claims.finding import CONDITION, FAILS, HOLDS, Finding, found, judged
from explainers.toys.examples import make_generator

ROUNDING = 1e-5
DRAWS = 4_000
KEYS = 7


def rows_sum_to_one(head_dim: int) -> Finding:
    """The function, and torch's own on the same numbers."""
    seeded = make_generator("claims", "rows", head_dim)
    query, key, value = (torch.randn(KEYS, head_dim, generator=seeded) for _ in range(3))
    mask = masks.build(masks.causal, KEYS, KEYS)
    ours = attention(query, key, value, mask)
    theirs = torch.nn.functional.scaled_dot_product_attention(query, key, value, mask)
    off = (ours.weights.sum(dim=-1) - 1).abs().max().item()
    apart = (ours.output - theirs).abs().max().item()
    holds = off < ROUNDING and apart < ROUNDING
    return judged(holds, holds, off=off, apart=apart)


def variance_grows(head_dim: int) -> Finding:
    """Variance of dot products at one length, and at twice the length."""
    one, two = (_measured(length).variance[0] for length in (head_dim, 2 * head_dim))
    grows = 1.8 < two / one < 2.2
    return judged(grows, grows, one=one, two=two, twice=2 * head_dim)


def root_brings_it_back(spread: float, head_dim: int = 64) -> Finding:
    """Entries with a standard deviation of 1, as the sentence silently takes them, or another."""
    variance = spread**4 * _measured(head_dim).variance[1]  # both factors are `spread` times larger
    return judged(0.9 < variance < 1.1, False, variance=variance, head_dim=head_dim)


def one_token_takes_all(head_dim: int) -> Finding:
    """The largest weight of each row without the root."""
    largest = _measured(head_dim).largest[0]
    above = (largest > 0.99).float().mean().item()
    return judged(above > 0.5, above == 1, mean=largest.mean().item(), above=f"{above:.0%}")


def products_in_the_hundreds(head_dim: int) -> Finding:
    """How large dot products of independent entries with variance 1 are."""
    products = random_scores(
        head_dim, 1, DRAWS, make_generator("claims", "products", head_dim)
    ).products
    spread, largest = products.std().item(), products.abs().max().item()
    return judged(largest >= 100, spread >= 100, spread=spread, largest=largest, draws=DRAWS)


def hidden_is_exactly_zero(allowed: int) -> Finding:
    """A row in which the mask leaves so many of seven scores."""
    scores = torch.randn(1, KEYS, generator=make_generator("claims", "hidden"))
    mask = torch.arange(KEYS)[None] < allowed
    weights = softmax(hide(scores, mask))
    nans = int(weights.isnan().sum())
    zero = nans == 0 and bool((weights[~mask] == 0).all())
    largest = weights[~mask].max().item() if allowed < KEYS else 0.0
    return judged(zero, zero, nans=nans, largest=largest, left=allowed)


def gradient_vanishes(head_dim: int) -> Finding:
    """The softmax's gradient without the root against the one with it."""
    without, rooted = _measured(head_dim).gradient
    seeded = make_generator("claims", "scaling", head_dim)
    sizes = gradient_size(random_scores(head_dim, KEYS, DRAWS, seeded).products)
    gone = (sizes == 0).float().mean().item()
    smaller = rooted / without
    return judged(
        smaller > 1.5,
        gone == 1,
        without=without,
        rooted=rooted,
        smaller=smaller,
        gone=f"{gone:.1%}",
    )


def biases_do_not_matter(seed: int) -> Finding:
    """The output with a bias on the queries, on the keys, on the values, and with none."""
    seeded = make_generator("claims", "biases", seed)
    query, key, value = (torch.randn(KEYS, 8, generator=seeded) for _ in range(3))
    biases = [torch.randn(8, generator=seeded) for _ in range(3)]
    mask = masks.build(masks.full, KEYS, KEYS)
    plain = attention(query, key, value, mask).output
    outputs = (
        attention(query + biases[0], key, value, mask).output,
        attention(query, key + biases[1], value, mask).output,
        attention(query, key, value + biases[2], mask).output,
    )
    changes = [(output - plain).abs().max().item() for output in outputs]
    free = [change < ROUNDING for change in changes]
    verdict = HOLDS if all(free) else CONDITION if any(free) else FAILS
    return found(verdict, **dict(zip(("query", "key", "value"), changes, strict=True)))


def _measured(head_dim: int) -> Measured:
    return measure(head_dim, KEYS, DRAWS, make_generator("claims", "scaling", head_dim))
