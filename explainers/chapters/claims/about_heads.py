"""Claims about many heads: their sizes, what trained ones do, and what one is worth."""

import torch

from explainers.attention import masks
from explainers.attention.dropout import drop
from explainers.attention.grouped_query import share, share_wrongly
from explainers.attention.multi_head import multi_head, parameters
from explainers.attention.scaled_dot_product import attention
from explainers.attention.single_head import single_head
from explainers.chapters.claims.claim_table import Finding, judge_among, judge_claim
from explainers.models.head_scores import HeadScores
from explainers.models.indexers import KEPT, ORACLE, OWN, PROSE, TWICE, read_indexers
from explainers.models.registry import WHEEL_MODELS
from explainers.models.replaced_heads import KINDS, MEAN, RESAMPLE, ZERO, find_costly
from explainers.models.shipped_measurements import read_ablations, read_shipped_scores
from explainers.toys.examples import make_generator, random_heads
from explainers.toys.layers import Configuration, draw_layer, load_heads, load_layer
from explainers.toys.sentence import SENTENCE
from explainers.toys.training import compute_mean_loss, draw_pool, make_task, reads_both
from explainers.ui.text.numbers import NO_WORSE, judge_rise, name_thresholds, write_percent

D_MODEL = 512
TOKENS = 7
ROUNDING = 1e-5
DROPS = 4_000


