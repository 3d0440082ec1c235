"""The cards: one step of the delta rule, how many pairs fit, and bytes beside caches."""

from dataclasses import replace
from random import Random
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import normalize

from explainers.attention import masks
from explainers.attention.linear import (
    gated_delta_attention,
    linear_attention,
    read_state,
    write_delta,
)
from explainers.chapters.growing_memory import hero
from explainers.chapters.growing_memory.hero import Step, Story
from explainers.charts.matrix import Matrix
from explainers.charts.theme import FEATURE_AXIS
from explainers.memory.cache_bytes import (
    count_bytes_per_token,
    count_cache_bytes,
    count_extra_bytes,
)
from explainers.memory.cache_formula import format_size
from explainers.memory.model_shapes import ModelShape, find_shape
from explainers.toys.examples import make_generator
from explainers.toys.pair_memory import OVERWRITE, SUM
from explainers.translations import _
from explainers.ui.figure.chart import show_chart, tabulate
from explainers.ui.figure.panels import Figure, Panel
from explainers.ui.page import Prose
from explainers.ui.page_parts.check_yourself import Recall
from explainers.ui.provenance import formula
from explainers.ui.text.numbers import bound_rounding, write_decimals, write_percent


def name_numbers(step: Step) -> dict[str, str]:
    """The words nearest to what is read before and after, for a text."""
    story = step.story
    values, answers = story.vectors[1], (step.found, read_state(step.after, step.key))
    (old, old_score), (new, new_score) = (
        (story.names[int(like.argmax())], like.max().item())
        for like in (values @ answer for answer in answers)
    )
    word, following = story.pairs[step.place]
    return {
        "word": story.names[word],
        "following": story.names[following],
        "old": old,
        "old_score": write_decimals(old_score),
        "new": new,
        "new_score": write_decimals(new_score),
    }


def compare_forms(story: Story) -> dict[str, str]:
    """How far the answers of all words at once are from those of one pair after another."""
    rows = torch.tensor(story.pairs)
    keys, values = story.vectors[0][rows[:, 0]], story.vectors[1][rows[:, 1]]
    count = len(keys)
    mask, one = masks.build(masks.causal, count, count), torch.ones(count)
    at_once = {
        SUM: linear_attention(keys, keys, values, mask),
        OVERWRITE: gated_delta_attention(keys, keys, values, one, one),
    }
    apart = {
        rule: (read_state(hero.write_story(story, rule)[1:], keys) - output).abs().max().item()
        for rule, output in at_once.items()
    }
    return {rule: bound_rounding(difference) for rule, difference in apart.items()}


def draw_step(step: Step) -> Figure:
    """What is missing: the value, without what the memory says for its key."""
    numbers = [str(n) for n in range(1, hero.DIM + 1)]
    word, following = (step.story.names[at] for at in step.story.pairs[step.place])

    def draw_column(name: str, formula: str, vector: Tensor, role: str) -> Matrix:
        column = [[number] for number in vector.tolist()]
        # Without names of its axes it is narrow: all four stand in one line on a small screen.
        return Matrix(name, formula, column, numbers, [""], "", "", role=role, limit=1.0)

    state = Matrix(
        _("memory S"),
        _("before this pair"),
        step.before.tolist(),
        numbers,
        numbers,
        FEATURE_AXIS,
        FEATURE_AXIS,
        limit=1.0,
    )
    missing = step.value - step.found
    panels = [
        Panel("value", draw_column(_("value v"), following, step.value, "value")),
        Panel("memory", state, "−"),
        Panel("key", draw_column(_("key k"), word, step.key, "key"), "·"),
        Panel("missing", draw_column(_("missing"), "v − S · k", missing, "value"), "="),
    ]
    return Figure(panels, _("A value, minus the memory times a key: what is missing."))


FITTED_DIM, RUNS, LAST, PASSES = 16, 100, 4, 3
COUNTS = 2, 4, 8, 16, 24, 32, 64


class Fit(NamedTuple):
    """Shares of pairs that are found again, by their place (pairs,), the mean of many memories."""

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
    keys = normalize(torch.randn(RUNS, count, FITTED_DIM, generator=generator), dim=-1)
    values = torch.randn(RUNS, count, FITTED_DIM, generator=generator)
    state = torch.zeros(RUNS, FITTED_DIM, FITTED_DIM)
    for place in [*range(count)] * passes:
        state = hero.write_pair(state, keys[:, place], values[:, place], rule)
    answers = read_state(state[:, None], keys)
    nearest = torch.cdist(answers, values).argmin(dim=-1)  # (runs, pairs)
    return Fit((nearest == torch.arange(count)).float().mean(dim=0))


