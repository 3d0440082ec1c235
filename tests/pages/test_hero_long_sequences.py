"""The picture that opens the page on long sequences: sizes in bytes, tiles of masks, a sweep."""

import pytest
import torch
from torch.testing import assert_close

from explainers.attention import masks
from explainers.attention.tiled import tile_cells
from explainers.chapters.common.score_matrix import Lab
from explainers.chapters.long_sequences.hero import LENGTHS, OFFERED, SHADES, compute_numbers
from explainers.chapters.long_sequences.matrix_sizes import TILE, count_read_tiles
from explainers.toys.layers import draw_layer
from explainers.toys.sentence import SENTENCE
from tests.support.opening import ROOT, opened
from tests.support.reading import hero

PAGE = ROOT / "pages" / "11_long_sequences.py"
WORDS = tuple(SENTENCE.split())
LAB = Lab(draw_layer(WORDS, 8, 1, 4, "full", seed=0), queries_down=True)
UNITS = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}


def in_bytes(size):
    number, unit = size.split()
    return float(number) * UNITS[unit]


@pytest.mark.parametrize("mask", masks.RULES)
def test_the_tiles_of_long_texts_are_those_that_the_mask_leaves(mask):
    for tokens in (1_024, 2_048):
        found = tile_cells(masks.RULES[mask], tokens, tokens, TILE, TILE)
        assert count_read_tiles(mask, tokens) == int((found > 0).sum())


def test_sizes_are_those_of_tensors():
    sent = compute_numbers(LAB)
    tile = torch.empty(TILE, TILE, dtype=torch.bfloat16)
    assert in_bytes(sent["tileBytes"]) == tile.nbytes
    for length in sent["lengths"]:
        n = length["tokens"]
        weights = torch.empty(n, n, dtype=torch.bfloat16, device="meta")
        assert in_bytes(length["bytes"]) == weights.nbytes
        assert length["ratio"] == f"{weights.nbytes // tile.nbytes:,}"
        for mask, read in length["read"].items():
            count = int(read.replace(",", "")) + int(length["skipped"][mask].replace(",", ""))
            assert f"{count:,}" == length["tiles"]
    assert [length["tokens"] for length in sent["lengths"]] == list(LENGTHS)
    assert sent["lengths"][7]["bytes"] == "32 GiB"


@pytest.mark.parametrize("name", OFFERED)
def test_each_tile_shows_what_is_known_when_it_is_read(name):
    sweep = compute_numbers(LAB)["masks"][name]
    query, key, value = LAB.views
    scores, mask = query @ key.T / 2, masks.build(masks.RULES[name], 7, 7)
    seen = torch.zeros(7, 7, dtype=torch.bool)
    whole = scores.masked_fill(~mask, -torch.inf).softmax(-1)
    for step in sweep["steps"]:
        rows, columns = slice(*step["rows"]), slice(*step["columns"])
        assert mask[rows, columns].any()
        seen[rows, columns] = mask[rows, columns]
        known = scores.masked_fill(~seen, -torch.inf).softmax(-1).nan_to_num()
        assert_close(torch.tensor(step["shares"]), known[rows, columns], atol=6e-5, rtol=0)
        assert_close(torch.tensor(step["output"]), (known @ value)[rows], atol=6e-4, rtol=0)
        total = (whole * seen).sum(-1)[rows]
        assert_close(torch.tensor(step["total"]), total, atol=6e-4, rtol=0)
    assert (seen == mask).all()
    skipped = sweep["all"] - len(sweep["steps"])
    assert skipped == int((tile_cells(masks.RULES[name], 7, 7, 2, 3) == 0).sum())


def test_a_mask_is_shaded_as_it_is():
    shades = compute_numbers(LAB)["masks"]["causal"]["shades"]
    bits = [[row >> column & 1 for column in range(SHADES)] for row in shades]
    assert torch.equal(torch.tensor(bits), torch.ones(SHADES, SHADES, dtype=torch.long).tril())


def test_a_link_chooses_length_and_mask():
    sent = hero(opened(PAGE, {"length": "4096", "tile_mask": "causal"}))
    assert sent["choices"] == {"tile_mask": "causal", "length": 4_096}
    assert sent["usual"] == {"tile_mask": "full", "length": 131_072}
    absurd = opened(PAGE, {"length": "5", "tile_mask": "none"})
    assert not absurd.exception
    assert hero(absurd)["choices"] == {"tile_mask": "full", "length": 131_072}


@pytest.mark.parametrize("words", [1, 2, 24])
def test_a_text_of_any_length_has_its_tiles(words):
    sweep = hero(opened(PAGE, {"text": "CEO " * words}))["masks"]["full"]
    assert len(sweep["steps"]) == sweep["all"]
    assert sweep["steps"][-1]["rows"][1] == words
