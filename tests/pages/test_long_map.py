"""The map of a long text's weights: its words, its blocks, and what is said of them."""

import pytest
import torch
from torch.testing import assert_close

from explainers.chapters.long_sequences import weight_map
from explainers.chapters.long_sequences.weight_map import (
    ASKED,
    RARE,
    TOLD,
    MapRequest,
    compute_map,
    describe_block,
    make_map_job,
    make_panels,
    open_block,
)
from explainers.models.registry import ModelError

LENGTH = 1_000
"""Not a multiple of the blocks."""


@pytest.fixture(scope="module")
def kept():
    return compute_map(make_map_job(MapRequest(LENGTH, 3)))


def weights_of(kept):
    """(words, words), all at once."""
    scores = kept.query @ kept.key.T / kept.query.shape[-1] ** 0.5
    return scores.masked_fill(torch.ones_like(scores).triu(1) > 0, -torch.inf).softmax(-1)


def test_blocks_and_cells_are_those_of_softmax(kept):
    whole = weights_of(kept)
    for row, column in ((ASKED, TOLD), (10, 10), (62, 0)):
        opened = open_block(kept, row, column)
        assert_close(opened.weights, whole[opened.rows, opened.columns], atol=1e-5, rtol=0)
        assert_close(kept.largest[row, column], opened.weights.max(), atol=1e-5, rtol=0)


def test_equal_words_find_each_other(kept):
    assert kept.words.count(RARE) == 2
    said = describe_block(open_block(kept, ASKED, TOLD))
    assert (said["query"], said["key"]) == (RARE, RARE)
    query, key = (int(str(said[place])) - 1 for place in ("query_place", "key_place"))
    assert [query, key] == [n for n, word in enumerate(kept.words) if word == RARE][::-1]
    weight = weights_of(kept)[query, key].item()
    assert said["weight"] == f"{100 * weight:.1f}\N{NO-BREAK SPACE}%"


def test_the_panels_hold_these_numbers(kept):
    opened = open_block(kept, ASKED, TOLD)
    drawn = {panel.id: panel.matrix for panel in make_panels(opened, ASKED, TOLD)}
    assert drawn["map"].ringed_cells == [(ASKED, TOLD)]
    rows, columns = opened.around
    assert drawn["largest weight"].rows == kept.words[rows]
    near = torch.tensor(drawn["largest weight"].values)
    assert_close(near, weights_of(kept)[rows, columns], atol=1e-5, rtol=0)
    assert_close(near.max(), opened.weights.max())
    diagonal = {p.id: p.matrix for p in make_panels(open_block(kept, 9, 9), 9, 9)}["window"]
    assert diagonal.values[0][1] is None
    assert diagonal.values[1][0] is not None


def test_what_does_not_fit_is_refused_before_it_is_taken(monkeypatch):
    monkeypatch.setattr(weight_map, "measure_free_bytes", lambda _device: 100_000)
    with pytest.raises(ModelError, match="need more memory than is free"):
        compute_map(make_map_job(MapRequest(LENGTH, 0)))


def test_a_job_that_nobody_waits_for_stops():
    job = make_map_job(MapRequest(LENGTH, 0))
    job.cancel()
    assert job.run() == "cancelled"
    assert len(job.reports) == 0
