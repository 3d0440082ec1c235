"""A head with nothing to look for: where its weight goes, and what sinks, gates and caps do."""

import math
from dataclasses import asdict
from random import Random
from statistics import mean
from typing import Any

import streamlit as st
import torch
from torch import Tensor

from explainers.attention import masks
from explainers.attention.bounded_scores import largest_normed_score, rms_norm, soft_cap
from explainers.attention.sinks_and_gates import apply_gate, open_gate, softmax_with_sinks
from explainers.chapters.common.background_job import describe_state, show_refusal, start_job
from explainers.memory.model_shapes import read_shapes
from explainers.messages import N_
from explainers.toys import idle_head, idle_training
from explainers.toys.idle_head import Stage
from explainers.toys.idle_training import IdleJob, average, list_seeds
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.controls.control import Control
from explainers.ui.figure.chart import show_chart, tabulate
from explainers.ui.figure.hero import Experiment, Hero, HeroChoice
from explainers.ui.page import Prose
from explainers.ui.page_parts.check_yourself import Recall
from explainers.ui.prediction import revealed
from explainers.ui.provenance import learned_numbers
from explainers.ui.session import IDLE_JOB
from explainers.ui.source import show_source
from explainers.ui.takeaway_files import hand_over, run_and_hand_over, take
from explainers.ui.text.language import fragment
from explainers.ui.text.numbers import PERCENT, write_decimals, write_percent

SCORES, SINK_SCORE = (1.0, 0.2, -0.5, 0.3), 2.0


def share_scores(scores: Tensor, sink: float) -> dict[str, Tensor]:
    """Rows of scores through a causal softmax with a sink; what is missing fell into it."""
    mask = masks.build(masks.causal, scores.shape[-2], scores.shape[-1])
    allowed = scores.masked_fill(~mask, -torch.inf)[None]  # (heads, q_len, kv_len)
    weights = softmax_with_sinks(allowed, torch.tensor([sink]))[0]
    return {"weights": weights, "nowhere": 1 - weights.sum(dim=-1, keepdim=True)}


def show_row(text: Prose) -> None:
    """One row with a sink, in numbers, cells of a table: the last one, which sees all words; and
    the code of all switches."""
    scores = torch.zeros(len(SCORES), len(SCORES))
    scores[-1] = torch.tensor(SCORES)
    title = _("A row with a sink")
    shared = run_and_hand_over("row", title, share_scores, scores=scores, sink=SINK_SCORE)
    weights, nowhere = shared["weights"][-1].tolist(), shared["nowhere"][-1].item()
    text(
        "how",
        scores=" | ".join(write_decimals(score, 1) for score in SCORES),
        sink=write_decimals(SINK_SCORE, 1),
        weights=" | ".join(map(write_percent, weights)),
        nowhere=write_percent(nowhere),
        kept=write_percent(sum(weights)),
    )
    show_source(softmax_with_sinks, apply_gate, open_gate, soft_cap, rms_norm)


def find_largest_ratio(cap: float) -> float:
    """How many times larger than another a weight can be where scores are capped."""
    far = torch.tensor([math.inf, -math.inf], dtype=torch.double)
    weights = soft_cap(far, cap).softmax(dim=-1)
    return (weights[0] / weights[1]).item()


def recall_sink(draw: Random) -> Recall:
    """What a row with a learned sink adds up to."""
    first, second, third = draw.randint(20, 40), draw.randint(8, 19), draw.randint(2, 7)
    total = first + second + third
    shares = {"first": first, "second": second, "third": third}
    given = {name: f"{share}\N{NO-BREAK SPACE}%" for name, share in shares.items()}
    given["sum"] = f"{total}"
    return Recall(100 - total, given, unit=PERCENT)


def recall_cap(draw: Random) -> Recall:
    """How unequal weights can become under a soft cap."""
    cap = draw.choice([1, 2, 3])
    given = {"cap": f"{cap}", "double": f"{2 * cap}"}
    return Recall(round(find_largest_ratio(cap)), given, tolerance=0.5)


ANSWERS = N_("into the sink"), N_("half and half"), N_("to ⟨s⟩, as before")
CLEARLY = 0.75
"""A place that gets this much of the weight of both has got it."""


