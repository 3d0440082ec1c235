"""Writing a translation syllable by syllable: always the likeliest, or several beams at once.

The source is read once; what is written so far is read again for every syllable.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from explainers.attention.cross import Attend, Source
from explainers.translation.model import PLAIN, Model, Read
from explainers.translation.vocabulary import BEGIN, END, PAD

MOST_SYLLABLES = 48
"""Where a translation is cut that does not end by itself; in the corpus 34 are the most."""


class Candidate(NamedTuple):
    """Syllables as numbers, the end not among them, and the log-probability of all and the end."""

    numbers: tuple[int, ...]
    log_probability: float

    @property
    def per_syllable(self) -> float:
        """What candidates are compared by: the sum alone would prefer short ones."""
        return self.log_probability / (len(self.numbers) + 1)


@torch.no_grad()
def greedy(model: Model, source: Read, attend: Sequence[Attend] = PLAIN) -> Tensor:
    """The likeliest next syllable each time (batch, length); filling behind the end."""
    batch = len(source.output)
    numbers, is_done = torch.full((batch, 1), BEGIN), torch.zeros(batch, dtype=torch.bool)
    while numbers.shape[-1] <= MOST_SYLLABLES and not is_done.all():
        likeliest = model.predict(numbers, source, attend).logits[:, -1].argmax(dim=-1)
        likeliest = likeliest.masked_fill(is_done, PAD)
        is_done = is_done | (likeliest == END)
        numbers = torch.cat([numbers, likeliest[:, None]], dim=-1)
    return numbers[:, 1:]


@torch.no_grad()
def beam(
    model: Model, source: Read, beams: int, attend: Sequence[Attend] = PLAIN
) -> list[Candidate]:
    """The best translations of one source, the likeliest first; one beam is greedy.

    Of all continuations the `beams` likeliest are kept, until as many have come to an end.
    """
    growing, finished = [Candidate((), 0.0)], list[Candidate]()
    for _ in range(MOST_SYLLABLES):
        numbers = torch.tensor([[BEGIN, *one.numbers] for one in growing])
        logits = model.predict(numbers, _repeated(source, len(growing)), attend).logits[:, -1]
        before = torch.tensor([[one.log_probability] for one in growing])
        totals = before + logits.log_softmax(dim=-1)
        best = totals.flatten().topk(beams)
        parents = [divmod(place, totals.shape[-1]) for place in best.indices.tolist()]
        extended = []
        for (parent, number), total in zip(parents, best.values.tolist(), strict=True):
            if number == END:
                finished.append(Candidate(growing[parent].numbers, total))
            else:
                extended.append(Candidate((*growing[parent].numbers, number), total))
        if len(finished) >= beams or not extended:
            break
        growing = extended
    found = finished or growing
    return sorted(found, key=lambda one: one.per_syllable, reverse=True)[:beams]


def _repeated(source: Read, times: int) -> Read:
    """The same source for each beam."""
    rows = [
        Source(*(part.expand(times, *part.shape[1:]) for part in one)) for one in source.sources
    ]
    return source._replace(sources=tuple(rows))
