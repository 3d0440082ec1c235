"""Every claim is computed again: the verdict that was written down is the one that comes out."""

import itertools
import re
from typing import Any

import pytest

from explainers.chapters.claims import about_costs, about_heads, about_scores
from explainers.chapters.claims.claim_table import (
    CONDITION,
    FAILS,
    FILE,
    HOLDS,
    VERDICTS,
    list_parts,
    read_claims,
)
from explainers.chapters.common.claim_parameters import Setting
from explainers.toys.rotary_layers import FURTHER
from explainers.translations import load_sections

TEXT = load_sections("24_claims")
EACH = pytest.mark.parametrize("claim", read_claims().values(), ids=lambda claim: claim.id)


SAID = {
    "rows_sum_to_one": {"numbers"},
    "hidden_is_exactly_zero": {"allowed"},
    "four_squares": {"num_heads", "biases"},
    "sharing_adds_nothing": {"compared_with"},
    "interleave_is_right": {"way"},
    "one_head_one_relation": {"num_heads"},
    "tiles_are_exact": {"numbers"},
    "windows_are_linear": {"window", "tokens"},
    "same_output_as_gpt_2": {"ours"},
}
"""What the sentence itself names, if only by its own number; or how many bits numbers have."""
NOTHING_LEFT: dict[str, dict[str, set[Any]]] = {
    "attention_explains": {"num_heads": {1}},
    "cache_makes_it_linear": {"tokens": {2}},
    "sink_keeps_the_sum": {"sink": {-100}},
    "idle_heads_spread": {"batches": {0}},
    "any_common_part_is_cached": {"layers": {1}},
    "linear_is_the_same": {"compared_with": {"its own weights"}},
    "four_bits_are_a_quarter": {"scales": {"forgotten"}},
    "latent_is_eight_times_smaller": {"rope_part": {"forgotten"}},
    "speculation_is_approximate": {"redrawn": {"the model itself"}},
    "sixty_nine_gigabytes": {"num_kv_heads": {32}},
    "zeros_tell_what_a_head_is_worth": {"agree": {0.25, 0.5}},
}
"""Choices that leave nothing of what the sentence speaks of, are a mistake, or our own measure."""
NAMED = SAID | {
    "windows_reach": {"layers", "width"},
    "interpolation_is_free": {"further"},
    "cap_keeps_shares_apart": {"cap"},
    "few_keys_lose_nothing": {"kept"},
}


@EACH
def test_a_verdict_is_what_comes_out_for_every_choice(claim):
    """All of them are computed once; then what the words of verdicts mean must hold of them."""
    finding = claim.check(**claim.as_written)
    assert finding.verdict == claim.verdict
    slots = set(re.findall(r"\{\{(\w+)", TEXT[f"found_{claim.id}"]))
    assert slots <= set(finding.numbers), "the remark asks for a number that is not computed"

    names = [one.name for one in claim.parameters]
    found = {
        values: claim.check(**dict(zip(names, values, strict=True))).verdict
        for values in itertools.product(*(one.values for one in claim.parameters))
    }
    assert {*found.values()} <= set(VERDICTS)
    assert len({*found.values()}) > 1, "another choice gives another verdict"

    if claim.verdict in (HOLDS, FAILS):  # else it would hold with a condition
        fixed = (SAID if claim.verdict == HOLDS else NAMED).get(claim.id, ())
        odd = NOTHING_LEFT.get(claim.id, {}) if claim.verdict == FAILS else {}
        for values, verdict in found.items():
            chosen = dict(zip(names, values, strict=True))
            of_sentence = all(chosen[name] == claim.as_written[name] for name in fixed)
            if of_sentence and not any(chosen[name] in none for name, none in odd.items()):
                assert verdict == claim.verdict, chosen


def test_each_claim_has_its_sentence_and_nothing_else_has_one():
    for begin, known in (("claim_", read_claims()), ("part_", list_parts())):
        written = {name.removeprefix(begin) for name in TEXT if name.startswith(begin)}
        assert written == {*known}


@pytest.mark.parametrize(
    ("check", "choices", "verdict"),
    [
        (about_scores.root_brings_it_back, {"spread": 2.0}, FAILS),
        (about_scores.hidden_is_exactly_zero, {"allowed": 0}, FAILS),
        (about_heads.heads_cost_one_head, {"head_dim": 32}, FAILS),
        (about_scores.windows_reach, {"layers": 3, "width": 3}, HOLDS),
        (about_costs.looking_ahead_spoils_it, {"layers": 1}, FAILS),
        (about_costs.cache_makes_it_linear, {"tokens": 4096}, FAILS),
        (about_scores.interpolation_is_free, {"further": FURTHER}, CONDITION),
        (
            about_costs.latent_is_eight_times_smaller,
            {"model": "deepseek-v2-lite", "rope_part": "forgotten"},
            CONDITION,
        ),
    ],
)
def test_other_sizes_move_the_verdict(check, choices, verdict):
    assert check(**choices).verdict == verdict


@pytest.mark.parametrize(
    ("claim", "choices", "number", "value"),
    [
        ("delta_rule_overwrites", {"rate": 0.5}, "plain", 1.0),
        ("sink_keeps_the_sum", {"sink": -100}, "total", 1.0),
        ("linear_is_the_same", {"compared_with": "softmax"}, "own", 0.0),
        ("windows_are_linear", {"window": 4, "tokens": 512}, "times", 4090 / 2042),
        ("cache_makes_it_linear", {"tokens": 4096}, "total", 3.969),
        ("latent_costs_work", {"latent_dim": 512}, "times", 3.4),
        ("latent_costs_work", {"latent_dim": 128}, "times", 1.0),
        ("latent_costs_work", {"latent_dim": 64}, "limit", 128),
        ("four_bits_are_a_quarter", {"number_format": "q4_0", "scales": "counted"}, "times", 3.556),
        ("dropout_keeps_the_sum", {"probability": 0.5}, "mean", 1.0),
    ],
)
def test_a_remark_has_the_number_that_theory_says(claim, choices, number, value):
    found = read_claims()[claim].check(**choices).numbers[number]
    assert float(found) == pytest.approx(value, abs=0.03 if number == "mean" else 1e-3)


def test_a_row_that_cannot_be_is_refused():
    with pytest.raises(ValueError, match="32 is none of"):
        Setting("head_dim", "d_k", (4, 8), 32)

    assert "null" not in FILE.read_text(encoding="utf-8")
