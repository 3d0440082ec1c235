"""Questions at the end of pages: their answers follow from the numbers that are given."""

from random import Random

import pytest
import torch

from explainers.chapters.choosing.cards import recall_index
from explainers.chapters.cross_attention.cards import recall_weight_count
from explainers.chapters.growing_memory.cards import recall_second_value, recall_size
from explainers.chapters.many_heads import recall_layer_numbers, recall_remaining_share
from explainers.chapters.query_key_value import recall_growing_matrix, recall_query_numbers
from explainers.chapters.relative_positions.cards import recall_far_score, recall_rotation


def sum_scores(key, given):
    return sum(max(0.0, given[f"{key}_{n}"]) * given[f"share_{n}"] for n in ("one", "two"))


FORMULAS = {
    recall_query_numbers: lambda given: (
        torch.zeros(int(given["words"]), int(given["d_model"]))
        @ torch.zeros(int(given["d_model"]), int(given["d_k"]))
    ).numel(),
    recall_weight_count: lambda given: given["syllables"] * given["words"],
    recall_remaining_share: lambda given: 100 - given["share"],
    recall_layer_numbers: lambda given: 4 * given["d_model"] ** 2,
    recall_rotation: lambda given: given["position"] / 10 ** (given["number"] - 1),
    recall_far_score: lambda given: pytest.approx(given["score"], abs=0.011),
    recall_size: lambda given: given["key_dim"] * given["value_dim"],
    recall_second_value: lambda given: torch.lerp(
        *torch.tensor([given["beta"] * given["first"], given["second"], given["beta"]])
    ).item(),
    recall_index: lambda given: "the {} key".format(
        "first" if sum_scores("first", given) > sum_scores("second", given) else "second"
    ),
}


def read(number):
    """What is given, where it is a number."""
    try:
        return float(number.replace("−", "-").replace(",", ""))
    except ValueError:
        return number


@pytest.mark.parametrize("recall", FORMULAS, ids=lambda recall: recall.__name__)
def test_an_answer_follows_from_what_is_given(recall):
    for seed in range(5):
        asked = recall(Random(seed))
        expected = FORMULAS[recall]({name: read(one) for name, one in asked.given.items()})
        known = isinstance(expected, float | int)
        assert asked.answer == (pytest.approx(expected, rel=1e-5) if known else expected)


def test_no_number_that_is_given_is_the_answer_and_heads_share_the_width():
    for seed in range(20):
        shape = recall_query_numbers(Random(seed))
        assert shape.answer not in [read(one) for one in shape.given.values()]
        growing = recall_growing_matrix(Random(seed))
        assert growing.answer in growing.options
        layer = recall_layer_numbers(Random(seed))
        width = int(layer.given["heads"]) * int(layer.worked["d_k"])
        assert width == int(layer.given["d_model"])
