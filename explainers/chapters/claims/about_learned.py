"""Claims about heads that learned something: checked on the toy weights that are shipped."""

import torch

from explainers.attention.multi_head import multi_head
from explainers.attention.single_head import single_head
from explainers.chapters.claims.finding import CONDITION, FAILS, HOLDS, Finding, found
from explainers.toys.layers import draw_layer
from explainers.toys.sentence import SENTENCE
from explainers.toys.trained_heads import Configuration, load_heads, load_layer
from explainers.toys.training import compute_mean_loss, draw_pool
from explainers.toys.training_report import reads_both

WORDS = tuple(SENTENCE.split())
VERB, SUBJECT, OBJECT = (WORDS.index(word) for word in ("announced", "CEO", "earnings"))
UNTRAINED = 50
"""How many seeds of random weights are tried."""


def peaks_on_subject_and_object(num_heads: int) -> Finding:
    """The two largest weights of "announced", over all heads: trained, and drawn at random."""
    wide = 64 // num_heads
    trained = [
        reads_both(load_heads(Configuration(num_heads, num_heads, wide, "full"), seed), "full")
        for seed in (0, 1)
    ]
    random = 0
    for seed in range(UNTRAINED):
        layer = draw_layer(WORDS, 8, 1, 4, "full", seed)
        top = single_head(*layer.single()).weights[VERB].topk(2).indices.tolist()
        random += sorted(top) == [SUBJECT, OBJECT]
    verdict = HOLDS if random == UNTRAINED else CONDITION if any(trained) else FAILS
    return found(verdict, trained=sum(trained), of=len(trained), random=random, untrained=UNTRAINED)


def one_head_one_relation(num_heads: int) -> Finding:
    """Loss on held-out sentences of one head and of several, with as many parameters."""
    from explainers.toys.task import make_task

    task = make_task(draw_pool(True), "full")
    with torch.no_grad():
        one, several = (
            compute_mean_loss(load_heads(Configuration(n, n, 64 // n, "full"), seed=0), task).item()
            for n in (1, num_heads)
        )
    times = one / several
    return found(HOLDS if times > 5 else FAILS, one=one, several=several, times=times)


def attention_explains(seed: int) -> Finding:
    """Per word: the one it looks at most, and the one whose absence changes its output most."""
    layer = load_layer(WORDS, Configuration(4, 4, 16, "full"), seed)
    run = multi_head(layer.x, layer.heads, layer.mask)
    looked = run.weights.mean(dim=-3).argmax(dim=-1).tolist()
    moved = []
    for gone in range(len(WORDS)):
        mask = layer.mask.clone()
        mask[..., :, gone] = False
        mask[..., gone, gone] = True  # a word that may look at nothing has no row
        moved.append((multi_head(layer.x, layer.heads, mask).output - run.output).norm(dim=-1))
    needed = torch.stack(moved).argmax(dim=0).tolist()
    same = sum(a == b for a, b in zip(looked, needed, strict=True))
    verdict = HOLDS if same == len(WORDS) else FAILS
    return found(verdict, same=same, words=len(WORDS))
