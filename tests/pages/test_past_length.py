"""The card on longer texts: where the pairs' hands are, and how far each pair is slowed down."""

import math

import pytest

from explainers.chapters.relative_positions.cards import LONGEST_TEXT, PairTurns, name_turns
from explainers.toys.rotary_layers import NTK, PAIRS, PI, PLAIN, TRAINED, WAYS, YARN


def test_only_doing_nothing_leads_slow_pairs_to_new_angles():
    plain, pi, ntk, yarn = (PairTurns.of(way) for way in (PLAIN, PI, NTK, YARN))
    assert plain.is_new == [turn < math.tau for turn in plain.seen.tolist()]
    assert 0 < sum(ntk.is_new) < sum(plain.is_new) < PAIRS
    assert not any(pi.is_new)
    assert pi.asked.tolist() == pytest.approx(plain.trained.tolist())
    assert not any(yarn.is_new)
    assert yarn.speed[0] == plain.speed[0], "the fast pair is as it was"


def test_the_sentence_counts_the_dials_that_are_marked():
    seen = (PairTurns.of(PLAIN).speed * TRAINED).tolist()
    for way in WAYS:
        found = PairTurns.of(way)
        ends = (found.speed * LONGEST_TEXT).tolist()
        beyond = [
            end > 1.0001 * most for end, most in zip(ends, seen, strict=True) if most < math.tau
        ]
        assert name_turns(found)["new"] == f"{sum(beyond)}", way
