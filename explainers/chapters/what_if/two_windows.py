"""A model that sees four tokens, and the same with the first one as well."""

from random import Random

from explainers.attention import masks
from explainers.chapters.what_if.before_after import Reading
from explainers.charts.matrix import Matrix, Values
from explainers.messages import N_
from explainers.models.changes import Effect, Window
from explainers.translations import _
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Figure, Panel
from explainers.ui.page_parts.check_yourself import Recall
from explainers.ui.text.numbers import write_percent
from explainers.ui.untrusted_text import show_spaces, verbatim

WIDTH = 4
"""Tokens that each token sees, itself included."""
WINDOWS = tuple(Window(width=WIDTH, sinks=sinks) for sinks in (0, 1))
ANSWERS = HARDLY, HALFWAY, BACK = (
    N_("hardly smaller"),
    N_("about halfway back"),
    N_("almost what it was"),
)


def measure_windows(reading: Reading) -> list[Effect]:
    """What a window does to a text, and the same window with the first token.

    Nothing for a text that cannot be read, or has no token for the window to hide.
    """
    found = [reading.measure(window) for window in WINDOWS]
    return [effect for effect in found if effect and len(effect.tokens) > WIDTH]


def answer_first(effects: list[Effect]) -> str:
    """How much of what the window broke the first token mends."""
    (before, broken), (_before, mended) = (effect.mean_losses for effect in effects)
    share = (broken - mended) / (broken - before) if broken != before else 0.0
    return HARDLY if share < 1 / 4 else HALFWAY if share < 3 / 4 else BACK


def draw_windows(effects: list[Effect], origin: str) -> None:
    """The next token as it is, with the window, and with the first token as well."""
    show_figure(_make_figure(effects), origin, "two windows")


def list_chances(effects: list[Effect]) -> dict[str, list[float | None]]:
    """By token: its probability as it is, with the window, and with the first token as well.

    A token that is unlikely in two of them may have been measured in one only.
    """
    chances: dict[str, list[float | None]] = {}
    for place, effect in enumerate(effects, start=1):
        for token, before, after in effect.next_tokens:
            row = chances.setdefault(token, [before, None, None])
            row[place] = after
    return chances


def name_windows(effects: list[Effect], prompt: str) -> dict[str, str]:
    """What the sentence says: the most probable token of each, and the losses."""
    chances = list_chances(effects)
    named = {"width": f"{WIDTH}", "prompt": verbatim(prompt), "word": effects[0].tokens[0]}
    for place, name in enumerate(("before", "window", "first")):
        best = max(chances, key=lambda token: chances[token][place] or 0.0)
        named[name] = verbatim(show_spaces(best))
        named[f"{name}_share"] = write_percent(chances[best][place] or 0.0)
    losses = effects[0].mean_losses[0], *(effect.mean_losses[1] for effect in effects)
    for name, loss in zip(("before", "window", "first"), losses, strict=True):
        named[f"{name}_loss"] = f"{loss:.2f}"
    return named


def _make_figure(effects: list[Effect]) -> Figure:
    chances = list_chances(effects)
    rows = (
        _("as it is"),
        _("last {width} tokens", width=WIDTH),
        _("last {width} and the first", width=WIDTH),
    )
    names = [show_spaces(token) for token in chances]
    values: Values = [[chances[token][place] for token in chances] for place in range(len(rows))]
    formula = _("probability of each; all tokens of the vocabulary together have 1")
    axis = _("token that may follow")
    matrix = Matrix(_("next token"), formula, values, rows, names, "", axis, "weights")
    alt = _("Probabilities of the next token: as it is, with a window, and with the first token.")
    return Figure([Panel("next", matrix)], alt)


def recall_visible(draw: Random) -> Recall:
    """What a window leaves in sight, with some tokens at the beginning."""
    width, sinks = draw.randint(3, 9), draw.randint(2, 4)
    place = draw.randint(width + sinks + 5, 60)
    window = masks.sliding_window(width)
    rule = masks.Rule(lambda query, key: (key < sinks) | window(query, key))
    seen = int(masks.build(rule, place, place)[-1].sum())
    return Recall(seen, {"width": f"{width}", "place": f"{place}", "sinks": f"{sinks}"})
