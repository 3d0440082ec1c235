"""Claims about one attention step: its scores, its masks, and rows that somebody printed."""

import torch
from torch import Tensor

from explainers.attention import masks
from explainers.attention.cross import cross_attention, read_source
from explainers.attention.multi_head import multi_head
from explainers.attention.receptive_field import cells, reach, window_reach
from explainers.attention.rules import Rule
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
from explainers.messages import N_
from explainers.toys.examples import make_generator, random_heads
from explainers.toys.layers import draw_layer
from explainers.toys.sentence import SENTENCE

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
    return judge_claim(holds, holds, off=off, apart=apart)


def variance_grows(head_dim: int) -> Finding:
    """Variance of dot products at one length, and at twice the length."""
    one, two = (_measured(length).variance[0] for length in (head_dim, 2 * head_dim))
    grows = 1.8 < two / one < 2.2
    return judge_claim(grows, grows, one=one, two=two, twice=2 * head_dim)


def root_brings_it_back(spread: float, head_dim: int = 64) -> Finding:
    """Entries with a standard deviation of 1, as the sentence silently takes them, or another."""
    variance = spread**4 * _measured(head_dim).variance[1]  # both factors are `spread` times larger
    return judge_claim(0.9 < variance < 1.1, False, variance=variance, head_dim=head_dim)


def one_token_takes_all(head_dim: int) -> Finding:
    """The largest weight of each row without the root."""
    largest = _measured(head_dim).largest[0]
    above = (largest > 0.99).float().mean().item()
    return judge_claim(above > 0.5, above == 1, mean=largest.mean().item(), above=f"{above:.0%}")


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
    return make_finding(verdict, **dict(zip(("query", "key", "value"), changes, strict=True)))


def _measured(head_dim: int) -> Measured:
    return measure(head_dim, KEYS, DRAWS, make_generator("claims", "scaling", head_dim))


WORDS = SENTENCE.split()


def causal_cells(words: int) -> Finding:
    """The cells that a causal mask leaves, counted; the sentence has seven words."""
    left = cells(masks.build(masks.causal, words, words))
    holds = (left, words**2) == (28, 49)
    return judge_claim(holds, holds, left=left, all=words**2, words=words)


def announced_is_third(counted_from: int) -> Finding:
    """Where the word stands, and which positions the causal mask shows it."""
    place = WORDS.index("announced")
    row = masks.build(masks.causal, len(WORDS), len(WORDS))[place]
    seen = [position + counted_from for position in row.nonzero().flatten().tolist()]
    holds = place + counted_from == 3 and seen == [0, 1, 2, 3]
    sees = ", ".join(map(str, seen))
    return judge_claim(holds, holds, place=place + counted_from, seen=sees, number=len(seen))


def windows_reach(layers: int, width: int) -> Finding:
    """Which words the last of seven has heard of, through windows stacked on each other."""
    mask = masks.build(masks.sliding_window(width), 7, 7)
    last = reach(mask, layers)[-1, -1]
    first = int(last.int().argmax())
    needed = next(n for n in range(1, 8) if window_reach(width, n) >= 6) if width > 1 else 0
    holds = first <= 1
    enough = N_("{count} layers", count=needed) if needed else N_("no number of layers")
    reached = window_reach(width, layers)
    return judge_claim(holds, holds, first=WORDS[first], reached=reached, enough=enough)


def another_sequence_needs_no_mask(words: int) -> Finding:
    """What earlier outputs change when the last written word is another one."""
    layer = random_heads(16, 2, 2, 8, seed=0)
    seeded = make_generator("claims", "cross", words)
    x, source = (torch.randn(n, 16, generator=seeded).to(layer.w_query.device) for n in (words, 7))
    other = x.clone()
    other[-1] = -x[-1]
    whole = masks.build(masks.full, 1, 7).to(x.device)

    def earlier(way: Rule | None) -> float:
        """The largest change of a word before the last."""
        outputs = []
        for text in (x, other):
            if way is None:
                outputs.append(cross_attention(text, read_source(source, layer), layer, whole))
            else:
                mask = masks.build(way, words, words).to(x.device)
                outputs.append(multi_head(text, layer, mask))
        return (outputs[0].output - outputs[1].output)[:-1].abs().max().item()

    cross, own, causal = earlier(None), earlier(masks.full), earlier(masks.causal)
    verdict = FAILS if cross > ROUNDING else CONDITION if own > ROUNDING else HOLDS
    return make_finding(verdict, cross=cross, own=own, causal=causal)