def show_fits(text: Prose, seed: int) -> None:
    """A curve for each rule, and one for the pairs that overwriting wrote last."""
    from explainers.charts.curves import Axis, draw_curve

    sums, overwritten = (
        {count: fit_pairs(rule, count, seed) for count in COUNTS} for rule in (SUM, OVERWRITE)
    )
    most, again = COUNTS[-1], fit_pairs(OVERWRITE, FITTED_DIM, seed, PASSES)
    named = {
        "dim": f"{FITTED_DIM}",
        "runs": f"{RUNS}",
        "sum_at_dim": write_percent(sums[FITTED_DIM].whole),
        "overwrite_at_dim": write_percent(overwritten[FITTED_DIM].whole),
        "again": write_percent(again.whole),
        "passes": f"{PASSES}",
        "most": f"{most}",
        "sum": write_percent(sums[most].whole),
        "overwrite": write_percent(overwritten[most].whole),
        "overwrite_last": write_percent(overwritten[most].last),
        "sum_last": write_percent(sums[most].last),
        "last": f"{LAST}",
    }
    text("fits", **named)
    series = (_("sum"), _("overwrite"), _("overwrite: the last {count} pairs", count=LAST))
    points = [(count, 100 * sums[count].whole, series[0], False) for count in COUNTS]
    points += [(count, 100 * overwritten[count].whole, series[1], False) for count in COUNTS]
    points += [(count, 100 * overwritten[count].last, series[2], False) for count in COUNTS]
    rows = tabulate(points, ["x", "y", "series", "reference"])
    alt = _(
        "Pairs found again: of {most}, sums find {sum} and overwriting {overwrite}.",
        most=named["most"],
        sum=named["sum"],
        overwrite=named["overwrite"],
    )
    axes = {"x": Axis(_("pairs written"), is_logarithmic=True), "y": Axis(_("found again, %"))}
    show_chart(
        draw_curve, rows, alt, "how much fits", hero.name_origin(seed), series=series, **axes
    )
    text("fits_seen", **named)


MODEL = "qwen3-next-80b-a3b"
LENGTHS = tuple(2**power for power in range(10, 19))


def give_attention_to_all(shape: ModelShape) -> ModelShape:
    """The same model, if all of its layers were those with attention."""
    groups = shape.require_groups()
    full = next(group for group in groups if group.kind == "full")
    return replace(shape, groups=(replace(full, count=sum(group.count for group in groups)),))


def name_costs(shape: ModelShape) -> dict[str, str]:
    """Layers and bytes, for a text."""
    longest = LENGTHS[-1]
    groups = {group.kind: group for group in shape.require_groups()}
    state, every = count_extra_bytes(shape, longest), give_attention_to_all(shape)
    per_layer = count_bytes_per_token(shape) // groups["full"].count
    of_memories = per_layer * groups["recurrent"].count
    return {
        "memories": f"{groups['recurrent'].count}",
        "full": f"{groups['full'].count}",
        "layers": f"{every.require_groups()[0].count}",
        "state": format_size(state),
        "same": f"{state / of_memories:,.0f}",
        "per_token": f"{count_bytes_per_token(shape):,}",
        "longest": f"{longest:,}",
        "cache": format_size(count_cache_bytes(shape, longest)),
        "cache_of_all": format_size(count_cache_bytes(every, longest)),
    }


def show_costs(text: Prose) -> None:
    """Bytes at each length: of memories, of layers with attention, and if there were no others."""
    from explainers.charts.curves import Axis, draw_curve

    shape = find_shape(MODEL)
    text("costs", **name_costs(shape))
    every = give_attention_to_all(shape)
    series = _("memories"), _("layers with attention"), _("if all layers had attention")
    points = []
    for tokens in LENGTHS:
        amounts = (
            count_extra_bytes(shape, tokens),
            count_cache_bytes(shape, tokens),
            count_cache_bytes(every, tokens),
        )
        points += [
            (tokens, amount / 2**20, name, False)
            for name, amount in zip(series, amounts, strict=True)
        ]
    rows = tabulate(points, ["x", "y", "series", "reference"])
    alt = _("Bytes of a text: the memories stay as they are, the caches grow.")
    axes = {"x": Axis(_("tokens"), is_logarithmic=True), "y": Axis("MiB", is_logarithmic=True)}
    origin = formula(_("bytes of {model}", model=MODEL), torch.device("cpu"))
    show_chart(draw_curve, rows, alt, "memory bytes", origin, series=series, **axes)


def recall_size(draw: Random) -> Recall:
    """How many numbers a memory holds after a long text."""
    words, (key_dim, value_dim) = draw.choice([1_000, 5_000]), draw.sample([8, 16, 24, 32], 2)
    state = torch.zeros(value_dim, key_dim)
    stored = words * (key_dim + value_dim)
    given = {"words": f"{words:,}", "key_dim": f"{key_dim}", "value_dim": f"{value_dim}"}
    return Recall(state.numel(), given, worked={"stored": f"{stored:,}"})


def recall_second_value(draw: Random) -> Recall:
    """One number of what is read after a key was written twice, a part of each value."""
    first, second = draw.sample([n for n in range(-8, 13, 2) if n], 2)
    beta, key, state = draw.choice([0.5, 1.0]), torch.eye(hero.DIM)[0], torch.zeros(1, hero.DIM)
    for number in (first, second):
        value = torch.tensor([float(number)])
        state = write_delta(state, key, value, torch.tensor(beta), torch.tensor(1.0))
    given = {"first": _write(first), "second": _write(second), "beta": f"{beta:g}"}
    worked = {"then": _write(beta * first), "total": _write(first + second)}
    return Recall(read_state(state, key).item(), given, tolerance=1e-4, worked=worked)


def _write(number: float) -> str:
    return f"{number:g}".replace("-", "−")
