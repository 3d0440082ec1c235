"""One weight in words and a table: its sum, and what removing does."""

from random import Random

import torch
from torch import Tensor

from explainers.chapters.why_it_looked.explained_cell import Explained
from explainers.chapters.why_it_looked.hero import show_token
from explainers.charts.matrix import Matrix
from explainers.messages import N_
from explainers.translations import _
from explainers.ui.controls import why_controls as chosen
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Figure, Panel
from explainers.ui.page_parts.check_yourself import Recall
from explainers.ui.takeaway_files import run_and_hand_over
from explainers.ui.text.numbers import PERCENT, write_percent

ANSWERS = HARDLY, HALF, NOTHING_LEFT = (
    N_("hardly less than before"),
    N_("about half of it"),
    N_("almost nothing"),
)


def remove_key_source(scores: Tensor, key: int, parts: Tensor, source: int) -> dict[str, Tensor]:
    """The parts (sources,) sum to the key's score; without one of them the key scores less."""
    without = scores.clone()
    without[key] = without[key] - parts[source]
    return {
        "sum of the parts": parts.sum(),
        "weights": scores.softmax(-1),
        "weights without the source": without.softmax(-1),
    }


def hand_over_weight(one: Explained) -> None:
    """The weight that the picture shows, without the key's first source, for the page's files."""
    run_and_hand_over(
        "weight",
        _("Head {which}: a weight without one source", which=f"L{one.layer}.H{one.head}"),
        remove_key_source,
        scores=torch.tensor(one.scores, dtype=torch.double),
        key=one.key,
        parts=torch.tensor(one.parts[chosen.RAW][1], dtype=torch.double),
        source=one.rank(chosen.RAW, 1)[0],
    )


def answer_first(one: Explained) -> str:
    """How much of the weight is left without the key's first source."""
    share = one.removals[chosen.FIRST].measured / one.weight
    return NOTHING_LEFT if share < 1 / 4 else HALF if share < 3 / 4 else HARDLY


def describe_removals(one: Explained) -> dict[str, str]:
    """The slots of the sentences about what is removed."""
    removal = one.removals[chosen.FIRST]
    return {
        "which": f"L{one.layer}.H{one.head}",
        "query": show_token(one, one.query),
        "key": show_token(one, one.key),
        "weight": write_percent(one.weight),
        "source": one.name(removal.places[0]),
        "predicted": write_percent(removal.predicted),
        "measured": write_percent(removal.measured),
        "others": write_percent(removal.others),
    }


def draw_removals(one: Explained, origin: str, key: str = "") -> None:
    """The weight as it is, predicted, into the head only, in the whole pass, and without others."""
    columns = (_("as it is"), _("predicted"), _("this head only"), _("whole pass"), _("at random"))
    shown = chosen.FIRST, chosen.KEY_THREE, chosen.QUERY_THREE
    values = [
        [one.weight, kept.predicted, kept.into_head, kept.measured, kept.others]
        for kept in map(one.removals.__getitem__, shown)
    ]
    rows = _("key: first"), _("key: first 3"), _("query: first 3")
    matrix = Matrix(
        _("weight"),
        _("without the sources at the left"),
        values,
        rows,
        columns,
        _("removed"),
        "",
        "weights",
        decimals=3,
    )
    alt = _("The weight without its largest sources: predicted, measured, and with others removed.")
    show_figure(Figure([Panel("removed", matrix)], alt), origin, f"removed {key}".strip())


def describe_sum(one: Explained) -> dict[str, str]:
    """The sum of all parts of each side, and the score."""
    query, key = one.parts[chosen.RAW]
    return {
        "count": f"{len(one.sources)}",
        "query_sum": f"{sum(query):.3f}",
        "key_sum": f"{sum(key):.3f}",
        "score": f"{one.score:.3f}",
    }


def recall_rest(draw: Random) -> Recall:
    """What the others give, where the first parts and the score are known."""
    first, second, rest = draw.randint(30, 60), draw.randint(10, 29), draw.randint(5, 25)
    score = first + second - rest
    numbers = {"first": first, "second": second, "score": score}
    given = {name: f"{number / 10:.1f}" for name, number in numbers.items()}
    return Recall(-rest / 10, given, tolerance=0.01)


def recall_alike(draw: Random) -> Recall:
    """A source that gives the same to all keys moves no weight."""
    scores = torch.tensor([draw.randint(-20, 20) / 10 for _key in range(4)], dtype=torch.double)
    alike = draw.randint(2, 9)
    gap = (scores + alike).softmax(-1)[0] - scores.softmax(-1)[0]
    points = abs(round(100 * gap.item(), 6))
    return Recall(points, {"alike": f"{alike}"}, tolerance=0.4, unit=PERCENT)
