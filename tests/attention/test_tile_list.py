"""The tiles that a mask leaves, whole and cut, are listed as the mask says."""

import pytest

from explainers.attention import masks
from explainers.attention.tile_list import list_tiles

RULES = masks.RULES | {
    "window of 1": masks.sliding_window(1),
    "every third": masks.Rule(lambda query_pos, key_pos: (query_pos - key_pos) % 3 == 0),
    "the first, then none, then near": masks.causal
    & masks.Rule(lambda query_pos, key_pos: (key_pos < 1) | (query_pos - key_pos < 4)),
}
NOBODY = masks.Rule(lambda query_pos, key_pos: (query_pos != 57) & (key_pos >= 0))


@pytest.mark.parametrize("rule", RULES)
def test_the_list_is_what_the_mask_says(rule):
    tiles = list_tiles(RULES[rule], 37, 71, 16, 32)
    mask = masks.build(RULES[rule], 37, 71)
    for block, rows in enumerate(mask.split(16)):
        parts = dict(enumerate(rows.split(32, dim=1)))
        whole = [j for j, part in parts.items() if part.all() and part.shape[1] == 32]
        cut = [j for j, part in parts.items() if part.any() and j not in whole]
        assert tiles.keys[block, : len(whole) + len(cut)].tolist() == whole + cut
        assert tiles.whole[block] == len(whole)
        assert tiles.cut[block] == len(cut)
        kept = tiles.allowed[int(tiles.first[block]) :]
        for part, known in zip((parts[j] for j in cut), kept, strict=False):
            assert (known[: len(rows), : part.shape[1]] == part).all()
            assert not known[:, part.shape[1] :].any()
    assert len(tiles.allowed) == tiles.cut.sum()


def test_a_query_with_nothing_to_look_at_is_refused():
    """Position 57 of 71 is row 23 of the last 37."""
    with pytest.raises(ValueError, match=r"leaves row 23 \(of 37 queries\) nothing to look at"):
        list_tiles(NOBODY, 37, 71, 16, 32)
