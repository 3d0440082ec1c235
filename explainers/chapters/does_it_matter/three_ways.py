"""One head replaced by zero, by its mean and by another text: which of them misleads?"""

from random import Random
from typing import NamedTuple

from torch import Tensor

from explainers.chapters.common.background_job import offer_job, show_problem, watch_job
from explainers.chapters.common.measured_heads import name_head
from explainers.chapters.does_it_matter.hero import Shown
from explainers.charts.matrix import Matrix
from explainers.messages import N_
from explainers.models.head_ablation import KINDS, MEAN, ZERO, Estimate, summarise
from explainers.models.matter_jobs import make_head_job
from explainers.models.shipped_ablations import MODEL, SAMPLE, Place
from explainers.translations import _
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Figure, Panel
from explainers.ui.page_parts.check_yourself import Recall

SAME, HALF, NOTHING = N_("about the same"), N_("about half"), N_("almost nothing")
SHARES = SAME, HALF, NOTHING
MISLED = SAMPLE[0]
"""The head of the question: zero says that it matters."""
JOB = "matter: head"
LISTED = 10
CHANCE = N_("whether any other words would do the same")
SPEED, WHICH = N_("how fast the model is"), N_("which layer the head is in")


class Ways(NamedTuple):
    """A head's estimates, by the three replacements."""

    place: Place
    found: dict[str, Estimate]


def read_ways(shown: Shown, place: Place) -> Ways | None:
    """As it was measured beforehand; nothing for a head that was not."""
    rises = shown.ablations.rises[(slice(None), *place)]
    return None if rises.isnan().any() else make_ways(place, rises)


def make_ways(place: Place, rises: Tensor) -> Ways:
    """From rises (kinds, texts)."""
    return Ways(place, {kind: summarise(row) for kind, row in zip(KINDS, rises, strict=True)})


def answer_mean(ways: Ways) -> str:
    """How much of the rise with zeros is left with the mean."""
    share = ways.found[MEAN].mean / ways.found[ZERO].mean
    return SAME if share > 0.75 else HALF if share > 0.25 else NOTHING


def describe_ways(ways: Ways) -> dict[str, str]:
    """The head, its rises with their errors, and a row of a table; for the text."""
    told = {kind.replace(" ", "_"): write_estimate(one) for kind, one in ways.found.items()}
    cells = [f"{_(kind)} | {write_grey(one)}" for kind, one in ways.found.items()]
    return {"head": name_head(*ways.place), "rows": "\n".join(f"| {c} |" for c in cells), **told}


def write_estimate(one: Estimate) -> str:
    """Mean ± standard error."""
    return f"{one.mean:+.3f} ± {one.error:.3f}".replace("-", "−")


def write_grey(one: Estimate) -> str:
    """Grey where the mean is less than two standard errors from 0."""
    return f"**{write_estimate(one)}**" if one.is_clear else f":gray[{write_estimate(one)}]"


def measure_ways(place: Place) -> Ways | None:
    """A button, and how far the measurement is; at last its result."""
    job = make_head_job((MODEL, place))
    shown = offer_job(JOB, _("Measure this head"), job, icon=":material/query_stats:")
    if not shown or shown.subject != job.subject:
        return None
    if shown.state == "failed":
        show_problem(shown)
    elif shown.result is not None:
        return make_ways(place, shown.result)
    else:
        watch_job(JOB, shown, name_head(*place))
    return None


def draw_ways(ways: Ways, origin: str) -> None:
    """Mean and standard error of each replacement, beside each other."""
    found = ways.found.values()
    matrix = Matrix(
        name_head(*ways.place),
        _("nats per token, over eight passages"),
        [[one.mean for one in found], [one.error for one in found]],
        [_("loss rises by"), _("standard error")],
        [_(kind) for kind in ways.found],
        "",
        _("replaced by"),
        decimals=3,
    )
    alt = _("What replacing {head} costs", head=name_head(*ways.place))
    show_figure(Figure([Panel("ways", matrix)], alt), origin, "ways")


def list_measured(shown: Shown) -> str:
    """The heads that were measured, those with the largest estimate first; rows of a table."""
    largest = shown.ablations.estimates.mean(dim=-1).abs().amax(dim=0)
    order = largest.flatten().argsort(descending=True).tolist()
    rows: list[str] = []
    for place in (divmod(one, shown.shape[1]) for one in order):
        ways = read_ways(shown, place)
        if ways and len(rows) < LISTED:
            cells = " | ".join(write_grey(one) for one in ways.found.values())
            rows.append(f"| {name_head(*place)} | {float(largest[place]):.3f} | {cells} |")
    return "\n".join(rows)


def recall_null(_draw: Random) -> Recall:
    """What random words are for."""
    return Recall(CHANCE, {}, [SPEED, CHANCE, WHICH])


def recall_effect(draw: Random) -> Recall:
    """How far a lead has moved, in percent of the way."""
    lead, other = draw.randint(5, 9), -draw.randint(5, 9)
    share = draw.choice([0.25, 0.5, 0.75])
    moved = lead + share * (other - lead)
    given = {"lead": f"{lead}", "other": f"−{-other}", "moved": f"{moved:g}".replace("-", "−")}
    return Recall(round(100 * share), given)
