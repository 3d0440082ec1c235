"""The cards: one step of the delta rule, how many pairs fit, bytes beside caches; and memories that
learn, trained beforehand by every rule, and one here in the background."""

from dataclasses import replace
from functools import partial
from random import Random
from typing import NamedTuple

import streamlit as st
import torch
from torch import Tensor
from torch.nn.functional import normalize

from explainers.attention import masks
from explainers.attention.linear import (
    find_news,
    gated_delta_attention,
    linear_attention,
    read_state,
    write_delta,
    write_sum,
)
from explainers.chapters.common.background_job import offer_job, watch_job
from explainers.chapters.common.live_training import show_loss_curve
from explainers.chapters.growing_memory import hero
from explainers.chapters.growing_memory.hero import Story
from explainers.charts.matrix import Matrix
from explainers.charts.theme import FEATURE_AXIS
from explainers.job_queue import Job
from explainers.memory.cache_bytes import (
    count_bytes_per_token,
    count_cache_bytes,
    count_extra_bytes,
)
from explainers.memory.cache_formula import format_size
from explainers.memory.model_shapes import find_shape
from explainers.messages import N_
from explainers.toys.examples import make_generator
from explainers.toys.pair_memory import (
    ASKED,
    FADE,
    HEAD_DIM,
    MODELS,
    OVERWRITE,
    REPEATED,
    RULES,
    SEEDS,
    SOFTMAX,
    STEPS,
    SUM,
    TESTED_COUNTS,
    MemoryRow,
    measure_memory,
    read_results,
    train_memory,
)
from explainers.toys.pair_memory import COUNTS as TRAINED_COUNTS
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.figure.chart import show_chart, tabulate
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Figure, Panel
from explainers.ui.page import Prose
from explainers.ui.page_parts.check_yourself import Recall
from explainers.ui.prediction import revealed
from explainers.ui.provenance import formula, learned_numbers
from explainers.ui.session import MEMORY_JOB
from explainers.ui.source import show_source
from explainers.ui.takeaway_files import run_and_hand_over
from explainers.ui.text.language import fragment
from explainers.ui.text.numbers import bound_rounding, write_decimals, write_percent


@fragment
def show_step(text: Prose, story: Story) -> None:
    """One pair is written: what its key finds before, what is missing, which is the value without
    what the memory says for its key, and what it finds then."""
    title = _("A key is written again")
    step = run_and_hand_over("step", title, hero.write_once_more, story=story)
    word, following = (story.names[at] for at in story.pairs[story.rewritten])
    named = {"word": word, "following": following}
    for name, state in {"old": step["memory S"], "new": step["memory afterwards"]}.items():
        like = story.vectors[1] @ read_state(state, step["key k"][:, 0])
        named[name] = story.names[int(like.argmax())]
        named[f"{name}_score"] = write_decimals(like.max().item())
    text("how", **named)
    numbers = [str(n) for n in range(1, hero.DIM + 1)]
    parts = {
        "value": ("", N_("value v"), following, "value"),
        "memory": ("−", N_("memory S"), N_("before this pair"), ""),
        "key": ("·", N_("key k"), word, "key"),
        "missing": ("=", N_("missing"), "v − S · k", "value"),
    }
    panels = []
    for name, (sign, title, told, role) in parts.items():
        # Without names of its axes a column is narrow: all stand in one line on a small screen.
        across, axis = (numbers, FEATURE_AXIS) if name == "memory" else ([""], "")
        labels = numbers, across, axis, axis
        rows = step[title].tolist()
        matrix = Matrix(_(title), _(told), rows, *labels, role=role, limit=1.0)
        panels.append(Panel(name, matrix, sign))
    alt = _("A value, minus the memory times a key: what is missing.")
    show_figure(Figure(panels, alt), hero.name_origin(story.seed), "step")
    show_source(write_sum, read_state, write_delta)
    text("at_once", **compare_forms(story))
    show_source(linear_attention, find_news, gated_delta_attention)


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


FITTED_DIM, RUNS, LAST, PASSES = 16, 100, 4, 3
COUNTS = 2, 4, 8, 16, 24, 32, 64


def fit_pairs(rule: str, count: int, seed: int, passes: int = 1) -> Tensor:
    """Write random pairs into a hundred memories, and ask each for every value (pairs,).

    A pair is found if no other pair's value is nearer to the answer; this is the share of memories
    that find it.
    """
    generator = make_generator("how much fits", seed, count)
    keys = normalize(torch.randn(RUNS, count, FITTED_DIM, generator=generator), dim=-1)
    values = torch.randn(RUNS, count, FITTED_DIM, generator=generator)
    state = torch.zeros(RUNS, FITTED_DIM, FITTED_DIM)
    for place in [*range(count)] * passes:
        state = hero.write_pair(state, keys[:, place], values[:, place], rule)
    answers = read_state(state[:, None], keys)
    nearest = torch.cdist(answers, values).argmin(dim=-1)  # (runs, pairs)
    return (nearest == torch.arange(count)).float().mean(dim=0)