@fragment
def ask_sink(text: Prose) -> None:
    """A first token and a sink, which gets the weight? Then a dot for each training, with a gate
    beside a first token as well."""
    both, gated = (
        idle_head.name_setting(idle_head.FIRST, one) for one in (idle_head.SINK, idle_head.GATE)
    )
    first, nowhere = average(both, "first"), average(both, "nowhere")
    share = first / (first + nowhere)
    answer = ANSWERS[2 if share > CLEARLY else 0 if share < 1 - CLEARLY else 1]
    told = {
        "first": write_percent(first),
        "first_each": ", ".join(write_percent(row.first) for row in list_seeds(both)),
        "nowhere": write_percent(nowhere),
        "gated": write_percent(average(gated, "first")),
        "gate": write_percent(average(gated, "gate_idle")),
        "loss": f"{average(both, 'loss'):.2f}",
        "loss_first": f"{average(idle_head.FIRST, 'loss'):.2f}",
    }
    if not revealed(text, "sink", ANSWERS, answer, **told):
        return
    from explainers.charts.curves import Axis, draw_dot_rows

    shares = {
        _("⟨s⟩, beside a sink"): [row.first for row in list_seeds(both)],
        _("the sink, beside ⟨s⟩"): [row.nowhere for row in list_seeds(both)],
        _("⟨s⟩, beside a gate"): [row.first for row in list_seeds(gated)],
    }
    points = [(name, 100 * share) for name, found in shares.items() for share in found]
    title = _("weight of the idle letters, %")
    alt = _(
        "{title}, a dot for each of {count} seeds. Means: {means}.",
        title=title,
        count=len(idle_head.IDLE_SEEDS),
        means="; ".join(f"{name}: {write_percent(mean(found))}" for name, found in shares.items()),
    )
    origin = _("trained beforehand: copied letters, {count} seeds", count=len(idle_head.IDLE_SEEDS))
    rows = tabulate(points, ["name", "x"])
    show_chart(draw_dot_rows, rows, alt, "both places", origin, x=Axis(title))
    text("sink_seen", **told)


def show_growth(text: Prose) -> None:
    """How large scores became, and how large a soft cap and QK-norm let them become."""
    capped, normed = (
        idle_head.name_setting(idle_head.FIRST, one) for one in (idle_head.SOFT_CAP, idle_head.NORM)
    )
    heads = [idle_head.load_idle_head(normed, seed) for seed in idle_head.IDLE_SEEDS]
    bound = max(largest_normed_score(one["query gain"], one["key gain"]) for one in heads)
    text(
        "growth",
        plain=_write_largest(idle_head.FIRST),
        cap=f"{idle_head.CAP:g}",
        double=f"{2 * idle_head.CAP:g}",
        ratio=f"{find_largest_ratio(idle_head.CAP):,.0f}",
        capped=_write_largest(capped),
        bound=f"{bound:.1f}",
        normed=_write_largest(normed),
    )
    show_source(soft_cap, rms_norm)


def _write_largest(setting: str) -> str:
    return f"{max(row.largest for row in list_seeds(setting)):.1f}"


def show_models(text: Prose) -> None:
    """The models of the table that have learned sinks, and the first, for a link."""
    names = [name for name, shape in read_shapes().items() if shape.has_learned_sinks]
    text("models", noted=", ".join(names), example=names[0])


def is_training() -> bool:
    """Does a head of this visitor's learn now?"""
    last: IdleJob | None = st.session_state.get(IDLE_JOB)
    return last is not None and not last.is_over


def follow_training(setting: str, run: int, is_watched: bool) -> IdleJob | None:
    """The training that is looked at, begun if it is new; one that is not looked at ends.

    Each has a seed that none of the shipped heads has. `is_watched`: is the picture drawn again and
    again? It is once a training has begun, and no longer when it is over.
    """
    last: IdleJob | None = st.session_state.get(IDLE_JOB)
    request = idle_training.IdleRequest(setting, idle_head.IDLE_SEEDS[-1] + run)
    if (last and last.subject != request) or not run:
        if last and not last.is_over:
            last.cancel()
        last = None
    if run and not last:
        start_job(IDLE_JOB, idle_training.make_idle_job(request))
        last = st.session_state.get(IDLE_JOB)
    show_refusal(IDLE_JOB)
    if is_training() != is_watched:
        st.rerun()
    return last if run and last and last.subject == request else None


