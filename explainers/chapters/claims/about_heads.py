"""Claims about many heads: their sizes, shared keys and values, and what trained heads do."""

import torch

from explainers.attention import masks
from explainers.attention.grouped_query import share, share_wrongly
from explainers.attention.multi_head import merge_heads, multi_head, parameters, split_heads
from explainers.attention.scaled_dot_product import attention
from explainers.attention.single_head import single_head
from explainers.chapters.claims.claim_table import (
    CONDITION,
    FAILS,
    HOLDS,
    Finding,
    judge_claim,
    make_finding,
)
from explainers.messages import N_
from explainers.toys.examples import make_generator, random_heads
from explainers.toys.layers import Configuration, draw_layer, load_heads, load_layer
from explainers.toys.sentence import SENTENCE
from explainers.toys.training import compute_mean_loss, draw_pool
from explainers.toys.training_report import reads_both

D_MODEL = 512
TOKENS = 7
ROUNDING = 1e-5


def four_squares(num_heads: int, biases: str) -> Finding:
    """The numbers of a real layer of this width, counted in its tensors."""
    layer = random_heads(D_MODEL, num_heads, num_heads, D_MODEL // num_heads, seed=0)
    matrices = layer.w_query, layer.w_key, layer.w_value, layer.w_output
    numbers = sum(matrix.numel() for matrix in matrices)
    numbers += sum(matrix.shape[-1] for matrix in matrices) if biases == "with biases" else 0
    holds = numbers == 4 * 512**2
    return judge_claim(holds, holds, numbers=numbers, square=4 * D_MODEL**2)


def heads_cost_one_head(head_dim: int) -> Finding:
    """Eight heads of this d_k against one head as wide as the model."""
    heads, one = parameters(D_MODEL, 8, 8, head_dim), parameters(D_MODEL, 1, 1, D_MODEL)
    holds = heads == one
    return judge_claim(holds, False, heads=heads, one=one, times=heads / one)


def splitting_copies_nothing(num_heads: int) -> Finding:
    """Where the numbers lie in memory before and after splitting, and after merging."""
    x = torch.zeros(TOKENS, D_MODEL)
    heads = split_heads(x, D_MODEL // num_heads)
    per_head = heads.contiguous()  # as attention gives it: a tensor of its own, head by head
    splits = heads.data_ptr() != x.data_ptr()
    merges = merge_heads(per_head).data_ptr() != per_head.data_ptr()
    copied = {False: N_("no number"), True: N_("{count:,} numbers", count=x.numel())}
    return judge_claim(not splits, not splits, split=copied[splits], merged=copied[merges])


def sharing_adds_nothing(num_kv_heads: int) -> Finding:
    """The numbers of a layer of eight query heads, with as many KV heads and with fewer."""
    own, shared = (parameters(D_MODEL, 8, kv_heads, 64) for kv_heads in (8, num_kv_heads))
    return judge_claim(shared <= own, shared <= own, own=own, shared=shared, saved=own - shared)


def interleave_is_right(num_kv_heads: int) -> Finding:
    """Both ways against heads that each are given their KV head by number."""
    seeded = make_generator("claims", "shared", num_kv_heads)
    size = 8 // num_kv_heads
    query = torch.randn(8, TOKENS, 4, generator=seeded)
    key, value = (torch.randn(num_kv_heads, TOKENS, 4, generator=seeded) for _ in range(2))
    mask = masks.build(masks.causal, TOKENS, TOKENS)
    right = torch.stack(
        [attention(query[n], key[n // size], value[n // size], mask).output for n in range(8)]
    )
    off = [
        (attention(query, way(key, size), way(value, size), mask).output - right).abs().max().item()
        for way in (share, share_wrongly)
    ]
    return judge_claim(off[0] < ROUNDING, off[0] < ROUNDING, interleave=off[0], repeat=off[1])


def shape_is_kept(num_heads: int, value_dim: int) -> Finding:
    """The widths before W_O and after it, for a model of width 64 and heads of d_k 16."""
    seeded = make_generator("claims", "shape")
    x = torch.randn(TOKENS, 64, generator=seeded)
    per_head = x @ torch.randn(num_heads, 64, value_dim, generator=seeded)
    before = merge_heads(per_head).shape[-1]
    after = (merge_heads(per_head) @ torch.randn(before, 64, generator=seeded)).shape[-1]
    verdict = FAILS if after != 64 else CONDITION
    return make_finding(verdict, before=before, after=after, d_model=64)


SENTENCE_WORDS = tuple(SENTENCE.split())
VERB, SUBJECT, OBJECT = (SENTENCE_WORDS.index(word) for word in ("announced", "CEO", "earnings"))
UNTRAINED = 50
"""How many seeds of random weights are tried."""


def peaks_on_subject_and_object(num_heads: int) -> Finding:
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
    verdict = HOLDS if random == UNTRAINED else CONDITION if any(trained) else FAILS
    return make_finding(
        verdict, trained=sum(trained), of=len(trained), random=random, untrained=UNTRAINED
    )


def one_head_one_relation(num_heads: int) -> Finding:
    """Loss on held-out sentences of one head and of several, with as many parameters."""
    from explainers.toys.task import make_task

    task = make_task(draw_pool(True, "en"), "full")
    with torch.no_grad():
        one, several = (
            compute_mean_loss(
                load_heads(Configuration(n, n, 64 // n, "full"), 0, "en"), task
            ).item()
            for n in (1, num_heads)
        )
    times = one / several
    return make_finding(HOLDS if times > 5 else FAILS, one=one, several=several, times=times)


def attention_explains(seed: int) -> Finding:
    """Per word: the one it looks at most, and the one whose absence changes its output most."""
    layer = load_layer(SENTENCE_WORDS, Configuration(4, 4, 16, "full"), seed)
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
    verdict = HOLDS if same == len(SENTENCE_WORDS) else FAILS
    return make_finding(verdict, same=same, words=len(SENTENCE_WORDS))