def show_fits(text: Prose, seed: int) -> None:
    """A curve for each rule, and one for the pairs that overwriting wrote last."""
    from explainers.charts.curves import Axis, draw_curve

    found = {
        rule: {count: fit_pairs(rule, count, seed) for count in COUNTS} for rule in (SUM, OVERWRITE)
    }
    most, again = COUNTS[-1], fit_pairs(OVERWRITE, FITTED_DIM, seed, PASSES)
    named = {
        "dim": f"{FITTED_DIM}",
        "runs": f"{RUNS}",
        "again": write_percent(again.mean().item()),
        "passes": f"{PASSES}",
        "most": f"{most}",
        "last": f"{LAST}",
    }
    for rule, shares in found.items():
        named[f"{rule}_at_dim"] = write_percent(shares[FITTED_DIM].mean().item())
        named[rule] = write_percent(shares[most].mean().item())
        named[f"{rule}_last"] = write_percent(shares[most][-LAST:].mean().item())
    text("fits", **named)
    series = {
        _("sum"): found[SUM],
        _("overwrite"): found[OVERWRITE],
        _("overwrite: the last {count} pairs", count=LAST): {
            count: shares[-LAST:] for count, shares in found[OVERWRITE].items()
        },
    }
    points = [
        (count, 100 * shares.mean().item(), name, False)
        for name, of_count in series.items()
        for count, shares in of_count.items()
    ]
    rows = tabulate(points, ["x", "y", "series", "reference"])
    alt = _(
        "Pairs found again: of {most}, sums find {sum} and overwriting {overwrite}.",
        most=named["most"],
        sum=named["sum"],
        overwrite=named["overwrite"],
    )
    axes = {"x": Axis(_("pairs written"), is_logarithmic=True), "y": Axis(_("found again, %"))}
    origin, names = hero.name_origin(seed), tuple(series)
    show_chart(draw_curve, rows, alt, "how much fits", origin, series=names, **axes)
    text("fits_seen", **named)


MODEL = "qwen3-next-80b-a3b"
LENGTHS = tuple(2**power for power in range(10, 19))


def show_costs(text: Prose) -> None:
    """Bytes at each length: of memories, of layers with attention, and if there were no others."""
    from explainers.charts.curves import Axis, draw_curve

    shape, longest = find_shape(MODEL), LENGTHS[-1]
    groups = {group.kind: group for group in shape.require_groups()}
    layers = sum(group.count for group in groups.values())
    every = replace(shape, groups=(replace(groups["full"], count=layers),))
    state, per_token = count_extra_bytes(shape, longest), count_bytes_per_token(shape)
    of_memories = per_token // groups["full"].count * groups["recurrent"].count
    text(
        "costs",
        memories=f"{groups['recurrent'].count}",
        full=f"{groups['full'].count}",
        layers=f"{layers}",
        state=format_size(state),
        same=f"{state / of_memories:,.0f}",
        per_token=f"{per_token:,}",
        longest=f"{longest:,}",
        cache=format_size(count_cache_bytes(shape, longest)),
        cache_of_all=format_size(count_cache_bytes(every, longest)),
    )
    series = {
        _("memories"): partial(count_extra_bytes, shape),
        _("layers with attention"): partial(count_cache_bytes, shape),
        _("if all layers had attention"): partial(count_cache_bytes, every),
    }
    points = [
        (tokens, count(tokens) / 2**20, name, False)
        for tokens in LENGTHS
        for name, count in series.items()
    ]
    rows = tabulate(points, ["x", "y", "series", "reference"])
    alt = _("Bytes of a text: the memories stay as they are, the caches grow.")
    axes = {"x": Axis(_("tokens"), is_logarithmic=True), "y": Axis("MiB", is_logarithmic=True)}
    origin = formula(_("bytes of {model}", model=MODEL), torch.device("cpu"))
    show_chart(draw_curve, rows, alt, "memory bytes", origin, series=tuple(series), **axes)


RULE_OF_NAME = dict(zip(controls.RULE_NAMES, RULES, strict=True))
TASKS = dict(zip(controls.trained_keys.options, (False, True), strict=True))
"""Whether keys are repeated."""
NAMES = {rule: name for name, rule in RULE_OF_NAME.items()}
COUNTED = " | ".join(map(str, TESTED_COUNTS))
"""The numbers of pairs, as the head of a table."""
MOST = TESTED_COUNTS[-1]
EACH, SMOOTH = 5, 10
"""Batches of one report, and of one point of the curve."""


class MemoryRequest(NamedTuple):
    """What is to be trained."""

    rule: str
    has_repeats: bool
    seed: int


MemoryJob = Job[MemoryRequest, list[float], list[float]]
"""Reports losses, and results in the share of right answers for each number of pairs."""


