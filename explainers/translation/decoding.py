"""Writing a translation syllable by syllable: always the likeliest, or several beams at once."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from explainers.translation.layers import Attend, Rows
from explainers.translation.model import PLAIN, Encoded, State, Transformer
from explainers.translation.vocabulary import BEGIN, END, PAD

MOST_SYLLABLES = 48
"""Where a translation is cut that does not end by itself; in the corpus 34 are the most."""


class Candidate(NamedTuple):
    """Syllables as numbers, without the end, and the log-probability of them and the end."""

    numbers: tuple[int, ...]
    log_probability: float
    is_finished: bool


@torch.no_grad()
def greedy(model: Transformer, encoded: Encoded, attend: Sequence[Attend] = PLAIN) -> Tensor:
    """The likeliest next syllable each time (batch, length); filling behind the end."""
    state, batch = model.begin(encoded), len(encoded.output)
    numbers, is_done = torch.full((batch, 1), BEGIN), torch.zeros(batch, dtype=torch.bool)
    written: list[Tensor] = []
    while len(written) < MOST_SYLLABLES and not is_done.all():
        logits, _, state = model.decode(numbers, state, attend)
        numbers = logits[:, -1:].argmax(dim=-1).masked_fill(is_done[:, None], PAD)
        is_done = is_done | (numbers[:, 0] == END)
        written.append(numbers)
    return torch.cat(written, dim=-1)


@torch.no_grad()
def beam(
    model: Transformer, encoded: Encoded, beams: int, attend: Sequence[Attend] = PLAIN
) -> list[Candidate]:
    """The likeliest translations of one source, the best first, found by keeping `beams` of them.

    They are compared by log-probability per syllable, the end counted: a sum alone would prefer
    short ones. One beam is greedy.
    """
    state = model.begin(encoded)
    open_ones, finished = [Candidate((), 0.0, False)], list[Candidate]()
    last = torch.tensor([[BEGIN]])
    for _ in range(MOST_SYLLABLES):
        logits, _, state = model.decode(last, state, attend)
        log_probabilities = logits[:, -1].log_softmax(dim=-1)
        totals = log_probabilities + torch.tensor([[one.log_probability] for one in open_ones])
        best = totals.flatten().topk(beams)
        extended: list[tuple[int, Candidate]] = []
        for total, place in zip(best.values.tolist(), best.indices.tolist(), strict=True):
            parent, number = divmod(place, totals.shape[-1])
            before = open_ones[parent].numbers
            if number == END:
                finished.append(Candidate(before, total, True))
            else:
                extended.append((parent, Candidate((*before, number), total, False)))
        if len(finished) >= beams or not extended:
            break
        parents = torch.tensor([parent for parent, _ in extended])
        open_ones = [candidate for _, candidate in extended]
        state = _kept(state, parents)
        last = torch.tensor([[one.numbers[-1]] for one in open_ones])
    return sorted(finished or open_ones, key=_per_syllable, reverse=True)[:beams]


def _per_syllable(candidate: Candidate) -> float:
    return candidate.log_probability / (len(candidate.numbers) + 1)


def _kept(state: State, parents: Tensor) -> State:
    """The rows of those that were extended, one for each of their continuations."""
    past, source = (
        tuple(Rows(one.key[chosen], one.value[chosen]) for one in rows)
        for rows, chosen in ((state.past, parents), (state.source, torch.zeros_like(parents)))
    )
    return State(source, state.mask, past)
