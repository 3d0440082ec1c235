"""Every shape comment of the teaching code, held against the shapes of a real run.

Wrong ones are planted in tests/test_mutations.py.
"""

import pytest

from tests.attention.shape_cases import SIZES, calls, own_sizes
from tests.support.shapes import check_shapes


def check_comments(function, leading):
    sizes = SIZES | {"...": leading} | own_sizes(function, leading)
    check_shapes(function, sizes, *calls(leading)[function])


@pytest.mark.parametrize("leading", [(), (2, 3)], ids=["no leading axes", "batch and heads"])
def test_comments_are_true(leading):
    for function in calls(leading):
        check_comments(function, leading)