def _show(text: Prose, job: MemoryJob) -> None:
    """The loss so far; in the end, what it finds beside what was found beforehand."""
    losses = [loss for report in list(job.reports) for loss in report]
    if losses:
        origin = learned_numbers(
            _("pairs of a key and a value, seed {seed}", seed=job.subject.seed)
        )
        show_loss_curve(losses, origin, "memory losses", _("loss per answer"), SMOOTH)
    if job.result:
        row = read_results()[(job.subject.rule,), job.subject.has_repeats]
        here, shipped = " | ".join(map(write_percent, job.result)), write_shares(row)
        text("trained_here", here=here, shipped=shipped, counts=COUNTED, seeds=len(SEEDS))


def write_shares(row: MemoryRow) -> str:
    """What a model finds of each number of pairs, as cells of a table."""
    return " | ".join(write_percent(row.average(count)) for count in TESTED_COUNTS)


def show_hybrid(text: Prose) -> None:
    """Three memory layers, and two with one of attention, at the most pairs."""
    three, hybrid = (
        write_percent(read_results()[rules, False].average(MOST))
        for rules in ((FADE,) * 3, (FADE, FADE, SOFTMAX))
    )
    text("hybrid", three=three, hybrid=hybrid, pairs=f"{MOST}")


ANSWERS = N_("more than twice as many"), N_("about as many"), N_("less than half as many")


def answer_comparison(overwritten: float, added: float) -> str:
    """Among the answers: what overwriting finds, compared with what sums find."""
    ratio = overwritten / added
    return ANSWERS[0 if ratio > 2 else 2 if ratio < 0.5 else 1]


@fragment
def ask_trained(text: Prose) -> None:
    """Memories of both rules, asked first where all keys differ; then where keys come again."""
    tasks = {"new": N_("all keys differ"), "again": N_("keys come again")}
    found = {
        (rule, task): read_results()[(rule,), task == "again"].average(MOST)
        for task in tasks
        for rule in (SUM, OVERWRITE, SOFTMAX)
    }
    named = {f"{rule}_{task}": write_percent(share) for (rule, task), share in found.items()}
    counts = {"pairs": MOST, "dim": HEAD_DIM, "seeds": len(SEEDS), "repeated": REPEATED}
    named |= {name: f"{count}" for name, count in counts.items()}
    answer = answer_comparison(found[OVERWRITE, "new"], found[SUM, "new"])
    if not revealed(text, "overwriting", ANSWERS, answer, **named):
        return
    from explainers.charts.bars import draw_bars, make_amount_rows

    shares = [
        (_("{task}: {rule}", task=_(tasks[task]), rule=_(NAMES[rule])), round(100 * share))
        for (rule, task), share in found.items()
    ]
    listed = ", ".join(f"{name} {share}" for name, share in shares)
    alt = _("Percent of the answers that are right: {listed}", listed=listed)
    origin = _("trained beforehand, seeds 0 to {last}, kept with the app", last=SEEDS[-1])
    title = _("right answers, %")
    rows = make_amount_rows(shares)
    show_chart(draw_bars, rows, alt, "trained memories", origin, length=len(rows), x_title=title)
    text("overwriting_seen", **named)


def show_training(text: Prose, seed: int) -> None:
    """A small layer that learns in seconds on its own pairs and is then tested, beside what was
    trained beforehand."""
    *some, most = map(str, TRAINED_COUNTS)
    text("trained", asked=ASKED, lengths=_("{some} or {most}", some=", ".join(some), most=most))
    with st.container(horizontal=True):
        rule, task = controls.trained_rule(), controls.trained_keys()
        request = MemoryRequest(RULE_OF_NAME[rule], TASKS[task], seed)

        def train(job: MemoryJob) -> list[float]:
            losses: list[float] = []
            for memory, loss in train_memory([request.rule], *request[1:], STEPS):
                trained = memory
                losses.append(loss)
                if len(losses) == EACH:
                    job.report(losses)
                    losses = []
            return measure_memory(trained, TESTED_COUNTS, request.has_repeats)

        def describe(job: MemoryJob) -> str:
            done, steps = EACH * len(job.reports), EACH * job.total
            return _("batch {number} of {steps}", number=done, steps=steps)

        label = _("Train it here: {steps} batches", steps=STEPS)
        icon = ":material/model_training:"
        job = offer_job(MEMORY_JOB, label, Job(request, train, STEPS // EACH), icon=icon)
        if job:
            title = _(NAMES[job.subject.rule])
            watch_job(MEMORY_JOB, job, title, partial(_show, text, job), describe)
    rows = [
        f"| {_(NAMES[rules[0]])} | {_(task)} | {write_shares(read_results()[rules, is_again])} |"
        for rules in MODELS
        for task, is_again in TASKS.items()
        if len(rules) == 1
    ]
    times = MOST // TRAINED_COUNTS[-1]
    text("trained_before", rows="\n".join(rows), counts=COUNTED, times=times, seeds=len(SEEDS))


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
