"""What `--check` allows: another processor's rounding, and no change of a training."""

import pytest
import torch

from explainers.toys import weight_check
from explainers.toys.tolerance import (
    Tolerance,
    find_mean_difference,
    format_tolerances,
    read_tolerance,
)
from explainers.toys.training_report import MARKDOWN_REPORT


def test_the_tolerance_lies_between_rounding_and_the_smallest_change():
    for name in weight_check.CHECKS:
        one = read_tolerance(name)
        assert 0 < one.by_processor < one.allowed < one.by_a_batch, name
    assert Tolerance(1e-4, 1e-2).allowed == pytest.approx(1e-3)
    assert MARKDOWN_REPORT.read_text(encoding="utf-8").endswith(format_tolerances())


def test_the_mean_difference_is_that_of_all_numbers_in_all_tensors():
    some = {"a": torch.zeros(4).half(), "b": torch.zeros(2, 2)}
    others = {"a": torch.zeros(4), "b": torch.tensor([[0, 0.25], [-0.75, 0]])}
    assert find_mean_difference(some, others) == 1 / 8
    assert find_mean_difference(some, {"a": others["a"]}) == torch.inf


@pytest.mark.parametrize(("times", "is_right"), [(0.5, True), (2.0, False)])
def test_a_change_is_noticed_and_rounding_is_not(monkeypatch, times, is_right):
    name = "idle_heads"
    file, _ = weight_check.CHECKS[name]
    stored = weight_check.load_file(file)
    part = next(one for one in stored if one.endswith("query"))
    moved = stored[part].float()
    moved += times * read_tolerance(name).allowed
    monkeypatch.setitem(weight_check.CHECKS, name, (file, lambda _less: {part: moved}))
    assert weight_check.check_weights(name) is is_right
