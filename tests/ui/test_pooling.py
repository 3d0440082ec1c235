"""A matrix of more numbers than pixels: no column of a single token is lost."""

import json

import pytest
import torch
import torch.nn.functional as F  # noqa: N812

from tests.support.scripts import SCRIPTS, run_script

BLANK = 65_535
RUN = """
import {{ poolLargest }} from "{file}";
const {{ low, high, at, side, part, size }} = {given};
const planes = {{ low: Uint8Array.from(low), high: Uint8Array.from(high) }};
console.log(JSON.stringify([...poolLargest(planes, at, side, part, size)]));
"""


def pool(steps, part, size):
    """The second of two matrices, whose first is blank."""
    side = len(steps)
    numbers = [BLANK] * side * side + steps.flatten().tolist()
    given = {
        "low": [number % 256 for number in numbers],
        "high": [number // 256 for number in numbers],
        "at": side * side,
        "side": side,
        "part": part,
        "size": size,
    }
    file = (SCRIPTS / "tiles" / "pooling.js").as_uri()
    told = json.loads(run_script(RUN.format(file=file, given=json.dumps(given))))
    return torch.tensor(told).reshape(size, size)


@pytest.mark.parametrize("size", [4, 5])
def test_a_pixel_has_the_largest_number_under_it(size):
    drawn = torch.randint(0, 10_000, (12, 12), generator=torch.Generator().manual_seed(size))
    part = {"query": [0, 12], "key": [0, 12]}
    expected = F.adaptive_max_pool2d(drawn[None].float(), size)[0].int()
    assert torch.equal(pool(drawn, part, size), expected)


def test_blanks_count_only_where_nothing_else_is():
    steps = torch.full((12, 12), BLANK)
    steps[7:, 3] = 9000  # a sink: one column, from its own row on
    pooled = pool(steps, {"query": [6, 12], "key": [0, 12]}, 3)
    expected = torch.full((3, 3), BLANK)
    expected[:, 0] = 9000
    assert torch.equal(pooled, expected)
