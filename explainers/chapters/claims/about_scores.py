"""Claims about scores and places: what rows sum to, who sees whom, what becomes of an order."""

import torch
from torch import Tensor

from explainers.attention import masks
from explainers.attention.bounded_scores import soft_cap
from explainers.attention.decoder_block import cross_attention, read_source
from explainers.attention.multi_head import multi_head
from explainers.attention.positions import reorder
from explainers.attention.receptive_field import reach, window_reach
from explainers.attention.rotary import angles, rotate
from explainers.attention.rules import Rule
from explainers.attention.scaled_dot_product import attention
from explainers.attention.scaling import Measured, gradient_size, measure, random_scores
from explainers.attention.steps import hide, softmax
from explainers.chapters.claims.claim_table import (
    FAILS,
    HOLDS,
    LOST,
    Finding,
    judge_among,
    judge_claim,
    make_finding,
)
from explainers.messages import N_
from explainers.toys.examples import make_generator, random_head, random_heads, shuffle_order
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
from explainers.toys.rotary_layers import FURTHER, LENGTHS, PI, PLAIN, ROTARY, read_longer_results
from explainers.toys.sentence import SENTENCE
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
    return judge_claim(off < ROUNDING and apart < ROUNDING, off=off, apart=apart)


def same_output_as_gpt_2(ours: str) -> Finding:
    """A small untrained GPT-2 with the function of these pages inside, and with its own."""
    from explainers.models.comparison import compare_scaling

    apart, unscaled = compare_scaling()
    same = {"as it is": apart, "without scaling": unscaled}[ours] < ROUNDING
    return judge_claim(same, apart=apart, unscaled=unscaled)


def root_brings_it_back(spread: float) -> Finding:
    """Entries with a standard deviation of 1, as the sentence silently takes them, or another."""
    measured = _measured(HEAD_DIM).variance[1]
    variances = {one: one**4 * measured for one in (0.5, 1.0, 1.5, 2.0)}  # both factors are larger
    back = {one: 0.9 < variance < 1.1 for one, variance in variances.items()}
    counts = {"back": sum(back.values()), "tried": len(back)}
    return judge_among(spread, back, variance=variances[spread], head_dim=HEAD_DIM, **counts)


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
    return judge_claim(zero, nans=nans, largest=largest, left=allowed)


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
    return judge_claim(any(free), all(free), **changes)


def shift_changes_nothing(added: int) -> Finding:
    """The weights of a row before and after the same number is added to all its scores."""
    scores = torch.randn(1, KEYS, generator=make_generator("claims", "shift"))
    moved = {
        one: (softmax(scores + one) - softmax(scores)).abs().max().item()
        for one in (1, 100, 10_000, 100_000_000)
    }
    still = {one: change < ROUNDING for one, change in moved.items()}
    return judge_among(added, still, added=added, moved=moved[added])


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
    return judge_among(beside, takes, nowhere=nowhere, first=first)


def idle_heads_spread(batches: int) -> Finding:
    """The largest weight of the last letters that need nothing, before and after training."""
    [stage] = [one for one in load_film(FIRST) if one.batches == batches]
    row = stage.weights[-1]  # d comes after no trigger
    largest, even = max(row), 1 / len(row)
    shares = {"largest": write_percent(largest), "even": write_percent(even)}
    return judge_claim(largest < 3 * even, **shares)


FROM_START, AFTERWARDS = "from the first batch on", "after training"
MOST = 0.5
"""What has less of the weight than this has lost it."""


def cap_empties_first(capped: str) -> Finding:
    """What the first token keeps of the last letter's weight if scores are capped; five seeds."""
    kept = {FROM_START: _keep_under_cap(True), AFTERWARDS: _keep_under_cap(False)}
    empties = {when: share < MOST for when, share in kept.items()}
    return judge_among(capped, empties, first=write_percent(kept[capped]), cap=f"{CAP:g}")


@torch.no_grad()
def _keep_under_cap(is_trained_with: bool) -> float:
    setting, shares = name_setting(FIRST, SOFT_CAP) if is_trained_with else FIRST, []
    for seed in IDLE_SEEDS:
        scores = read_rows(load_idle_head(setting, seed), setting, encode(spell(setting))).scores
        capped = scores if is_trained_with else soft_cap(scores, CAP)
        shares.append(capped[-1].softmax(dim=-1)[0].item())  # the last letter sees all others
    return sum(shares) / len(shares)


WORDS = SENTENCE.split()


