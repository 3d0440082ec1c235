"""Claims about places: who sees whom through a mask, and how a head knows where words are."""

import torch
from torch import Tensor

from explainers.attention import masks
from explainers.attention.cross import cross_attention, read_source
from explainers.attention.multi_head import multi_head
from explainers.attention.positions import reorder
from explainers.attention.receptive_field import reach, window_reach
from explainers.attention.rotary import angles, rotate
from explainers.attention.rules import Rule
from explainers.chapters.claims.claim_table import Finding, judge_claim
from explainers.messages import N_
from explainers.toys.examples import make_generator, random_head, random_heads, shuffle_order
from explainers.toys.rotary_layers import FURTHER, LENGTHS, PI, PLAIN, ROTARY, read_longer_results
from explainers.toys.sentence import SENTENCE

ROUNDING = 1e-5
WORDS = SENTENCE.split()


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
    causal = earlier(masks.causal)
    return judge_claim(free[looked_at], all(free.values()), cross=cross, own=own, causal=causal)


def order_is_lost(mask: str) -> Finding:
    """A shuffled text against the text, word by word, if no word knows its place."""
    apart = {name: _measure_reorder(masks.RULES[name]) for name in ("full", "causal")}
    same = {name: one < ROUNDING for name, one in apart.items()}
    return judge_claim(same[mask], all(same.values()), **apart)


def _measure_reorder(rule: Rule) -> float:
    head = random_head(16, 8, 8, seed=0)
    x = torch.randn(7, 16, generator=make_generator("claims", "order")).to(head.w_query.device)
    mask = masks.build(rule, 7, 7).to(x.device)
    before, after = reorder(x, torch.zeros_like(x), head, mask, shuffle_order(7))
    return (before - after).abs().max().item()


HEAD_DIM, LONGEST = 64, 10_000.0


MOVED_BY = 1, 100, 10_000, 1_000_000


def rotation_sees_distance(moved_by: int) -> Finding:
    """Scores of two words three places apart, and of the same words farther on in a text."""
    query, key = torch.randn(2, 1, HEAD_DIM, generator=make_generator("claims", "rotary"))
    first = _score_rotated(query, key, 3, 0)
    later = {by: _score_rotated(query, key, 3 + by, by) for by in (moved_by, *MOVED_BY)}
    apart = {by: abs(first - score) for by, score in later.items()}
    same = [one < 1e-3 for one in apart.values()]
    numbers = {"first": first, "later": later[moved_by], "apart": apart[moved_by]}
    return judge_claim(same[0], all(same), **numbers)


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
    return judge_claim(fades[vectors], all(fades.values()), near=near, far=far, times=far / near)


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
    return judge_claim(extends[further], all(extends.values()), **numbers, **lengths)
