"""Claims about long texts: kinds of attention made for them, and memories of fixed size."""

import torch
from torch import Tensor
from torch.nn.functional import elu, normalize

from explainers.attention import masks
from explainers.attention.bounded_scores import capped_attention
from explainers.attention.linear import read_state, write_delta, write_sum
from explainers.attention.receptive_field import cells
from explainers.attention.scaled_dot_product import attention
from explainers.attention.sinks_and_gates import attention_with_sinks
from explainers.attention.tiled import tile_cells, tiled_attention
from explainers.chapters.claims.claim_table import Finding, judge_among, judge_claim
from explainers.toys.examples import make_generator
from explainers.ui.text.numbers import write_percent

TOKENS = 7
ROUNDING = 1e-5
HEAD_DIM = 8
BLOCK = 16


def time_and_space(tokens: int) -> Finding:
    """What doubles and what grows fourfold when a text gets twice as long; sizes of real tensors.

    Both ways compute the same output; in tiles never more than one tile of scores exists.
    """
    once, twice = _count_held_numbers(tokens), _count_held_numbers(2 * tokens)
    plain, tiled = twice[0] / once[0], twice[1] / once[1]
    seeded = make_generator("claims", "tiles", tokens)
    query, key, value = (torch.randn(tokens, HEAD_DIM, generator=seeded) for _ in range(3))
    whole = attention(query, key, value, masks.build(masks.causal, tokens, tokens)).output
    tiles = tiled_attention(query, key, value, masks.causal, BLOCK, BLOCK)
    apart = (tiles - whole).abs().max().item()
    return judge_claim(3 < plain <= 4, tiled > 2, plain=plain, tiled=tiled, apart=apart)


def _count_held_numbers(tokens: int) -> tuple[int, int]:
    """Numbers that exist at once beside Q, K and V: plain, and in tiles."""
    x = torch.zeros(tokens, HEAD_DIM)
    whole = attention(x, x, x, masks.build(masks.full, tokens, tokens))
    plain = whole.weights.numel() + whole.output.numel()
    return plain, BLOCK**2 + whole.output.numel()


def tiles_are_exact(numbers: str) -> Finding:
    """The output in tiles against attention's own, in numbers of 32 or of 16 bits."""
    seeded = make_generator("claims", "exact")
    dtype = {"float32": torch.float32, "bfloat16": torch.bfloat16}[numbers]
    query, key, value = (torch.randn(128, HEAD_DIM, generator=seeded).to(dtype) for _ in range(3))
    whole = attention(query, key, value, masks.build(masks.causal, 128, 128)).output
    tiles = tiled_attention(query, key, value, masks.causal, BLOCK, BLOCK)
    apart = (tiles - whole).abs().max().item()
    return judge_claim(apart < ROUNDING, apart=apart)


def tiles_save_work(mask: str, tokens: int) -> Finding:
    """Scores that are computed in tiles, empty tiles left out, against all n² scores.

    The sentence names no mask: what only one of them saves is a condition.
    """
    computed = {rule: _count_computed(rule, tokens) for rule in ("full", "causal")}
    every, here = tokens**2, computed[mask]
    saves = {rule: one < every for rule, one in computed.items()}
    share = write_percent(here / every)
    return judge_among(mask, saves, computed=here, every=every, share=share)


def _count_computed(mask: str, tokens: int) -> int:
    allowed = tile_cells(masks.RULES[mask], tokens, tokens, BLOCK, BLOCK)
    return int((allowed > 0).sum()) * BLOCK**2


def windows_are_linear(window: int, tokens: int) -> Finding:
    """Cells of a sliding window at one length of text, and at twice the length."""
    rule = masks.sliding_window(window)
    once, twice = (cells(masks.build(rule, n, n)) for n in (tokens, 2 * tokens))
    times = twice / once
    return judge_claim(times < 2.2, once=once, twice=twice, times=times)


# Newer kinds of attention