def describe_training(here: IdleJob) -> str:
    """How far it is, in words; afterwards, from which seed it learned."""
    if here.state == "failed":
        return _("{what} stopped: {problem}", what=_("The training"), problem=_(here.problem))
    if here.state == "done":
        return _("trained here just now, from seed {seed}", seed=here.subject.seed)
    number = here.reports[-1].batches if here.reports else 0
    done = _("batch {number} of {steps}", number=number, steps=idle_training.IDLE_STEPS)
    return describe_state(here, lambda _job: done)


def choose_seed(asked: int) -> int:
    """The shipped seed that is shown: the one that is asked for, or what is left after rounds."""
    return idle_head.IDLE_SEEDS[asked % len(idle_head.IDLE_SEEDS)]


@torch.no_grad()
def hand_over_letters(setting: str, seed: int, here: IdleJob | None) -> None:
    """All letters of the picture, of what was trained here or of weights that come with the app.

    Of a head that is still learning, or never did, there is nothing to hand over.
    """
    title, parts = _("Letters that want nothing"), None
    if here:
        parts, seed = here.result, here.subject.seed
        title = _("Letters that want nothing, trained here from seed {seed}", seed=seed)
    elif setting in idle_head.SHIPPED_SETTINGS:
        parts = idle_head.load_idle_head(setting, choose_seed(seed))
    if not parts:
        take("letters")
        return
    scores = idle_head.read_rows(parts, setting, idle_head.encode(idle_head.spell(setting))).scores
    has_sink = idle_head.SINK in idle_head.list_switches(setting)
    sink = parts["sink"].item() if has_sink else -torch.inf
    hand_over("letters", title, share_scores, scores=scores, sink=sink)


def name_origin(here: IdleJob | None, asked: int, is_shipped: bool) -> str:
    """Where the numbers of the picture come from."""
    if here and here.reports:
        return learned_numbers(_("copied letters, seed {seed}", seed=here.subject.seed))
    if not is_shipped:
        return _("not trained yet with these switches")
    if (seed := choose_seed(asked)) == asked:
        return _("trained beforehand: copied letters, seed {seed}", seed=seed)
    return _(
        "trained beforehand: copied letters, seed {seed} in place of seed {asked}",
        seed=seed,
        asked=asked,
    )


given = Control("given", N_("What the head has"), idle_head.FIRST)
letter = Control("letter", N_("Letter to follow, from 0"), 6)
learned = Control("learned", N_("Batches learned"), idle_training.STAGES[-1])
run = Control("run", N_("Trainings begun here"), 0)
controls.register(given, letter, learned, run)
LABELS = (
    *(N_("first token ⟨s⟩"), N_("learned sink"), N_("output gate")),
    *(N_("soft cap {cap}", cap=f"{idle_head.CAP:g}"), N_("QK-norm")),
)
"""What the switches are called."""
MOST_RUNS = 90
SENTENCES = (
    *("hero_caption", "hero_untrained"),
    *("hero_wanted_first", "hero_wanted_nowhere", "hero_wanted_gate", "hero_wanted_scattered"),
    *("hero_idle_first", "hero_idle_nowhere", "hero_idle_gate", "hero_idle_scattered"),
)


def make_choices() -> list[HeroChoice]:
    """Which switches are on, which letter is followed, after how many batches, trained where.

    A link begins no training.
    """
    return [
        HeroChoice.read(given, idle_head.SETTINGS),
        HeroChoice.read(letter, range(len(idle_head.spell(idle_head.name_setting())))),
        HeroChoice.read(learned, idle_training.STAGES),
        HeroChoice(run, range(MOST_RUNS), st.session_state.get(run.key) or 0, is_elsewhere=True),
    ]


def make_hero(text: Prose, choices: list[HeroChoice], here: IdleJob | None, seed: int) -> Hero:
    """A text of letters under every shipped setting, and what was trained here."""
    shown = choose_seed(seed)
    hero = Hero(
        "idle",
        _("A line of letters with arcs from one of them, and two bars: where its weight goes."),
        compute_numbers(here, shown),
        choices,
        SENTENCES,
        list_experiments(text),
        lambda: name_origin(here, seed, hero.chosen(given) in idle_head.SHIPPED_SETTINGS),
        lambda: make_table(hero.chosen(given), hero.chosen(learned), here, shown),
        (given,),
    )
    return hero