def windows_reach(layers: int, width: int) -> Finding:
    """Which words the last of seven has heard of, through windows stacked on each other."""
    mask = masks.build(masks.sliding_window(width), 7, 7)
    last = reach(mask, layers)[-1, -1]
    first = int(last.int().argmax())
    needed = next(n for n in range(1, 8) if window_reach(width, n) >= 6) if width > 1 else 0
    enough = N_("{count} layers", count=needed) if needed else N_("no number of layers")
    reached = window_reach(width, layers)
    return judge_claim(first <= 1, first=WORDS[first], reached=reached, enough=enough)


def another_sequence_needs_no_mask(looked_at: str, words: int) -> Finding:
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

    changes = {"cross-attention": earlier(None), "self-attention": earlier(masks.full)}
    free = {of: change < ROUNDING for of, change in changes.items()}
    cross, own = changes.values()
    return judge_among(looked_at, free, cross=cross, own=own, causal=earlier(masks.causal))


def order_is_lost(mask: str) -> Finding:
    """A shuffled text against the text, word by word, if no word knows its place."""
    apart = {name: _measure_reorder(masks.RULES[name]) for name in ("full", "causal")}
    same = {name: one < ROUNDING for name, one in apart.items()}
    return judge_among(mask, same, **apart)


def _measure_reorder(rule: Rule) -> float:
    head = random_head(16, 8, 8, seed=0)
    x = torch.randn(7, 16, generator=make_generator("claims", "order")).to(head.w_query.device)
    mask = masks.build(rule, 7, 7).to(x.device)
    before, after = reorder(x, torch.zeros_like(x), head, mask, shuffle_order(7))
    return (before - after).abs().max().item()


HEAD_DIM, LONGEST = 64, 10_000.0


def rotation_sees_distance(moved_by: int) -> Finding:
    """Scores of two words three places apart, and of the same words farther on in a text."""
    query, key = torch.randn(2, 1, HEAD_DIM, generator=make_generator("claims", "rotary"))
    first = _score_rotated(query, key, 3, 0)
    later = {by: _score_rotated(query, key, 3 + by, by) for by in (1, 100, 10_000, 1_000_000)}
    apart = {by: abs(first - score) for by, score in later.items()}
    same = {by: one < 1e-3 for by, one in apart.items()}
    return judge_among(moved_by, same, first=first, later=later[moved_by], apart=apart[moved_by])


def _score_rotated(query: Tensor, key: Tensor, query_pos: int, key_pos: int) -> float:
    places = torch.tensor([query_pos, key_pos], dtype=torch.float32)
    turn = angles(places, HEAD_DIM, LONGEST)
    score = rotate(query, turn[:1]) @ rotate(key, turn[1:]).mT / HEAD_DIM**0.5
    return score.item()


def rotation_fades(vectors: str) -> Finding:
    """The size of scores of neighbours and of words 500 places apart, over many pairs."""
    shrunk = {kind: _measure_fading(kind) for kind in ("alike", "independent")}
    fades = {kind: far < near / 2 for kind, (near, far) in shrunk.items()}
    near, far = shrunk[vectors]
    return judge_among(vectors, fades, near=near, far=far, times=far / near)


def _measure_fading(kind: str) -> tuple[float, float]:
    query, other = torch.randn(2, 500, 1, HEAD_DIM, generator=make_generator("claims", "fading"))
    key = query if kind == "alike" else other
    sizes = []
    for distance in (1, 500):
        turn = angles(torch.tensor([distance, 0.0]), HEAD_DIM, LONGEST)
        scores = (rotate(query, turn[:1]) * rotate(key, turn[1:])).sum(dim=-1) / HEAD_DIM**0.5
        sizes.append(scores.square().mean().sqrt().item())
    return sizes[0], sizes[1]


def interpolation_is_free(further: int) -> Finding:
    """Losses at four times the trained length: as trained, and interpolated after more batches."""
    found = read_longer_results()
    plain, *losses = (
        found[ROTARY, way, batches].average(LENGTHS[-1])[0]
        for way, batches in ((PLAIN, 0), (PI, 0), (PI, FURTHER))
    )
    extends = {batches: loss < plain for batches, loss in zip((0, FURTHER), losses, strict=True)}
    numbers = {"plain": plain, "free": losses[0], "trained": losses[1], "batches": FURTHER}
    lengths = {"short": LENGTHS[0], "long": LENGTHS[-1]}
    return judge_among(further, extends, **numbers, **lengths)