def four_squares(num_heads: int, biases: str) -> Finding:
    """The numbers of a real layer of this width, counted in its tensors."""
    layer = random_heads(D_MODEL, num_heads, num_heads, D_MODEL // num_heads, seed=0)
    matrices = layer.w_query, layer.w_key, layer.w_value, layer.w_output
    numbers = sum(matrix.numel() for matrix in matrices)
    numbers += sum(matrix.shape[-1] for matrix in matrices) if biases == "with biases" else 0
    return judge_claim(numbers == 4 * 512**2, numbers=numbers, square=4 * D_MODEL**2)


def heads_cost_one_head(head_dim: int) -> Finding:
    """Eight heads of this d_k against one head as wide as the model."""
    one = parameters(D_MODEL, 1, 1, D_MODEL)
    counts = {width: parameters(D_MODEL, 8, 8, width) for width in (32, 64, 128)}
    heads, as_many = counts[head_dim], {width: count == one for width, count in counts.items()}
    return judge_among(head_dim, as_many, heads=heads, one=one, times=heads / one)


def sharing_adds_nothing(num_kv_heads: int, compared_with: int) -> Finding:
    """The numbers of a layer of eight query heads, with one count of KV heads and another."""
    own, shared = (parameters(D_MODEL, 8, heads, 64) for heads in (compared_with, num_kv_heads))
    return judge_claim(shared <= own, own=own, shared=shared, saved=own - shared)


def interleave_is_right(way: str, num_kv_heads: int) -> Finding:
    """Both ways against heads that each are given their KV head by number."""
    seeded = make_generator("claims", "shared", num_kv_heads)
    size = 8 // num_kv_heads
    query = torch.randn(8, TOKENS, 4, generator=seeded)
    key, value = (torch.randn(num_kv_heads, TOKENS, 4, generator=seeded) for _ in range(2))
    mask = masks.build(masks.causal, TOKENS, TOKENS)
    right = torch.stack(
        [attention(query[n], key[n // size], value[n // size], mask).output for n in range(8)]
    )
    off = {
        name: (attention(query, by(key, size), by(value, size), mask).output - right).abs().max()
        for name, by in (("repeat_interleave", share), ("repeat", share_wrongly))
    }
    interleave, repeat = (apart.item() for apart in off.values())
    return judge_claim(bool(off[way] < ROUNDING), interleave=interleave, repeat=repeat)


SENTENCE_WORDS = tuple(SENTENCE.split())
VERB, SUBJECT, OBJECT = (SENTENCE_WORDS.index(word) for word in ("announced", "CEO", "earnings"))
UNTRAINED = 50
"""How many seeds of random weights are tried."""


def peaks_on_subject_and_object(weights: str, num_heads: int) -> Finding:
    """The two largest weights of "announced", over all heads: trained, and drawn at random."""
    wide = 64 // num_heads
    trained = [
        reads_both(
            load_heads(Configuration(num_heads, num_heads, wide, "full"), seed, "en"), "full"
        )
        for seed in (0, 1)
    ]
    random = 0
    for seed in range(UNTRAINED):
        layer = draw_layer(SENTENCE_WORDS, 8, 1, 4, "full", seed)
        top = single_head(*layer.single()).weights[VERB].topk(2).indices.tolist()
        random += sorted(top) == [SUBJECT, OBJECT]
    half = {"trained": 2 * sum(trained) >= len(trained), "untrained": 2 * random >= UNTRAINED}
    numbers = {"trained": sum(trained), "of": len(trained), "random": random}
    return judge_among(weights, half, untrained=UNTRAINED, **numbers)


def one_head_one_relation(num_heads: int) -> Finding:
    """Loss on held-out sentences of one head and of several, with as many parameters."""
    task = make_task(draw_pool(True, "en"), "full")
    with torch.no_grad():
        one, several = (
            compute_mean_loss(
                load_heads(Configuration(n, n, 64 // n, "full"), 0, "en"), task
            ).item()
            for n in (1, num_heads)
        )
    times = one / several
    return judge_claim(times > 5, one=one, several=several, times=times)


def attention_explains(num_heads: int, seed: int) -> Finding:
    """Per word: the one it looks at most, and the one whose absence changes its output most."""
    layer = load_layer(
        SENTENCE_WORDS, Configuration(num_heads, num_heads, 64 // num_heads, "full"), seed
    )
    run = multi_head(layer.x, layer.heads, layer.mask)
    looked = run.weights.mean(dim=-3).argmax(dim=-1).tolist()
    moved = []
    for gone in range(len(SENTENCE_WORDS)):
        mask = layer.mask.clone()
        mask[..., :, gone] = False
        mask[..., gone, gone] = True  # a word that may look at nothing has no row
        moved.append((multi_head(layer.x, layer.heads, mask).output - run.output).norm(dim=-1))
    needed = torch.stack(moved).argmax(dim=0).tolist()
    same = sum(a == b for a, b in zip(looked, needed, strict=True))
    return judge_claim(same == len(SENTENCE_WORDS), same=same, words=len(SENTENCE_WORDS))


def dropout_keeps_the_sum(probability: float) -> Finding:
    """The sum of a row of weights after dropout: in one draw, and on average over many."""
    weights = torch.full((1, 8), 1 / 8)
    seeded = make_generator("claims", "dropout", round(10 * probability))
    sums = torch.cat([drop(weights, probability, seeded).sum(dim=-1) for _ in range(DROPS)])
    farthest, mean = (sums - 1).abs().max().item(), sums.mean().item()
    return judge_claim(abs(mean - 1) < 0.05, farthest < ROUNDING, mean=mean, farthest=farthest)


DISPROPORTIONATE = 0.3


def first_token_gets_most(model: str) -> Finding:
    """In how many heads of a real model the first token gets more than 0.3 of the weight."""
    by_model = {
        one.id: _read_scores(one.id).select("natural", "first token") for one in WHEEL_MODELS
    }
    counts = {one: int((scores > DISPROPORTIONATE).sum()) for one, scores in by_model.items()}
    most = {one: 2 * count > by_model[one].numel() for one, count in counts.items()}
    return judge_among(model, most, given=counts[model], heads=by_model[model].numel())


def layers_get_sharper(first_token: str, model: str) -> Finding:
    """The most diffuse layer of a real model and the sharpest one, by mean entropy in prose."""
    score = {"counted": "entropy", "left out": "entropy without the first token"}[first_token]
    by_layer = _read_scores(model).select("natural", score).nanmean(dim=1)
    diffuse, sharp = int(by_layer.argmax()), int(by_layer.argmin())
    last = len(by_layer) - 1
    ends = diffuse == 0, sharp == last
    return judge_claim(any(ends), all(ends), diffuse=diffuse, sharp=sharp, last=last)


def _read_scores(model: str) -> HeadScores:
    shipped = read_shipped_scores(model)
    if shipped is None:
        raise ValueError(f"{model}: its scores did not come with the app")
    return shipped.scores


OTHERS = {"its mean": MEAN, "another passage": RESAMPLE}


def zeros_tell_what_a_head_is_worth(other: str, texts: int, agree: float) -> Finding:
    """Of the heads that zeros call costly: does another replacement confirm a share of `agree`?"""
    shares = {(name, count): _confirm(name, count) for name in OTHERS for count in (4, 8)}
    confirmed = {one: both >= agree * costly for one, (both, costly) in shares.items()}
    both, costly = shares[other, texts]
    share = write_percent(both / costly)
    return judge_among((other, texts), confirmed, costly=costly, both=both, share=share)


def _confirm(other: str, texts: int) -> tuple[int, int]:
    rises = read_ablations().ablations.rises[..., :texts]
    zero, found = (find_costly(rises[KINDS.index(kind)]) for kind in (ZERO, OTHERS[other]))
    return int((zero & found).sum()), int(zero.sum())


TEXTS = {"prose": PROSE, "the same text again": TWICE}


def few_keys_lose_nothing(kept: int, text: str) -> Finding:
    """The loss with the best keys and with all, here and with any number that was measured."""
    passage = read_indexers().passages[TEXTS[text]]
    rises = {
        count: loss - passage.full_loss
        for count, loss in zip(KEPT, passage.losses[ORACLE], strict=True)
    }
    is_free = {count: judge_rise(rise) == NO_WORSE for count, rise in rises.items()}
    loss, full = f"{passage.full_loss + rises[kept]:.3f}", f"{passage.full_loss:.3f}"
    return judge_among(kept, is_free, kept=kept, loss=loss, full=full, **name_thresholds())


def heads_need_their_own_keys(kept: int) -> Finding:
    """One set of keys for all heads, against a set for each: does a shared one cost more?"""
    shipped = read_indexers()
    shared = shipped.passages[PROSE].losses[ORACLE]
    rises = {count: shared[KEPT.index(count)] - shipped.numbers["own"][f"{count}"] for count in OWN}
    needs = {count: judge_rise(rise) != NO_WORSE for count, rise in rises.items()}
    own = shipped.numbers["own"][f"{kept}"]
    numbers = {"own": f"{own:.3f}", "shared": f"{own + rises[kept]:.3f}"}
    return judge_among(kept, needs, kept=kept, **numbers)
