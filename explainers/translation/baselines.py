"""Alignment error rates of aligners without a network, to compare attention with."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from explainers.translation.alignment import (
    Ibm1Model,
    Link,
    align_diagonally,
    pool_links,
    score_alignment,
)
from explainers.translation.cooccurrence import TextPair
from explainers.translation.corpus import SentencePair, draw_training_set
from explainers.translation.hmm_alignment import HmmModel
from explainers.translation.ibm2 import Ibm2Model

COUNTED_SENTENCES = 20_000
"""Sentences of the training set that the aligners learn from; more no longer help Model 1."""


class Baselines(NamedTuple):
    """Alignment error rates of aligners without a network; `null` is with an empty word."""

    ibm1: float
    ibm1_null: float
    ibm2: float
    ibm2_null: float
    hmm: float
    diagonal: float

    @property
    def best(self) -> dict[str, float]:
        """The better one of each kind."""
        return {
            "ibm1": min(self.ibm1, self.ibm1_null),
            "ibm2": min(self.ibm2, self.ibm2_null),
            "hmm": self.hmm,
            "diagonal": self.diagonal,
        }


def evaluate_baselines(pairs: Sequence[SentencePair], num_counted: int) -> Baselines:
    """Error rates on these pairs of aligners that learned from the training set."""
    counted = [(pair.source, pair.target) for pair in draw_training_set(num_counted)]
    models = learn_aligners(counted)
    rates = {
        name: score_links((model.align(*pair[:2]) for pair in pairs), pairs)
        for name, model in models.items()
    }
    diagonal = (align_diagonally(len(pair.source), len(pair.target)) for pair in pairs)
    return Baselines(**rates, diagonal=score_links(diagonal, pairs))


def learn_aligners(pairs: Sequence[TextPair]) -> dict[str, Ibm1Model | Ibm2Model | HmmModel]:
    """All aligners, by the names of `Baselines`; the others start from Model 1."""
    plain, null = (Ibm1Model.learn(pairs, has_empty_word=has_one) for has_one in (False, True))
    return {
        "ibm1": plain,
        "ibm1_null": null,
        "ibm2": Ibm2Model.learn(pairs, plain),
        "ibm2_null": Ibm2Model.learn(pairs, null),
        "hmm": HmmModel.learn(pairs, plain),
    }


def score_links(links: Iterable[set[Link]], pairs: Sequence[SentencePair]) -> float:
    """The alignment error rate of the links of all sentences together."""
    sure, possible = (
        pool_links(getattr(pair, kind) for pair in pairs) for kind in ("sure", "possible")
    )
    return score_alignment(pool_links(links), sure, possible).aer
