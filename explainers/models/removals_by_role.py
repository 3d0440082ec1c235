"""Does a weight fall without the sources that its parts name? SmolLM2 on prose, by role."""

import functools
import json
from typing import Any, NamedTuple

from explainers.messages import N_
from explainers.models.registry import WHEEL_MODELS
from explainers.models.shipped_scores import FOLDER, has_other_weights

MODEL = WHEEL_MODELS[0].id
FILE = FOLDER / "why_by_role.json"
ALL, ALIKE = N_("all"), N_("all, each head alike")
"""Every large weight may be drawn; or a text and a head are, and then one of its large weights."""
DIFFUSE, NO_ROLE = N_("diffuse"), N_("no role")
WAYS = (
    *("query, into the head", "query", "query, others", "query, raw"),
    *("key, into the head", "key", "key, others"),
)
"""Three sources removed from one side: the largest or others; all layers react or only this head.

The query's largest are those of its compared bars, which leave out what all keys get alike; "raw"
are those of its raw bars.
"""


class RoleResult(NamedTuple):
    """How often the weight fell, of so many cells, in each of the `WAYS`; and medians of it.

    `medians` are of the weight as it is, then without three sources in each way.
    """

    role: str
    cells: int
    falls: list[int]
    medians: list[float]

    def share(self, way: str) -> float:
        """Of the cells, how many had a smaller weight without the sources."""
        return self.falls[WAYS.index(way)] / self.cells


def read_roles() -> list[RoleResult] | None:
    """What came with the app, unless this machine's model has other weights."""
    if not FILE.is_file():
        return None
    results, fingerprint = read_file()
    return None if has_other_weights(MODEL, fingerprint) else results


@functools.cache
def read_file() -> tuple[list[RoleResult], str]:
    kept: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return [RoleResult(*one) for one in kept["results"]], kept["fingerprint"]
