"""IBM Model 2 (Brown et al. 1993): like Model 1, but it also learns which places go together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from explainers.translation.alignment import EMPTY_WORD, Ibm1Model, Link
from explainers.translation.cooccurrence import Name, TextPair, find_cooccurrences

Shape = tuple[int, int]
"""The number of syllables of a sentence, and of its words, the empty one among them."""


@dataclass(frozen=True)
class Ibm2Model:
    """The probability of each syllable given a word, and of each place given another.

    `places` (syllables, words) for each shape: each row is the probability of the places of the
    source for a place of the target. `log_likelihoods`: of the pairs, before each round.
    """

    probability: Mapping[Name, float]
    places: Mapping[Shape, Tensor]
    has_empty_word: bool
    log_likelihoods: tuple[float, ...]

    @classmethod
    def learn(cls, pairs: Sequence[TextPair], start: Ibm1Model, rounds: int = 6) -> "Ibm2Model":
        """Estimate all probabilities, from those of Model 1 for the same pairs and equal places."""
        empty_word = [EMPTY_WORD] if start.has_empty_word else []
        found = find_cooccurrences([([*source, *empty_word], target) for source, target in pairs])
        probabilities = found.list_probabilities(start.probability)
        places = {
            shape: torch.full(shape, 1 / shape[1], dtype=torch.double) for shape in found.groups
        }
        log_likelihoods = []
        for _ in range(rounds):
            counts = torch.zeros_like(probabilities)
            log_likelihood = 0.0
            for shape, entries in found.groups.items():
                joint = probabilities[entries] * places[shape]
                totals = joint.sum(dim=-1, keepdim=True)
                shares = joint / totals
                counts.index_add_(0, entries.flatten(), shares.flatten())
                places[shape] = shares.mean(dim=0)
                log_likelihood += totals.log().sum().item()
            probabilities = found.normalise(counts)
            log_likelihoods.append(log_likelihood)
        learned = dict(zip(found.names, probabilities.tolist(), strict=True))
        return cls(learned, places, start.has_empty_word, tuple(log_likelihoods))

    def align(self, source: Sequence[str], target: Sequence[str]) -> set[Link]:
        """Links to each syllable's likeliest word, unless it is the empty word or all are 0."""
        words = [*source, *([EMPTY_WORD] if self.has_empty_word else [])]
        if not source or not target:
            return set()
        known = [
            [self.probability.get((word, syllable), 0.0) for word in words] for syllable in target
        ]
        joint = torch.tensor(known, dtype=torch.double)
        learned_places = self.places.get((len(target), len(words)))
        if learned_places is not None:  # for a shape that was never met, all places are equal
            joint = joint * learned_places
        best = joint.max(dim=-1)
        return {
            (syllable, word)
            for syllable, (word, value) in enumerate(
                zip(best.indices.tolist(), best.values.tolist(), strict=True)
            )
            if value > 0 and word < len(source)
        }
