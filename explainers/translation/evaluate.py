"""All shipped seeds against gold, and against aligners that are no network: what is printed."""

import json
import statistics
from collections.abc import Mapping
from typing import NamedTuple

from explainers.translation import ibm1
from explainers.translation.alignment import Link, aer, diagonal, pooled
from explainers.translation.corpus import TESTS, Pair, for_testing, training_set
from explainers.translation.kept import SEEDS, load
from explainers.translation.measure import Measured, measured

IBM1_SENTENCES = 20_000
"""How many sentences of the training set IBM Model 1 learns from; more no longer help it."""


class Baselines(NamedTuple):
    """Alignment error rates of those that are no network, on the same sentences."""

    ibm1: float
    ibm1_null: float
    diagonal: float


class Evaluation(NamedTuple):
    """Each seed, and the baselines."""

    seeds: Mapping[int, Measured]
    baselines: Baselines

    def mean(self, what: str) -> float:
        """Over all seeds."""
        return statistics.mean(getattr(one, what) for one in self.seeds.values())

    def line(self) -> str:
        """One line of JSON. Of the two IBM models it names the better one."""
        numbers = {name: self.mean(name) for name in Measured._fields[:3]}
        numbers["aer_ibm1"] = min(self.baselines.ibm1, self.baselines.ibm1_null)
        numbers["aer_diagonal"] = self.baselines.diagonal
        rounded = {name: round(number, 4) for name, number in numbers.items()}
        return json.dumps({**rounded, "seeds": len(self.seeds)})


def evaluate(tests: int = TESTS, learned_from: int = IBM1_SENTENCES) -> Evaluation:
    """Compute everything from the shipped weights, on so many sentences of each kind."""
    some = for_testing(tests)
    seeds = {seed: measured(load(seed), some) for seed in SEEDS}
    return Evaluation(seeds, baselines([*some.unseen, *some.held_out_pairs], learned_from))


def baselines(pairs: list[Pair], learned_from: int) -> Baselines:
    """Error rates on these pairs, learned from others."""
    known = [(pair.source, pair.target) for pair in training_set(learned_from)]
    counted, with_null = (
        _error([model.align(one.source, one.target) for one in pairs], pairs)
        for model in (ibm1.Model.learn(known, null=null) for null in (False, True))
    )
    straight = [diagonal(len(one.source), len(one.target)) for one in pairs]
    return Baselines(counted, with_null, _error(straight, pairs))


def _error(links: list[set[Link]], pairs: list[Pair]) -> float:
    sure, possible = (pooled(getattr(p, kind) for p in pairs) for kind in ("sure", "possible"))
    return aer(pooled(links), sure, possible).aer
