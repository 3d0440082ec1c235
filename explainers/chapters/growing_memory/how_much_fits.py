"""How many random pairs a memory finds again."""

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import normalize

from explainers.attention.linear import read_state
from explainers.chapters.growing_memory.written_pairs import write_pair
from explainers.toys.examples import make_generator
from explainers.toys.pair_memory import OVERWRITE, SUM
from explainers.translations import _
from explainers.ui.figure.chart import show_chart
from explainers.ui.text.numbers import write_percent

DIM, RUNS, LAST, PASSES = 16, 100, 4, 3
COUNTS = 2, 4, 8, 16, 24, 32, 64


class Fit(NamedTuple):
    """Shares of pairs that are found again, by their place (pairs,), the mean of many memories."""

    rule: str
    found: Tensor

    @property
    def whole(self) -> float:
        """Of all pairs."""
        return self.found.mean().item()

    @property
    def last(self) -> float:
        """Of those that were written last."""
        return self.found[-LAST:].mean().item()


def fit_pairs(rule: str, count: int, seed: int, passes: int = 1) -> Fit:
    """Write random pairs into a hundred memories, and ask each for every value.

    A pair is found if no other pair's value is nearer to the answer.
    """
    generator = make_generator("how much fits", seed, count)
    keys = normalize(torch.randn(RUNS, count, DIM, generator=generator), dim=-1)
    values = torch.randn(RUNS, count, DIM, generator=generator)
    state = torch.zeros(RUNS, DIM, DIM)
    for place in [*range(count)] * passes:
        state = write_pair(state, keys[:, place], values[:, place], rule)
    answers = read_state(state[:, None], keys)
    nearest = torch.cdist(answers, values).argmin(dim=-1)  # (runs, pairs)
    return Fit(rule, (nearest == torch.arange(count)).float().mean(dim=0))


def fit_all(seed: int) -> dict[tuple[str, int], Fit]:
    """Both rules at every number of pairs."""
    return {
        (rule, count): fit_pairs(rule, count, seed) for rule in (SUM, OVERWRITE) for count in COUNTS
    }


def name_fits(fits: dict[tuple[str, int], Fit], seed: int) -> dict[str, str]:
    """What the curves come to, for a text."""
    most, again = COUNTS[-1], fit_pairs(OVERWRITE, DIM, seed, PASSES)
    return {
        "dim": f"{DIM}",
        "runs": f"{RUNS}",
        "sum_at_dim": write_percent(fits[SUM, DIM].whole),
        "overwrite_at_dim": write_percent(fits[OVERWRITE, DIM].whole),
        "again": write_percent(again.whole),
        "passes": f"{PASSES}",
        "most": f"{most}",
        "sum": write_percent(fits[SUM, most].whole),
        "overwrite": write_percent(fits[OVERWRITE, most].whole),
        "overwrite_last": write_percent(fits[OVERWRITE, most].last),
        "sum_last": write_percent(fits[SUM, most].last),
        "last": f"{LAST}",
    }


def show_fits(fits: dict[tuple[str, int], Fit], seed: int) -> None:
    """A curve for each rule, and one for the pairs that overwriting wrote last."""
    import pandas as pd

    from explainers.charts.curves import Axis, draw_curve

    series = (_("sum"), _("overwrite"), _("overwrite: the last {count} pairs", count=LAST))
    points = [(count, 100 * fits[SUM, count].whole, series[0], False) for count in COUNTS]
    points += [(count, 100 * fits[OVERWRITE, count].whole, series[1], False) for count in COUNTS]
    points += [(count, 100 * fits[OVERWRITE, count].last, series[2], False) for count in COUNTS]
    rows = pd.DataFrame(points, columns=["x", "y", "series", "reference"])
    named = name_fits(fits, seed)
    alt = _(
        "Pairs found again: of {most}, sums find {sum} and overwriting {overwrite}.",
        most=named["most"],
        sum=named["sum"],
        overwrite=named["overwrite"],
    )
    axes = {"x": Axis(_("pairs written"), is_logarithmic=True), "y": Axis(_("found again, %"))}
    origin = _("keys and values at random, seed {seed}: computed live", seed=seed)
    show_chart(draw_curve, rows, alt, "how much fits", origin, series=series, **axes)
