"""The hero of the page: all weights of a long text and the one tile in memory, to one scale."""

from functools import cache
from typing import Any

import torch

from explainers.attention import masks
from explainers.attention.steps import hide, softmax
from explainers.attention.tiled import tile_cells
from explainers.chapters.common.score_matrix import Lab
from explainers.chapters.long_sequences.tile_figure import TiledSentence
from explainers.memory.cache_formula import format_size
from explainers.toys.layers import MASK_TITLES
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.figure.chart import tabulate
from explainers.ui.figure.hero import Experiment, Hero, HeroChoice, round_numbers
from explainers.ui.page import Prose
from explainers.ui.text.numbers import write_percent

LENGTHS = tuple(2**power for power in range(10, 21))
SHORT = 4_096
"""Of the lengths, the longest whose weights fit into memory without a thought."""
OFFERED = tuple(MASK_TITLES)[:4]
"""Masks that have a button: more would not fit into one line beside the list."""
BLOCKS = 2, 3
"""Queries and keys of a tile of the sentence."""
SHADES, APART = 48, 1_024
"""Positions along each side by which a mask is shaded, and the tokens between two of them."""
SENTENCES = ("hero_caption", "hero_short", "hero_all", "hero_skipped")


CELL_BYTES = 2
"""A number of a model that runs: bfloat16."""


TILE = 128
"""Queries, and keys, of a tile as a GPU reads it."""


PERIOD = 3
"""Tiles after which a mask looks the same again: chunks of 3 begin where every third tile does."""


@cache
def count_read_tiles(mask: str, tokens: int) -> int:
    """How many tiles of a text a mask leaves, counted for three short texts, a period apart.

    From these on, each period has as many tiles more as the period before: the counts of all such
    texts lie on a parabola.
    """
    steps, beyond = divmod(tokens // TILE - 1, PERIOD)
    lengths = [(1 + beyond + PERIOD * step) * TILE for step in range(3)]
    counts = [
        int((tile_cells(masks.RULES[mask], length, length, TILE, TILE) > 0).sum())
        for length in lengths
    ]
    growth, more = counts[1] - counts[0], counts[2] - 2 * counts[1] + counts[0]
    return counts[0] + steps * growth + steps * (steps - 1) // 2 * more


def make_hero(text: Prose, lab: Lab) -> Hero:
    """Every length under every mask, and the tiles of the sentence one after the other."""
    length, mask = controls.sequence_length, controls.tile_mask
    labels = [_(MASK_TITLES[name]) for name in OFFERED]
    choices = [HeroChoice.read(mask, OFFERED, labels), HeroChoice.read(length, LENGTHS)]
    alt = _("All weights of a long text, and beside them the one tile that is in memory.")
    numbers = compute_numbers(lab)
    return Hero(
        "tiles",
        alt,
        numbers,
        choices,
        SENTENCES,
        list_experiments(text),
        lab.origin,
        make_length_table,
    )


def compute_numbers(lab: Lab) -> dict[str, Any]:
    """Sizes of the texts, which tiles each mask leaves, and what each tile of the sentence adds."""
    return {
        "tokens": list(lab.tokens),
        "side": TILE,
        "tileBytes": write_size(TILE),
        "lengths": [
            {
                "tokens": tokens,
                "name": f"{tokens:,}",
                "bytes": write_size(tokens),
                "ratio": f"{(tokens // TILE) ** 2:,}",
                "isShort": tokens <= SHORT,
                "tiles": f"{(tokens // TILE) ** 2:,}",
                "read": {name: f"{count_read_tiles(name, tokens):,}" for name in OFFERED},
                "skipped": {
                    name: f"{(tokens // TILE) ** 2 - count_read_tiles(name, tokens):,}"
                    for name in OFFERED
                },
            }
            for tokens in LENGTHS
        ],
        "masks": {name: compute_sweep(lab, name) for name in OFFERED},
    }


def compute_sweep(lab: Lab, name: str) -> dict[str, Any]:
    """A mask's shades, and each tile of the sentence with all that is known when it was read."""
    tiles, place = TiledSentence.cut(lab, name, BLOCKS), APART * torch.arange(SHADES)
    shades = tiles.rule(place[:, None], place)
    count = range(1, len(tiles.steps) + 1)
    seen = torch.stack([tiles.mark_seen(read) for read in count])  # (tiles, words, words)
    so_far = softmax(hide(lab.scores, seen)).nan_to_num()
    output = so_far @ lab.views.value
    total = (lab.weights(tiles.rule) * seen).sum(dim=-1)
    rows, columns = tiles.blocks
    return {
        "name": _(MASK_TITLES[name]),
        "shades": [int(row @ 2 ** torch.arange(SHADES)) for row in shades.long()],
        "allowed": lab.mask(tiles.rule).long().tolist(),
        "blocks": [rows, columns],
        "all": tiles.count,
        "steps": [
            {
                "rows": [step.queries.start, step.queries.stop],
                "columns": [step.keys.start, step.keys.stop],
                "shares": round_numbers(shares[step.queries, step.keys]),
                "output": round_numbers(mixed[step.queries], 3),
                "total": round_numbers(sums[step.queries], 3),
            }
            for step, shares, mixed, sums in zip(tiles.steps, so_far, output, total, strict=True)
        ],
    }


def write_size(tokens: int) -> str:
    """The bytes of all weights of so many tokens, in one head and layer; no decimals that are 0."""
    return format_size(tokens**2 * CELL_BYTES).replace(".00", "")


def list_experiments(text: Prose) -> list[Experiment]:
    """What a reader can try, each with its numbers."""
    length, usual = controls.sequence_length, controls.sequence_length.default
    short, long = SHORT, LENGTHS[-1]
    whole = (usual // TILE) ** 2
    skipped = whole - count_read_tiles("causal", usual)
    of_short = {"tokens": f"{short:,}", "bytes": write_size(short)}
    of_long = {
        "times": long // usual,
        "squared": (long // usual) ** 2,
        "bytes": write_size(long),
        "tile": write_size(TILE),
    }
    share = {"share": write_percent(skipped / whole), "tokens": f"{usual:,}"}
    return [
        Experiment("short", text.fill("try_short", **of_short), {length.key: short}),
        Experiment("million", text.fill("try_million", **of_long), {length.key: long}),
        Experiment(
            "causal",
            text.fill("try_causal", **share),
            {controls.tile_mask.key: "causal", length.key: usual},
        ),
    ]


def make_length_table() -> Any:
    """All lengths, their bytes, and the tiles that each mask leaves."""
    rows = [
        [tokens, tokens**2 * CELL_BYTES, *(count_read_tiles(name, tokens) for name in OFFERED)]
        for tokens in LENGTHS
    ]
    read = [_("tiles read: {mask}", mask=_(MASK_TITLES[name])) for name in OFFERED]
    return tabulate(rows, [_("tokens"), _("bytes"), *read])
