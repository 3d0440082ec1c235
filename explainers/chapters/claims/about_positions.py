"""Claims about who sees whom: masks, places, windows, and what another sequence needs."""

import torch

from explainers.attention import masks
from explainers.attention.cross import cross_attention, read_source
from explainers.attention.multi_head import multi_head
from explainers.attention.reach import cells, reach, window_reach
from explainers.attention.rules import Rule
from explainers.chapters.claims.finding import CONDITION, FAILS, HOLDS, Finding, found, judged
from explainers.messages import N_
from explainers.toys.examples import make_generator, random_heads
from explainers.toys.sentence import SENTENCE

WORDS = SENTENCE.split()
ROUNDING = 1e-5


def causal_cells(words: int) -> Finding:
    """The cells that a causal mask leaves, counted; the sentence has seven words."""
    left = cells(masks.build(masks.causal, words, words))
    holds = (left, words**2) == (28, 49)
    return judged(holds, holds, left=left, all=words**2, words=words)


def announced_is_third(counted_from: int) -> Finding:
    """Where the word stands, and which positions the causal mask shows it."""
    place = WORDS.index("announced")
    row = masks.build(masks.causal, len(WORDS), len(WORDS))[place]
    seen = [position + counted_from for position in row.nonzero().flatten().tolist()]
    holds = place + counted_from == 3 and seen == [0, 1, 2, 3]
    sees = ", ".join(map(str, seen))
    return judged(holds, holds, place=place + counted_from, seen=sees, number=len(seen))


def windows_reach(layers: int, width: int) -> Finding:
    """Which words the last of seven has heard of, through windows stacked on each other."""
    mask = masks.build(masks.sliding_window(width), 7, 7)
    last = reach(mask, layers)[-1, -1]
    first = int(last.int().argmax())
    needed = next(n for n in range(1, 8) if window_reach(width, n) >= 6) if width > 1 else 0
    holds = first <= 1
    enough = N_("{count} layers", count=needed) if needed else N_("no number of layers")
    reached = window_reach(width, layers)
    return judged(holds, holds, first=WORDS[first], reached=reached, enough=enough)


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
    return found(verdict, cross=cross, own=own, causal=causal)
