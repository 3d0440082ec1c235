"""The hero: where weight goes when there is nothing to look for, and heads that learn here."""

from dataclasses import asdict
from typing import Any, NamedTuple

import streamlit as st
import torch

from explainers.chapters.common.background_job import describe_state, show_refusal, start_job
from explainers.chapters.idle_heads.cards import share_scores
from explainers.messages import N_
from explainers.toys import idle_head, idle_training
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.controls.control import Control
from explainers.ui.figure.chart import tabulate
from explainers.ui.figure.hero import Experiment, Hero, HeroChoice
from explainers.ui.page import Prose
from explainers.ui.provenance import learned_numbers
from explainers.ui.session import IDLE_JOB
from explainers.ui.takeaway_files import hand_over, take
from explainers.ui.text.numbers import write_percent


class TrainedHere(NamedTuple):
    """A training of this visitor's, and which of them it is."""

    run: int
    job: idle_training.IdleJob

    @property
    def request(self) -> idle_training.IdleRequest:
        return self.job.subject


def is_training() -> bool:
    """Does a head of this visitor's learn now?"""
    last: idle_training.IdleJob | None = st.session_state.get(IDLE_JOB)
    return last is not None and not last.is_over


def follow_training(setting: str, run: int, is_watched: bool) -> TrainedHere | None:
    """The training that is looked at, begun if it is new; one that is not looked at ends.

    Each has a seed that none of the shipped heads has. `is_watched`: is the picture drawn again and
    again? It is once a training has begun, and no longer when it is over.
    """
    last: idle_training.IdleJob | None = st.session_state.get(IDLE_JOB)
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
    return TrainedHere(run, last) if run and last and last.subject == request else None


def describe_training(here: TrainedHere) -> str:
    """How far it is, in words; afterwards, from which seed it learned."""
    if here.job.state == "failed":
        return _("{what} stopped: {problem}", what=_("The training"), problem=_(here.job.problem))
    if here.job.state == "done":
        return _("trained here just now, from seed {seed}", seed=here.request.seed)
    return describe_state(here.job, _describe_batches)


def _describe_batches(job: idle_training.IdleJob) -> str:
    done = job.reports[-1].batches if job.reports else 0
    return _("batch {number} of {steps}", number=done, steps=idle_training.IDLE_STEPS)


def choose_seed(asked: int) -> int:
    """The shipped seed that is shown: the one that is asked for, or what is left after rounds."""
    return idle_head.IDLE_SEEDS[asked % len(idle_head.IDLE_SEEDS)]


@torch.no_grad()
def hand_over_letters(setting: str, seed: int, here: TrainedHere | None = None) -> None:
    """All letters of the picture, of what was trained here or of weights that come with the app.

    Of a head that is still learning, or never did, there is nothing to hand over.
    """
    title, parts = _("Letters that want nothing"), None
    if here:
        parts, seed = here.job.result, here.request.seed
        title = _("Letters that want nothing, trained here from seed {seed}", seed=seed)
    elif setting in idle_head.SHIPPED_SETTINGS:
        parts = idle_head.load_idle_head(setting, choose_seed(seed))
    if not parts:
        take("letters")
        return
    scores = idle_head.read_rows(parts, setting, idle_head.encode(idle_head.spell(setting))).scores
    sink = (
        parts["sink"].item() if idle_head.SINK in idle_head.list_switches(setting) else -torch.inf
    )
    hand_over("letters", title, share_scores, scores=scores, sink=sink)


def name_origin(here: TrainedHere | None, asked: int, is_shipped: bool) -> str:
    """Where the numbers of the picture come from."""
    seed, is_here = choose_seed(asked), here is not None and bool(here.job.reports)
    if not is_here and not is_shipped:
        return _("not trained yet with these switches")
    if not is_here and seed != asked:
        return _(
            "trained beforehand: copied letters, seed {seed} in place of seed {asked}",
            seed=seed,
            asked=asked,
        )
    if here is None or not here.job.reports:
        return _("trained beforehand: copied letters, seed {seed}", seed=seed)
    return learned_numbers(_("copied letters, seed {seed}", seed=here.request.seed))


given = Control("given", N_("What the head has"), idle_head.name_setting(idle_head.FIRST))
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
    letters = tuple(range(len(idle_head.spell(idle_head.name_setting()))))
    runs = tuple(range(MOST_RUNS))
    return [
        HeroChoice.read(given, idle_head.SETTINGS),
        HeroChoice.read(letter, letters),
        HeroChoice.read(learned, idle_training.STAGES),
        HeroChoice(run, runs, st.session_state.get(run.key) or 0, is_elsewhere=True),
    ]


