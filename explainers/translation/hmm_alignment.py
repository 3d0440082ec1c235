"""An aligner that is a hidden Markov model (Vogel, Ney and Tillmann 1996).

Each syllable comes from a word, and how far that word is from the one before is what it learns:
translations mostly go on with the next word.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from explainers.translation.alignment import Ibm1Model, Link
from explainers.translation.cooccurrence import Name, TextPair, find_cooccurrences

SMALLEST = 1e-12
"""The probability of what was never met, so that a new sentence has a likeliest path at all."""


class Expected(NamedTuple):
    """What is expected of the hidden words, given both sentences of each pair.

    `places` (batch, syllables, words): the probability that a syllable comes from a word. `steps`
    (words + 1, words): how often the words follow each other, summed; row 0 is the first word.
    """

    places: Tensor
    steps: Tensor
    log_likelihood: float


def forward_backward(emissions: Tensor, steps: Tensor) -> Expected:
    """All paths through the words at once (Rabiner 1989, section III).

    `emissions` (batch, syllables, words): p(syllable | word). `steps` (words + 1, words): the
    probability of the next word, each row after another word, row 0 at the beginning.
    """
    first, later = steps[0], steps[1:]
    forward, scales = list[Tensor](), list[Tensor]()
    state = first * emissions[:, 0]  # (batch, words)
    for syllable in range(emissions.shape[1]):
        if syllable:
            state = (forward[-1] @ later) * emissions[:, syllable]
        scales.append(state.sum(dim=-1, keepdim=True))
        forward.append(state / scales[-1])
    backward = torch.ones_like(state)
    places, transitions = [forward[-1]], torch.zeros_like(later)
    for syllable in range(emissions.shape[1] - 1, 0, -1):
        arriving = emissions[:, syllable] * backward / scales[syllable]
        transitions += (forward[syllable - 1].T @ arriving) * later
        backward = arriving @ later.T
        places.append(forward[syllable - 1] * backward)
    posterior = torch.stack(places[::-1], dim=1)
    counted = torch.cat([posterior[:, 0].sum(dim=0, keepdim=True), transitions])
    return Expected(posterior, counted, torch.stack(scales).log().sum().item())


def find_best_path(emissions: Tensor, steps: Tensor) -> list[int]:
    """The likeliest words of all syllables together (Viterbi); `emissions` (syllables, words)."""
    logs, log_steps = emissions.log(), steps.log()
    scores, came_from = log_steps[0] + logs[0], []
    for row in logs[1:]:
        best = (scores[:, None] + log_steps[1:]).max(dim=0)
        scores = best.values + row
        came_from.append(best.indices)
    path = [int(scores.argmax())]
    for origins in reversed(came_from):
        path.append(int(origins[path[-1]]))
    return path[::-1]


class Jumps(NamedTuple):
    """Weights of jumps between words: one for each first place, and one for each distance.

    `weights` (first places + distances,): the first `most` are of the places of the first word,
    then come the distances from −`most` to `most`.
    """

    most: int
    weights: Tensor

    def number(self, num_words: int) -> Tensor:
        """Which weight each step of a sentence has (words + 1, words); the last one if too far."""
        places = torch.arange(num_words)
        distances = (places[None, :] - places[:, None]).clamp(-self.most, self.most)
        return torch.cat([places[None, :].clamp_max(self.most - 1), 2 * self.most + distances])

    def read_steps(self, num_words: int) -> Tensor:
        """The probability of each step in a sentence of so many words; each row sums to 1."""
        steps = self.weights[self.number(num_words)]
        return steps / steps.sum(dim=-1, keepdim=True)

    def reestimate(self, counted: Mapping[int, Tensor]) -> "Jumps":
        """Weights for which the `counted` steps (by number of words) are likelier.

        A step is a choice among those that stay in the sentence, so a weight is how often it was
        chosen, divided by how often it was expected to be (Hunter 2004, the MM algorithm).
        """
        chosen, offered = torch.zeros_like(self.weights), torch.zeros_like(self.weights)
        for num_words, steps in counted.items():
            numbers = self.number(num_words)
            rows = steps.sum(dim=-1, keepdim=True) / self.weights[numbers].sum(-1, keepdim=True)
            chosen.index_add_(0, numbers.flatten(), steps.flatten())
            offered.index_add_(0, numbers.flatten(), rows.expand_as(steps).flatten())
        return self._replace(weights=torch.where(offered > 0, chosen / offered, self.weights))


@dataclass(frozen=True)
class HmmModel:
    """The probability of each syllable given a word, and the weights of jumps.

    `log_likelihoods`: of the pairs, before each round.
    """

    probability: Mapping[Name, float]
    jumps: Jumps
    log_likelihoods: tuple[float, ...]

    @classmethod
    def learn(cls, pairs: Sequence[TextPair], start: Ibm1Model, rounds: int = 6) -> "HmmModel":
        """Estimate all from the probabilities of IBM Model 1 for the same pairs, all jumps equal.

        Raises ValueError for a Model 1 with an empty word, which this model does not have.
        """
        if start.has_empty_word:
            raise ValueError("the model to start from has an empty word")
        found = find_cooccurrences(pairs)
        probabilities = found.list_probabilities(start.probability)
        most = max(num_words for _, num_words in found.groups)
        jumps = Jumps(most, torch.ones(3 * most + 1, dtype=torch.double))
        log_likelihoods = []
        for _ in range(rounds):
            counts, counted = torch.zeros_like(probabilities), dict[int, Tensor]()
            log_likelihood = 0.0
            for (_syllables, num_words), entries in found.groups.items():
                steps = jumps.read_steps(num_words)
                expected = forward_backward(probabilities[entries], steps)
                counts.index_add_(0, entries.flatten(), expected.places.flatten())
                counted[num_words] = counted.get(num_words, 0) + expected.steps
                log_likelihood += expected.log_likelihood
            probabilities, jumps = found.normalise(counts), jumps.reestimate(counted)
            log_likelihoods.append(log_likelihood)
        learned = dict(zip(found.names, probabilities.tolist(), strict=True))
        return cls(learned, jumps, tuple(log_likelihoods))

    def align(self, source: Sequence[str], target: Sequence[str]) -> set[Link]:
        """The links of the likeliest path; none for an empty sentence."""
        if not source or not target:
            return set()
        emissions = torch.tensor(
            [
                [self.probability.get((word, syllable), 0.0) for word in source]
                for syllable in target
            ],
            dtype=torch.double,
        )
        steps = self.jumps.read_steps(len(source)).clamp_min(SMALLEST)
        return set(enumerate(find_best_path(emissions.clamp_min(SMALLEST), steps)))
