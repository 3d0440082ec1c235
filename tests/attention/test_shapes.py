"""Every shape comment of the teaching code, held against the shapes of a real run."""

# ruff: noqa: RET504 (here too a result has a name, for its shape comment)

import pytest
import torch

from tests.attention.shape_cases import SIZES, calls, own_sizes
from tests.support.shapes import check_shapes


def check_comments(function, leading):
    sizes = SIZES | {"...": leading} | own_sizes(function, leading)
    check_shapes(function, sizes, *calls(leading)[function])


@pytest.mark.parametrize("leading", [(), (2, 3)], ids=["no leading axes", "batch and heads"])
def test_comments_are_true(leading):
    for function in calls(leading):
        check_comments(function, leading)


def a_wrong_second_name(query, key):
    query, key = query.mT, key.mT  # (..., head_dim, q_len), (..., kv_len, head_dim)
    return query, key


def a_name_without_a_shape(query, key):
    query, key = query.mT, key.mT  # (..., head_dim, q_len)
    return query, key


def a_comment_behind_no_assignment(query, key):
    return query @ key.transpose(-2, -1)  # (..., q_len, kv_len)


def a_comment_never_closed(query, key):
    scores = query @ key.transpose(-2, -1)  # (..., q_len, kv_len
    return scores


def no_comment(query, key):
    return query @ key.transpose(-2, -1)


WRONG = (
    a_wrong_second_name,
    a_name_without_a_shape,
    a_comment_behind_no_assignment,
    a_comment_never_closed,
    no_comment,
)


def test_wrong_comments_are_found():
    """Axes that are exchanged or left out are planted in tests/test_mutations.py."""
    tensors = torch.randn(2, 3, 5, 11), torch.randn(2, 3, 7, 11)
    for function in WRONG:
        with pytest.raises(AssertionError, match=function.__name__):
            check_shapes(function, SIZES | {"...": (2, 3)}, *tensors)