TUTORIAL_ROW = 0.186, 0.062, 0.155, 0.138, 0.183, 0.276
CAUSAL_ROW = 0.4123, 0.5877
PLUS_WORDS = "two", "plus", "three"
PLUS_ROW = 0.45, 0.10, 0.45
NUM_UNTRAINED = 100
"""How many untrained heads are tried."""


def row_of_seed_42(seed: int) -> Finding:
    """Six vectors of four numbers for Q, K and V, drawn one after the other as the claim says."""
    seeded = torch.Generator().manual_seed(seed)
    query, key, value = (torch.randn(1, 1, 6, 4, generator=seeded) for _ in range(3))
    row = attention(query, key, value, masks.build(masks.full, 6, 6)).weights[0, 0, 0]
    return make_finding(
        _compare_row(row, TUTORIAL_ROW), row=_format_row(row), claimed=_format_row(TUTORIAL_ROW)
    )


def row_of_a_causal_head(made_by: str) -> Finding:
    """d_model 8 and 4 tokens from seed 0; the claim leaves open in what order."""
    seeded = torch.Generator().manual_seed(0)
    drawn = [torch.randn(*sizes, generator=seeded) for sizes in CONSTRUCTIONS[made_by]]
    query, key, value = drawn if len(drawn) == 3 else [drawn[0] @ w for w in drawn[1:]]
    weights = attention(query, key, value, masks.build(masks.causal, 4, 4)).weights
    row = weights[1, :2]
    above = int((weights.triu(1) != 0).sum())
    verdict = _compare_row(row, CAUSAL_ROW)
    return make_finding(
        verdict, row=_format_row(row, 4), claimed=_format_row(CAUSAL_ROW, 4), above=above
    )


CONSTRUCTIONS = {"Q, K, V": [(4, 8)] * 3, "x, W_Q, W_K, W_V": [(4, 8)] + [(8, 8)] * 3}


def plus_looks_both_ways(head_dim: int) -> Finding:
    """The row of "plus" in many untrained heads, and in how many it is the claimed one."""
    rows = []
    for seed in range(NUM_UNTRAINED):
        x, head, mask = draw_layer(PLUS_WORDS, 8, 1, head_dim, "full", seed).single()
        rows.append(attention(x @ head.w_query, x @ head.w_key, x @ head.w_value, mask).weights[1])
    apart = (torch.stack(rows).cpu() - torch.tensor(PLUS_ROW)).abs().amax(dim=-1)
    nearest = _format_row(rows[int(apart.argmin())])
    hits = int((apart < 0.005).sum())
    verdict = HOLDS if hits == NUM_UNTRAINED else LOST
    return make_finding(verdict, hits=hits, seeds=NUM_UNTRAINED, nearest=nearest)


def width_of_gpt_4(d_model: int) -> Finding:
    """Three square matrices of this width; and whether the models' data know GPT-4's width."""
    from explainers.memory.model_shapes import list_model_ids

    numbers = 3 * d_model**2
    known = [name for name in list_model_ids() if name.startswith("gpt-4")]
    rounds = round(numbers / 1e6, -1) == 450
    verdict = FAILS if not rounds else HOLDS if known else LOST
    return make_finding(verdict, numbers=numbers, models=len(list_model_ids()))


def _compare_row(row: Tensor, claimed: tuple[float, ...]) -> str:
    apart = (row - torch.tensor(claimed)).abs().max().item()
    half_a_digit = 0.5 * 10.0 ** -max(len(f"{number}") - 2 for number in claimed)
    return HOLDS if apart <= half_a_digit else LOST


def _format_row(row: Tensor | tuple[float, ...], places: int = 3) -> str:
    return " ".join(f"{float(number):.{places}f}" for number in row)
