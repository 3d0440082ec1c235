"""The hero of the page: where a letter's weight goes when there is nothing to look for."""

from dataclasses import asdict
from typing import Any

import streamlit as st

from explainers.chapters.idle_heads.training_here import (
    TrainedHere,
    choose_seed,
    describe_training,
    name_origin,
)
from explainers.messages import N_
from explainers.toys.idle_head import (
    CAP,
    FIRST,
    GATE,
    NOTHING,
    SETTINGS,
    SHIPPED_SETTINGS,
    SINK,
    SOFT_CAP,
    SWITCHES,
    Stage,
    encode,
    find_triggers,
    name_setting,
    spell,
)
from explainers.toys.idle_report import list_seeds, load_film
from explainers.toys.idle_training import FIRST_QUERY, STAGES
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.controls.control import Control
from explainers.ui.figure.hero import Experiment, Hero, HeroChoice, read_choice
from explainers.ui.page import Prose
from explainers.ui.text.numbers import write_percent

given = Control("given", N_("What the head has"), name_setting(FIRST))
letter = Control("letter", N_("Letter to follow, from 0"), 6)
learned = Control("learned", N_("Batches learned"), STAGES[-1])
run = Control("run", N_("Trainings begun here"), 0)
controls.register(given, letter, learned, run)
LABELS = (
    *(N_("first token ⟨s⟩"), N_("learned sink"), N_("output gate")),
    *(N_("soft cap {cap}", cap=f"{CAP:g}"), N_("QK-norm")),
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
    letters = tuple(range(len(spell(name_setting()))))
    runs = tuple(range(MOST_RUNS))
    return [
        HeroChoice(given, SETTINGS, read_choice(given, SETTINGS)),
        HeroChoice(letter, letters, read_choice(letter, letters)),
        HeroChoice(learned, STAGES, read_choice(learned, STAGES)),
        HeroChoice(run, runs, st.session_state.get(run.key) or 0, is_elsewhere=True),
    ]


def make_hero(text: Prose, choices: list[HeroChoice], here: TrainedHere | None, seed: int) -> Hero:
    """A text of letters under every shipped setting, and what was trained here."""
    setting, shown = choices[0].value, choose_seed(seed)
    return Hero(
        "idle",
        _("A line of letters with arcs from one of them, and two bars: where its weight goes."),
        compute_numbers(here, shown),
        choices,
        SENTENCES,
        list_experiments(text),
        name_origin(here, seed, setting in SHIPPED_SETTINGS),
        lambda: make_table(find_stage(setting, choices[2].value, here, shown)),
    )


def compute_numbers(here: TrainedHere | None, seed: int) -> dict[str, Any]:
    """All that the picture shows."""
    letters = spell(name_setting(FIRST))
    wanted = find_triggers(encode(letters)).tolist()
    places = range(1 + FIRST_QUERY, len(letters))
    return {
        "letters": list(letters),
        "wanted": [place for place in places if wanted[place]],
        "idle": [place for place in places if not wanted[place]],
        "first": FIRST,
        "gate": GATE,
        "sink": SINK,
        "nothing": NOTHING,
        "switches": [
            {"name": name, "label": _(label)} for name, label in zip(SWITCHES, LABELS, strict=True)
        ],
        "settings": {
            one: [pack(stage) for stage in load_film(one, seed)] for one in SHIPPED_SETTINGS
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


def pack(stage: Stage) -> dict[str, Any]:
    """What is seen of a head, with as many digits as a picture can tell."""
    packed = asdict(stage)
    packed["weights"] = [[round(weight, 4) for weight in row] for row in stage.weights]
    for name in ("lengths", "gates"):
        packed[name] = [round(number, 3) for number in packed[name]]
    for name in ("largest", "loss"):
        packed[name] = round(packed[name], 4)
    return packed


def find_stage(setting: str, batches: int, here: TrainedHere | None, seed: int) -> Stage | None:
    """What is seen of a setting after so many batches, or at the end, where it was trained."""
    stages = list(here.job.reports) if here else []
    if not stages and setting in SHIPPED_SETTINGS:
        stages = list(load_film(setting, seed))
    return next((one for one in stages if one.batches == batches), stages[-1] if stages else None)


def make_table(stage: Stage | None) -> Any:
    """How each letter divides its attention, a row for each."""
    import pandas as pd  # the first paint needs no tables

    rows = stage.weights if stage else []
    letters = spell(name_setting(FIRST))[-len(rows) :] if rows else ()
    names = [f"{place} {'␣' if one == ' ' else one}" for place, one in enumerate(letters)]
    full = [row + [0.0] * (len(rows) - len(row)) for row in rows]
    return pd.DataFrame(full, names, names).rename_axis(_("query")).reset_index()


def list_experiments(text: Prose) -> list[Experiment]:
    """What a reader can try, each with what came out of all seeds."""
    alone, sink, gate = (name_setting(*some) for some in ((), (SINK,), (GATE,)))
    cap = name_setting(FIRST, SOFT_CAP)
    plain = name_setting(FIRST)
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
            before=f"{max(row.largest for row in list_seeds(plain)):.1f}",
            after=f"{max(row.largest for row in list_seeds(cap)):.1f}",
            first=write_range(cap, "first"),
        ),
    ]


def _try(text: Prose, section: str, setting: str, **numbers: str) -> Experiment:
    choices = {given.key: setting, learned.key: STAGES[-1], run.key: 0}
    return Experiment(section, text.fill(section, **numbers), choices)


def write_range(setting: str, name: str) -> str:
    """The smallest and the largest of five seeds, as percent: "20–64 %"."""
    shares = [getattr(row, name) for row in list_seeds(setting)]
    low, high = write_percent(min(shares)), write_percent(max(shares))
    return high if low == high or high.startswith("<") else f"{low.split(chr(0xA0))[0]}–{high}"
