"""One weight in tables: pairs of sources, two steps back, and what removing does."""

from random import Random

import torch

from explainers.chapters.why_it_looked.explained_cell import Explained
from explainers.chapters.why_it_looked.hero import show_token
from explainers.charts.matrix import Matrix
from explainers.charts.theme import TOKEN_AXIS
from explainers.messages import N_
from explainers.translations import _
from explainers.ui.controls import why_controls as chosen
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Figure, Panel
from explainers.ui.page_parts.check_yourself import Recall
from explainers.ui.text.numbers import PERCENT, write_percent
from explainers.ui.untrusted_text import show_spaces

ANSWERS = HARDLY, HALF, NOTHING_LEFT = (
    N_("hardly less than before"),
    N_("about half of it"),
    N_("almost nothing"),
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


def describe_pairs(one: Explained, kind: str) -> dict[str, str]:
    """How many sources there are, and what all pairs sum to."""
    rows, _columns, values = one.pairs[kind]
    total = sum(map(sum, values))
    return {
        "count": f"{len(one.sources)}",
        "shown": f"{len(rows)}",
        "pairs": f"{len(one.sources) ** 2:,}",
        "sum": f"{total:.2f}",
    }


def draw_pairs(one: Explained, kind: str, origin: str, key: str = "") -> None:
    """The largest sources of the query down, those of the key across; the rest in one line each."""
    rows, columns, values = one.pairs[kind]
    rest = _("all others")
    matrix = Matrix(
        _("parts of the score"),
        _("all cells together: {sum}", sum=f"{sum(map(sum, values)):.2f}"),
        values,
        [*map(one.name, rows), rest],
        [*map(one.name, columns), rest],
        _("what wrote the query"),
        _("what wrote the key"),
    )
    alt = _("What each source of the query and each source of the key add to the score together.")
    show_figure(Figure([Panel("pairs", matrix)], alt), origin, f"pairs {key}".strip())


def describe_trace(one: Explained) -> dict[str, str]:
    """Where the head looked that wrote most of the key, of all heads."""
    if one.trace is None:
        return {}
    place, weights, parts = one.trace
    best = max(range(len(weights)), key=lambda at: weights[at])
    return {
        "key": show_token(one, one.key),
        "source": one.name(place),
        "token": show_token(one, best),
        "weight": write_percent(weights[best]),
        "part": f"{parts[best]:.2f}",
        "sum": f"{sum(parts):.2f}",
    }


def draw_trace(one: Explained, origin: str, key: str = "") -> None:
    """The row of the earlier head: its weights, and what each token gave to the score."""
    if one.trace is None:
        return
    place, weights, parts = one.trace
    tokens = [show_spaces(token) for token in one.tokens[: len(weights)]]
    source = one.name(place)
    panels = [
        Panel(
            "looked",
            Matrix(
                _("weights"),
                _("where {source} looked", source=source),
                [weights],
                [source],
                tokens,
                "",
                TOKEN_AXIS,
                "weights",
            ),
        ),
        Panel(
            "gave",
            Matrix(
                _("parts"),
                _("what each token gave to the score through it"),
                [parts],
                [source],
                tokens,
                "",
                TOKEN_AXIS,
            ),
        ),
    ]
    alt = _("The weights of an earlier head, and its part of the score by token.")
    show_figure(Figure(panels, alt), origin, f"trace {key}".strip())


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
