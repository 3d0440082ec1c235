"""Does a weight fall without the sources that its score's parts name? In SmolLM2, on real text.

`python -m benchmarks.why 200` takes as many natural cells; weights above 0.1, from layer 4 on, the
key neither the first token nor the query. It prints what the whole forward pass says.
"""

import random
import sys

import torch

from explainers.models.load import load_model
from explainers.models.probes import make_natural_probe
from explainers.models.registry import WHEEL_MODELS
from explainers.models.removed_sources import draw_others, rank_sources, remove_sources
from explainers.models.score_sources import KEY_SIDE, QUERY_SIDE, Cell, split_score
from explainers.models.written_out import WrittenRun, write_out

LEAST_WEIGHT, FIRST_LAYER, REMOVED = 0.1, 4, 3


def list_cells(run: WrittenRun) -> list[Cell]:
    """All cells of a text whose weights are large enough."""
    cells = []
    for layer, kept in enumerate(run.layers[FIRST_LAYER:], start=FIRST_LAYER):
        weights = kept.weights.clone()
        weights[..., 0] = 0
        weights.diagonal(dim1=1, dim2=2).zero_()
        cells += [Cell(layer, *found) for found in (weights > LEAST_WEIGHT).nonzero().tolist()]
    return cells


def measure(count: int) -> list[str]:
    """Rows of a table: how often a weight falls, and where keys are the token before."""
    loaded, generator = load_model(WHEEL_MODELS[0].id), random.Random(1)
    runs = [write_out(loaded, ids) for ids in make_natural_probe(loaded).ids]
    cells = [(run, cell) for run in runs for cell in list_cells(run)]
    names = "all", "key is the token before", "other keys"
    falls: dict[tuple[str, str], list[bool]] = {}
    for run, cell in generator.sample(cells, min(count, len(cells))):
        split = split_score(run, cell)
        role = names[1] if cell.key == cell.query - 1 else names[2]
        for side in (QUERY_SIDE, KEY_SIDE):
            chosen = rank_sources(split, side, is_centred=side == QUERY_SIDE)[:REMOVED]
            others = draw_others(split, chosen, REMOVED, generator)
            one, other = remove_sources(run, split, side, [chosen, others])
            found = {
                f"{side}: into this head": one.into_head < split.weight,
                f"{side}: whole pass": one.measured < split.weight,
                f"{side}: three others, whole pass": other.measured < split.weight,
            }
            for name, is_less in found.items():
                for group in (names[0], role):
                    falls.setdefault((group, name), []).append(is_less)
    return [
        f"| {group} | {name} | {len(seen)} | {100 * sum(seen) / len(seen):.1f} % |"
        for (group, name), seen in sorted(falls.items())
    ]


if __name__ == "__main__":
    torch.set_num_threads(1)
    print("| cells | removed | count | weight falls |\n|---|---|---:|---:|")
    print("\n".join(measure(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)))