def compute_numbers(here: IdleJob | None, seed: int) -> dict[str, Any]:
    """All that the picture shows."""
    letters = idle_head.spell(idle_head.FIRST)
    wanted = idle_head.find_triggers(idle_head.encode(letters)).tolist()
    places = range(1 + idle_training.FIRST_QUERY, len(letters))
    return {
        "letters": list(letters),
        "wanted": [place for place in places if wanted[place]],
        "idle": [place for place in places if not wanted[place]],
        "first": idle_head.FIRST,
        "gate": idle_head.GATE,
        "sink": idle_head.SINK,
        "nothing": idle_head.NOTHING,
        "switches": [
            {"name": name, "label": _(label)}
            for name, label in zip(idle_head.SWITCHES, LABELS, strict=True)
        ],
        "settings": {
            one: [pack(stage) for stage in idle_training.load_film(one, seed)]
            for one in idle_head.SHIPPED_SETTINGS
        },
        "trained": here
        and {
            "setting": here.subject.setting,
            "run": here.subject.seed - idle_head.IDLE_SEEDS[-1],
            "seed": here.subject.seed,
            "told": describe_training(here),
            "isOver": here.is_over,
            "isWhole": here.state == "done",
            "stages": [pack(stage) for stage in list(here.reports)],
        },
    }


def pack(stage: Stage) -> dict[str, Any]:
    """What is seen of a head, with as many digits as a picture can tell."""
    packed = asdict(stage)
    packed["weights"] = [[round(weight, 4) for weight in row] for row in stage.weights]
    for name in ("lengths", "gates"):
        packed[name] = [round(number, 3) for number in packed[name]]
    for name in ("largest", "loss"):
        packed[name] = round(packed[name], 4)
    return packed


def make_table(setting: str, batches: int, here: IdleJob | None, seed: int) -> Any:
    """How each letter divides its attention, a row for each: after so many batches, or at the end,
    where the setting was trained."""
    stages = list(here.reports) if here else []
    if not stages and setting in idle_head.SHIPPED_SETTINGS:
        stages = list(idle_training.load_film(setting, seed))
    rows = (
        next((one for one in stages if one.batches == batches), stages[-1]).weights
        if stages
        else []
    )
    letters = idle_head.spell(idle_head.FIRST)[-len(rows) :] if rows else ()
    names = [f"{place} {'␣' if one == ' ' else one}" for place, one in enumerate(letters)]
    full = [row + [0.0] * (len(rows) - len(row)) for row in rows]
    return tabulate(full, names, names, _("query"))


def list_experiments(text: Prose) -> list[Experiment]:
    """What a reader can try, each with what came out of all seeds."""
    first, some = idle_head.FIRST, ((), (idle_head.SINK,), (idle_head.GATE,))
    alone, sink, gate = (idle_head.name_setting(*one) for one in some)
    cap = idle_head.name_setting(first, idle_head.SOFT_CAP)
    gates = {"idle": write_range(gate, "gate_idle"), "useful": write_range(gate, "gate_useful")}
    largest = {"before": _write_largest(first), "after": _write_largest(cap)}
    return [
        _try(text, "try_none", alone, itself=write_range(alone, "itself")),
        _try(text, "try_sink", sink, nowhere=write_range(sink, "nowhere")),
        _try(text, "try_gate", gate, **gates),
        _try(text, "try_cap", cap, **largest, first=write_range(cap, "first")),
    ]


def _try(text: Prose, section: str, setting: str, **numbers: str) -> Experiment:
    choices = {given.key: setting, learned.key: idle_training.STAGES[-1], run.key: 0}
    return Experiment(section, text.fill(section, **numbers), choices)


def write_range(setting: str, name: str) -> str:
    """The smallest and the largest of five seeds, as percent: "20–64 %"."""
    shares = [getattr(row, name) for row in list_seeds(setting)]
    low, high = write_percent(min(shares)), write_percent(max(shares))
    return high if low == high or high.startswith("<") else f"{low.split(chr(0xA0))[0]}–{high}"