def linear_is_the_same(compared_with: str) -> Finding:
    """Linear attention, which keeps one matrix, against softmax and against its own weights.

    Weights are products of elu(x) + 1 (Katharopoulos et al. 2020, section 3.2).
    """
    seeded = make_generator("claims", "linear")
    query, key, value = (torch.randn(TOKENS, HEAD_DIM, generator=seeded) for _ in range(3))
    mask = masks.build(masks.causal, TOKENS, TOKENS)
    features = [elu(one) + 1 for one in (query, key)]
    kept, total, rows = torch.zeros(HEAD_DIM, HEAD_DIM), torch.zeros(HEAD_DIM), []
    for asks, offers, word in zip(*features, value, strict=True):
        kept, total = kept + offers[:, None] * word, total + offers
        rows.append(asks @ kept / (asks @ total))
    products = (features[0] @ features[1].mT) * mask
    own = products / products.sum(dim=-1, keepdim=True) @ value
    others = {"softmax": attention(query, key, value, mask).output, "its own weights": own}
    apart = {of: (torch.stack(rows) - other).abs().max().item() for of, other in others.items()}
    softmax, by_products = apart.values()
    return judge_claim(
        apart[compared_with] < ROUNDING, softmax=softmax, own=by_products, kept=kept.numel()
    )


def delta_rule_overwrites(rate: float) -> Finding:
    """What is read back of a key that was written twice; the rule of Schlag et al. (2021)."""
    left = {one: _write_twice(one) for one in (0.25, 0.5, 1.0)}
    newest = {one: off < ROUNDING for one, off in left.items()}
    return judge_among(rate, newest, left=left[rate], plain=_write_twice(None))


def _write_twice(rate: float | None) -> float:
    """How far from the newest value, as a share of the old one; without a rate values add up."""
    seeded = make_generator("claims", "delta")
    key, old, new = normalize(torch.randn(3, HEAD_DIM, generator=seeded))
    state, one = torch.zeros(HEAD_DIM, HEAD_DIM), torch.tensor(1.0)
    for value in (old, new):
        if rate is None:
            state = write_sum(state, key, value)
        else:
            state = write_delta(state, key, value, torch.tensor(rate), one)
    return (read_state(state, key) - new).norm().item()


def sink_keeps_the_sum(sink: int) -> Finding:
    """The sum of a row whose head may also look at nothing, with this score or with others."""
    totals = {one: _add_up_with_sink(one) for one in (-100, 0, 2)}
    kept = {one: abs(total - 1) < ROUNDING for one, total in totals.items()}
    return judge_among(sink, kept, total=totals[sink], sunk=1 - totals[sink])


def _add_up_with_sink(sink: int) -> float:
    seeded = make_generator("claims", "sink")
    query, key, value = torch.randn(3, 1, TOKENS, HEAD_DIM, generator=seeded)
    mask = masks.build(masks.full, TOKENS, TOKENS)
    looked = attention_with_sinks(query, key, value, mask, torch.tensor([float(sink)]))
    return looked.weights.sum(dim=-1).mean().item()


def cap_keeps_shares_apart(cap: int) -> Finding:
    """The largest weight where one score of seven is far above the others, with a cap."""
    query = torch.full((1, HEAD_DIM), 20.0)
    key = torch.cat([query, torch.zeros(TOKENS - 1, HEAD_DIM)])
    mask = torch.ones(1, TOKENS, dtype=torch.bool)
    capped = capped_attention(query, key, key, mask, cap)
    largest, score = capped.weights.max().item(), capped.scores.max().item()
    return judge_claim(largest < 0.99, largest=largest, score=score)


DIM, PAIRS, TEXTS = 16, 32, 50
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
    return judge_among(keys, is_more, pairs=PAIRS, **numbers)


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
    return judge_among(keys, is_exact, dim=DIM, right=exact, random=rough)


def _measure_error(kind: str, pairs: int) -> float:
    """The largest error of a value that is read back; more keys than 16 repeat their directions."""
    seeded = make_generator("claims", "side", kind, pairs)
    keys = normalize(torch.randn(pairs, DIM, generator=seeded), dim=-1)
    if kind == RIGHT_ANGLES:
        keys[:DIM] = torch.linalg.qr(keys[:DIM].T).Q.T[: len(keys)]
    values = torch.randn(pairs, DIM, generator=seeded)
    state = _write_both(keys, values)[0]
    return (read_state(state, keys) - values).abs().max().item()