def make_hero(text: Prose, choices: list[HeroChoice], here: TrainedHere | None, seed: int) -> Hero:
    """A text of letters under every shipped setting, and what was trained here."""
    shown = choose_seed(seed)

    def make_stage_table() -> Any:
        stage = find_stage(hero.chosen(given), hero.chosen(learned), here, shown)
        return make_table(stage)

    hero = Hero(
        "idle",
        _("A line of letters with arcs from one of them, and two bars: where its weight goes."),
        compute_numbers(here, shown),
        choices,
        SENTENCES,
        list_experiments(text),
        lambda: name_origin(here, seed, hero.chosen(given) in idle_head.SHIPPED_SETTINGS),
        make_stage_table,
        (given,),
    )
    return hero


def compute_numbers(here: TrainedHere | None, seed: int) -> dict[str, Any]:
    """All that the picture shows."""
    letters = idle_head.spell(idle_head.name_setting(idle_head.FIRST))
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
            "setting": here.request.setting,
            "run": here.run,
            "seed": here.request.seed,
            "told": describe_training(here),
            "isOver": here.job.is_over,
            "isWhole": here.job.state == "done",
            "stages": [pack(stage) for stage in list(here.job.reports)],
        },
    }


def pack(stage: idle_head.Stage) -> dict[str, Any]:
    """What is seen of a head, with as many digits as a picture can tell."""
    packed = asdict(stage)
    packed["weights"] = [[round(weight, 4) for weight in row] for row in stage.weights]
    for name in ("lengths", "gates"):
        packed[name] = [round(number, 3) for number in packed[name]]
    for name in ("largest", "loss"):
        packed[name] = round(packed[name], 4)
    return packed


def find_stage(
    setting: str, batches: int, here: TrainedHere | None, seed: int
) -> idle_head.Stage | None:
    """What is seen of a setting after so many batches, or at the end, where it was trained."""
    stages = list(here.job.reports) if here else []
    if not stages and setting in idle_head.SHIPPED_SETTINGS:
        stages = list(idle_training.load_film(setting, seed))
    return next((one for one in stages if one.batches == batches), stages[-1] if stages else None)


def make_table(stage: idle_head.Stage | None) -> Any:
    """How each letter divides its attention, a row for each."""
    rows = stage.weights if stage else []
    letters = idle_head.spell(idle_head.name_setting(idle_head.FIRST))[-len(rows) :] if rows else ()
    names = [f"{place} {'␣' if one == ' ' else one}" for place, one in enumerate(letters)]
    full = [row + [0.0] * (len(rows) - len(row)) for row in rows]
    return tabulate(full, names, names, _("query"))


def list_experiments(text: Prose) -> list[Experiment]:
    """What a reader can try, each with what came out of all seeds."""
    alone, sink, gate = (
        idle_head.name_setting(*some) for some in ((), (idle_head.SINK,), (idle_head.GATE,))
    )
    cap = idle_head.name_setting(idle_head.FIRST, idle_head.SOFT_CAP)
    plain = idle_head.name_setting(idle_head.FIRST)
    return [
        _try(text, "try_none", alone, itself=write_range(alone, "itself")),
        _try(text, "try_sink", sink, nowhere=write_range(sink, "nowhere")),
        _try(
            text,
            "try_gate",
            gate,
            idle=write_range(gate, "gate_idle"),
            useful=write_range(gate, "gate_useful"),
        ),
        _try(
            text,
            "try_cap",
            cap,
            before=f"{max(row.largest for row in idle_training.list_seeds(plain)):.1f}",
            after=f"{max(row.largest for row in idle_training.list_seeds(cap)):.1f}",
            first=write_range(cap, "first"),
        ),
    ]


def _try(text: Prose, section: str, setting: str, **numbers: str) -> Experiment:
    choices = {given.key: setting, learned.key: idle_training.STAGES[-1], run.key: 0}
    return Experiment(section, text.fill(section, **numbers), choices)


def write_range(setting: str, name: str) -> str:
    """The smallest and the largest of five seeds, as percent: "20–64 %"."""
    shares = [getattr(row, name) for row in idle_training.list_seeds(setting)]
    low, high = write_percent(min(shares)), write_percent(max(shares))
    return high if low == high or high.startswith("<") else f"{low.split(chr(0xA0))[0]}–{high}"
