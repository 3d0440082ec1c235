"""Does a weight fall without the sources that its score's parts name? In SmolLM2, on real text.

Weights above 0.1, from layer 4 on, the key neither the first token nor the query; a thousand of
all, and for each role up to 300 of its own. `workshop.models.removals_by_role` measures.
"""

import time

import torch

from benchmarks import report
from explainers.models.load import load_model
from explainers.models.shipped_measurements import MODEL, WAYS, RoleResult
from workshop.models.removals_by_role import (
    FIRST_LAYER,
    LEAST_ENTROPY,
    LEAST_WEIGHT,
    MEASURED,
    MOST_PER_ROLE,
    REMOVED,
    measure_roles,
)


def row(one: RoleResult) -> str:
    """One role: how often the weight falls in each way, and medians of the weight."""
    shares = (f"{100 * one.share(way):.1f}%" for way in WAYS)
    as_it_is, *without = one.medians
    medians = as_it_is, without[WAYS.index("query")], without[WAYS.index("key")]
    numbers = (f"{median:.3f}" for median in medians)
    return f" {one.role} | {one.cells:,} | {' | '.join(shares)} | {' | '.join(numbers)} "


def measure(cells: int) -> str:
    """The report's section."""
    torch.set_num_threads(1)
    began, computed = time.perf_counter(), time.process_time()
    results = measure_roles(load_model(MODEL), count=cells, most=min(cells, MOST_PER_ROLE))
    remarks = (
        f"{MODEL}, eight passages of 64 tokens; weights above {LEAST_WEIGHT}, from layer "
        f"{FIRST_LAYER} on, the key neither the first token nor the query, drawn with a seed: of "
        f"all; of a text and a head at random, then one of its weights, so that each head counts "
        f"alike; and of each role of the head (a head may have several; diffuse: entropy above "
        f"{LEAST_ENTROPY} of the most possible, without the first token). {REMOVED} sources are "
        f"removed at the query's or the key's position; the columns say in how many cells the "
        f"weight falls. “Into the head”: only this head reads without them. “Others”: as many "
        f"drawn at random. “Raw”: the largest of the raw bars. “Query” and “key”: all positions "
        f"from there to the query are computed anew. The last three are medians of the weight: as "
        f"it is, without the query's, without the key's. Aim: 90% in the whole pass and "
        f"99% into the head, of all and with each head alike. {time.perf_counter() - began:.0f} s, "
        f"of which the process computed {time.process_time() - computed:.0f} s, on one thread."
    )
    head = f" role | cells | {' | '.join(WAYS)} | weight | without query | without key "
    return report.section("Removed sources by role", None, remarks, head, map(row, results))


if __name__ == "__main__":
    chosen = report.options(__doc__, MEASURED, "cells")
    report.publish(measure(chosen.cells), chosen.write)
